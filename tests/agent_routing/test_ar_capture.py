"""`yb-eval agent-routing capture` against real MCP servers: those on PyPI over stdio, one of our own over HTTP."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("mcp", reason="the extra yb-eval-agent-routing[mcp] is not installed")

from yb_eval.datasets import DataFile
from yb_eval.errors import UsageError
from yb_eval_agent_routing.capturing import CaptureError, Http, Stdio, capture, capture_all
from yb_eval_agent_routing.catalogue import Server, read_catalogue
from yb_eval_agent_routing.commands.capture import command

OWN = Path(__file__).with_name("mcp_stdio_server.py")


@contextmanager
def serving_http(token: str | None = None) -> Iterator[str]:
    """The URL of a server of the official SDK that speaks Streamable HTTP on the loopback interface and has the tools of
    the stdio server, in the same pages. With `token` it asks for it."""
    import mcp_types as types
    import uvicorn
    from mcp.server import Server

    async def list_tools(_: Any, params: Any) -> Any:
        start = int(params.cursor) if params is not None and params.cursor else 0
        tools = [
            types.Tool(
                name=f"tool_{number:02d}",
                description=f"The tool {number}",
                input_schema={"type": "object", "properties": {}},
                annotations=types.ToolAnnotations(read_only_hint=number % 2 == 0),
            )
            for number in range(start, min(start + 4, 10))
        ]
        return types.ListToolsResult(tools=tools, next_cursor=str(start + 4) if start + 4 < 10 else None)

    made: Any = Server("paged", version="3.1", instructions="Mind the pages", on_list_tools=list_tools)
    app = made.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        given = dict(scope.get("headers") or []).get(b"authorization")
        if scope["type"] == "http" and token is not None and given != f"Bearer {token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"who are you?"})
            return
        await app(scope, receive, send)

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        running = uvicorn.Server(uvicorn.Config(guarded, log_level="critical", ws="none"))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not running.started and thread.is_alive():
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            running.should_exit = True
            thread.join(10)


def own(behaviour: str = "", **env: str) -> Stdio:
    return Stdio(command=sys.executable, args=(str(OWN), behaviour), env=env)


def pypi(name: str) -> Stdio:
    """A reference server from PyPI, where it is installed."""
    if importlib.util.find_spec(f"mcp_server_{name}") is None:
        pytest.skip(f"mcp-server-{name} is not installed")
    return Stdio(command=sys.executable, args=("-m", f"mcp_server_{name}"))


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def invoked(*arguments: str) -> Result:
        return CliRunner().invoke(command, list(arguments))

    return invoked


@pytest.mark.parametrize(
    ("name", "tools", "read_only"),
    [("git", {"git_status", "git_commit", "git_log"}, {"git_status", "git_log"}),
     ("time", {"get_current_time", "convert_time"}, {"get_current_time"}),
     ("fetch", {"fetch"}, {"fetch"})],
)  # fmt: skip
def test_a_reference_server_from_pypi_is_captured(name: str, tools: set[str], read_only: set[str]) -> None:
    server = capture(name, pypi(name))
    assert tools <= {tool["name"] for tool in server.tools}
    assert read_only <= {t["name"] for t in server.tools if (t.get("annotations") or {}).get("readOnlyHint") is True}
    assert server.name == f"mcp-{name}"
    assert all(tool["inputSchema"]["type"] == "object" for tool in server.tools)


def test_all_pages_of_a_server_are_read_over_stdio_and_over_http() -> None:
    by_stdio = capture("paged", own())
    with serving_http() as url:
        by_http = capture("paged", Http(url=url))
    assert by_stdio == by_http
    assert [tool["name"] for tool in by_http.tools] == [f"tool_{number:02d}" for number in range(10)]
    assert (by_http.name, by_http.version, by_http.instructions) == ("paged", "3.1", "Mind the pages")


def test_the_command_saves_a_catalogue_that_is_an_environment(run: Run) -> None:
    result = run("--name", "paged", "-o", "servers.json", "--", sys.executable, str(OWN))
    assert result.exit_code == 0, result.exception
    assert result.stdout == "servers.json: paged: 10 tools, 5 of them read-only\n"
    environment = read_catalogue(DataFile.read("servers.json", role="catalogue")).environment("e")
    assert len(environment.allowed_tools("paged", "read-only")) == 5
    assert len(environment.allowed_tools("paged", "read-write")) == 10


def test_a_second_capture_adds_to_the_file_and_the_same_name_replaces(run: Run) -> None:
    for name in ("b", "a", "b"):
        assert run("--name", name, "--", sys.executable, str(OWN)).exit_code == 0
    first = Path("catalogue.json").read_bytes()
    assert [server["id"] for server in json.loads(first)["servers"]] == ["a", "b"]
    assert run("--name", "a", "--", sys.executable, str(OWN)).exit_code == 0
    assert Path("catalogue.json").read_bytes() == first


def test_a_url_with_a_token_from_the_environment_is_captured_and_the_token_is_not_kept(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCS_TOKEN", "tok-48151623")
    with serving_http(token="tok-48151623") as url:
        result = run("--name", "docs", "--url", url, "--header", "Authorization: Bearer ${DOCS_TOKEN}")
        assert result.exit_code == 0, result.exception
        refused = run("--name", "docs", "--url", url, "-o", "other.json")
    text = Path("catalogue.json").read_text(encoding="utf-8")
    assert "tok-48151623" not in text + result.output
    assert "127.0.0.1" not in text
    assert isinstance(refused.exception, CaptureError)
    assert not Path("other.json").exists()


def test_a_variable_is_passed_on_by_name_and_its_value_is_nowhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVER_TOKEN", "tok-48151623")
    arguments = ["--name", "x", "--", sys.executable, str(OWN), "needs-token"]
    assert isinstance(run(*arguments).exception, CaptureError), "the environment is not passed on as a whole"
    assert run("--env", "SERVER_TOKEN", *arguments).exit_code == 0
    assert "tok-48151623" not in Path("catalogue.json").read_text(encoding="utf-8")
    arguments[-1] = "dies"
    failed = run("--env", "SERVER_TOKEN", *arguments)
    assert str(failed.exception) == "the server 'x': Connection closed; it wrote: 'cannot start with the token ***'"


def test_a_secret_that_a_server_repeats_is_masked_and_an_ordinary_variable_is_not() -> None:
    server = capture("x", own("repeats", SERVER_TOKEN="tok-48151623", LOG_LEVEL="The tool"))
    assert server.tools[0]["description"] == "The tool 0 of ***"


FAILING = {
    "dies": "Connection closed; it wrote: 'cannot start with the token nothing'",
    "toolless": "no such method: tools/list",
    "odd": "it answers otherwise than the protocol says: tools.0.name",
    "circle": "its pages of tools go round in a circle: a cursor came twice",
    "twice": "$.tools[4].name: the server has another tool of this name",
    "deep": "nested deeper than 64",
}


@pytest.mark.parametrize("behaviour", FAILING)
def test_a_server_that_fails_is_an_error_with_its_reason(behaviour: str) -> None:
    with pytest.raises(CaptureError) as caught:
        capture("x", own(behaviour), timeout=30)
    assert FAILING[behaviour] in str(caught.value)
    assert str(caught.value).startswith("the server 'x': ")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_server_without_an_end_is_stopped_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("yb_eval_agent_routing.capturing.servers.MAX_TOOLS", 5)
    with pytest.raises(CaptureError, match="more than 5 tools"):
        capture("x", own())
    monkeypatch.undo()
    monkeypatch.setattr("yb_eval_agent_routing.capturing.servers.MAX_PAGES", 2)
    with pytest.raises(CaptureError, match="more than 2 pages of tools"):
        capture("x", own())


def test_a_server_whose_answers_cannot_be_read_says_so_when_time_is_up() -> None:
    with pytest.raises(CaptureError, match="no answer within 1 seconds; what it said cannot be read"):
        capture("x", own("babbles"), timeout=1)


def test_a_server_that_talks_before_its_answers_is_captured_all_the_same() -> None:
    assert len(capture("x", own("noise")).tools) == 10


def test_a_server_that_hangs_is_given_up_and_stopped(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    program = f"import os, time; open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    with pytest.raises(CaptureError, match=r"no answer within 1\.5 seconds"):
        capture("x", Stdio(command=sys.executable, args=("-c", program)), timeout=1.5)
    with pytest.raises(ProcessLookupError):
        os.kill(int(note.read_text(encoding="utf-8")), 0)


def test_what_cannot_be_started_or_reached_is_said() -> None:
    with pytest.raises(CaptureError, match="no such program or folder"):
        capture("x", Stdio(command="no-such-program-anywhere"))
    with pytest.raises(CaptureError, match="the server 'x': "):
        capture("x", Http(url="http://127.0.0.1:9/mcp"), timeout=10)


def test_one_servers_failure_leaves_the_others_alone() -> None:
    found = capture_all({"bad": own("dies"), "good": own(), "gone": Stdio(command="no-such-program-anywhere")})
    assert list(found) == ["bad", "good", "gone"]
    assert isinstance(found["good"], Server)
    assert isinstance(found["bad"], CaptureError)
    assert isinstance(found["gone"], CaptureError)


def test_a_failed_capture_leaves_the_file_as_it_was(run: Run) -> None:
    assert run("--name", "a", "--", sys.executable, str(OWN)).exit_code == 0
    before = Path("catalogue.json").read_bytes()
    assert isinstance(run("--name", "a", "--", sys.executable, str(OWN), "dies").exception, CaptureError)
    assert Path("catalogue.json").read_bytes() == before
    assert sorted(path.name for path in Path().iterdir()) == ["catalogue.json"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--name", "x"], "capture takes either --url or a command after --"),
        (["--name", "x", "--url", "http://h/", "--", "cmd"], "capture takes either --url or a command after --"),
        (["--name", "a/b", "--", "cmd"], "the id of a group has no '/'"),
        (["--name", "x", "--url", "ftp://h/"], "a url starts with http"),
        (["--name", "x", "--url", "http://h/", "--env", "HOME"], "--env and --cwd are for a command"),
        (["--name", "x", "--header", "A: b", "--", "cmd"], "--header is for --url"),
        (["--name", "x", "--url", "http://h/", "--header", "A"], "a header is written 'Name: value'"),
        (["--name", "x", "--url", "http://h/", "--header", "A: ${NOT_SET_1}"], "variable NOT_SET_1 is not set"),
        (["--name", "x", "--env", "NOT_SET_1", "--", "cmd"], "variable NOT_SET_1 is not set"),
        (["--name", "x", "--timeout", "0", "--", "cmd"], "a timeout is a number of seconds above 0"),
        (["--name", "x", "--timeout", "nan", "--", "cmd"], "a timeout is a number of seconds above 0"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_anything_is_started(
    run: Run, arguments: list[str], message: str
) -> None:
    result = run(*arguments)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)
