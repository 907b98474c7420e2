"""`yb-eval view`: the store as a small web page on loopback."""

from __future__ import annotations

from contextlib import suppress

import click

from yb_eval.cli.output import emit, note
from yb_eval.cli.store_option import store_option
from yb_eval.errors import UsageError
from yb_eval.record import Store

_LOOPBACK = "127.0.0.1"


@click.command("view")
@click.option("--port", default=8790, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one.")
@click.option("--host", metavar="ADDRESS", help="Listen there instead of on this machine only.  [default: 127.0.0.1]")
@click.option("--open", "browse", is_flag=True, help="Open it in the browser.")
@store_option
def command(port: int, host: str | None, browse: bool, store: Store) -> None:
    """Serve the stored runs as a web page: runs, trends, one run, two runs compared. It only reads; Ctrl-C ends it.

    Prints the address. Needs the extra `view`: pip install 'yb-eval-core[view]'
    """
    try:
        from yb_eval.view import application, listen, serve
    except ImportError as error:
        raise UsageError("view needs starlette and uvicorn", hint="pip install 'yb-eval-core[view]'") from error
    if not store.root.is_dir():
        raise UsageError("nothing has been run yet", where=str(store.root), hint="yb-eval run SUITE, or --store PATH")
    from yb_eval.view.guard import LOOPBACK

    address = host or _LOOPBACK
    bound, url = listen(address, port)
    app = application(store, hosts=LOOPBACK | {address}, note=note)
    if address not in LOOPBACK:
        note(f"warning: whoever reaches {address} can read {store.root}")
    with bound, suppress(KeyboardInterrupt):  # from the line that says it listens, Ctrl-C is how it ends
        emit([f"{url}\n"])
        if browse:
            import webbrowser

            webbrowser.open(url)
        serve(app, bound)
