"""`yb-eval view` as a command: the address it prints, the ports it refuses, how it ends."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from yb_eval.view.guard import LOOPBACK

pytest.importorskip("uvicorn", reason="yb-eval view is an extra")

Start = Callable[..., "subprocess.Popen[str]"]

MAIN = "import sys; from yb_eval.cli import main; sys.exit(main(sys.argv[1:]))"


def environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("YB_EVAL")}
    return {**kept, **extra}


def run(*arguments: str, code: str = MAIN, **extra: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, "view", *arguments],
        capture_output=True, text=True, timeout=60, env=environment(**extra), check=False,
    )  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@pytest.fixture
def start(store: Path) -> Iterator[Start]:
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: str, **extra: str) -> subprocess.Popen[str]:
        server = subprocess.Popen(
            [sys.executable, "-c", MAIN, "view", "--store", str(store), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**extra),
        )  # fmt: skip
        started.append(server)
        return server

    yield begin
    for server in started:
        if server.poll() is None:
            server.kill()
        server.communicate()


def address(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().strip()


def get(url: str, path: str = "/", **headers: str) -> int:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def end(server: subprocess.Popen[str]) -> tuple[int, str, str]:
    server.send_signal(signal.SIGINT)
    said, noted = server.communicate(timeout=30)
    return server.returncode, said, noted


def test_it_prints_its_address_answers_there_and_ends_with_0_on_ctrl_c(start: Start) -> None:
    server = start("--port", "0")
    url = address(server)
    assert url.startswith("http://127.0.0.1:") and url.endswith("/")
    assert get(url) == 200 and get(url, "/nothing") == 404
    assert get(url, Host="evil.example") == 421
    assert end(server) == (0, "", "")


def test_the_port_is_free_again_after_it(start: Start) -> None:
    server = start("--port", "0")
    url = address(server)
    assert get(url) == 200
    end(server)
    port = urlsplit(url).port
    again = start("--port", str(port))
    assert address(again) == url and get(url) == 200


def test_ctrl_c_ends_it_while_a_connection_is_open(start: Start) -> None:
    server = start("--port", "0")
    parts = urlsplit(address(server))
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=30) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert end(server)[0] == 0


def test_it_listens_on_loopback_only(start: Start) -> None:
    """Another address of this machine's loopback network is not served either."""
    port = urlsplit(address(start("--port", "0"))).port
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port or 0), timeout=5):
        pass


def test_another_address_is_served_only_when_asked_for_on_the_command_line(start: Start, store: Path) -> None:
    assert address(
        start("--port", "0", YB_EVAL_HOST="0.0.0.0", YB_EVAL_VIEW_HOST="0.0.0.0", HOST="0.0.0.0")
    ).startswith("http://127.0.0.1:")
    server = start("--port", "0", "--host", "127.0.0.2")
    url = address(server)
    assert url.startswith("http://127.0.0.2:") and get(url) == 200
    code, _, noted = end(server)
    assert code == 0 and noted == f"warning: whoever reaches 127.0.0.2 can read {store}\n"
    assert "127.0.0.2" not in LOOPBACK


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "192.0.2.1", "--port", "0"], "cannot listen on port 0 of 192.0.2.1"),
        (["--host", "no such host", "--port", "0"], "no such address"),
        (["--port", "65536"], "65536 is not in the range"),
        (["--port", "-1"], "-1 is not in the range"),
    ],
)
def test_an_address_that_cannot_be_served_is_one_line_and_exit_2(store: Path, arguments: list[str], said: str) -> None:
    done = run("--store", str(store), *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_taken_port_is_one_line_that_says_what_to_do(store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("--store", str(store), "--port", str(port))
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        f"cannot listen on port {port} of 127.0.0.1: " in done.stderr and "--port 0 takes any free one" in done.stderr
    )
    assert done.stderr.count("\n") == 1


def test_without_a_store_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = run("--store", str(tmp_path / "none"), "--port", "0")
    assert done.returncode == 2 and "nothing has been run yet" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("missing", ["starlette", "uvicorn"])
def test_without_the_extra_it_says_how_to_install_it(store: Path, missing: str) -> None:
    done = run("--store", str(store), "--port", "0", code=f"import sys; sys.modules[{missing!r}] = None; {MAIN}")
    assert done.returncode == 2 and "pip install 'yb-eval-core[view]'" in done.stderr and done.stderr.count("\n") == 1


def test_neither_help_nor_the_help_of_view_imports_the_web_stack() -> None:
    code = (
        "import sys; from yb_eval.cli import main; main(['--help']); main(['view', '--help']);"
        "sys.exit(bool({'starlette', 'uvicorn', 'jinja2', 'anyio'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "Look at the stored runs in a browser." in done.stdout and "--open" in done.stdout


def test_a_browser_is_opened_on_request_only(start: Start, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n', encoding="utf-8")
    browser.chmod(0o755)
    server = start("--port", "0", BROWSER=str(browser))
    assert get(address(server)) == 200 and not opened.exists()
    server = start("--port", "0", "--open", BROWSER=str(browser))
    url = address(server)
    assert get(url) == 200
    end(server)
    assert opened.read_text(encoding="utf-8").strip() == url
