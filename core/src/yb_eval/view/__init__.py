"""The store as a small web page on loopback: its runs, their trends, one run, two runs compared. It only reads.

`Site` makes the pages, `application` serves them over ASGI behind a `Guard`, `serve` does so on a socket until it is
interrupted. Starlette and uvicorn are the extra `view`; nothing here is imported before they are asked for.
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.view.app import application as application
    from yb_eval.view.guard import Guard as Guard
    from yb_eval.view.server import listen as listen
    from yb_eval.view.server import serve as serve
    from yb_eval.view.site import Site as Site

__getattr__, __all__ = lazily(
    __name__,
    {"app": ["application"], "guard": ["Guard"], "server": ["listen", "serve"], "site": ["Site"]},
)
