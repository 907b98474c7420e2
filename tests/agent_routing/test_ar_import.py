"""`yb-eval agent-routing import`: the servers of an MCP client's configuration, captured together."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("mcp", reason="the extra yb-eval-agent-routing[mcp] is not installed")

from yb_eval import DatasetError
from yb_eval.cli import main
from yb_eval_agent_routing.capturing import CaptureError, Http, Stdio, read_configuration
from yb_eval_agent_routing.commands.import_servers import command

OWN = Path(__file__).with_name("mcp_stdio_server.py")


def own(behaviour: str = "", **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(OWN), behaviour], **more}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Imports a configuration with these servers."""
    monkeypatch.chdir(tmp_path)

    def invoked(servers: dict[str, Any], *arguments: str) -> Result:
        Path("client.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
        return CliRunner().invoke(command, ["client.json", *arguments])

    return invoked


def captured() -> list[str]:
    return [server["id"] for server in json.loads(Path("catalogue.json").read_text(encoding="utf-8"))["servers"]]


def test_every_server_is_captured_and_what_became_of_each_is_said(run: Any) -> None:
    result = run({"two": own(), "one": own(), "off": own(disabled=True)})
    assert result.exit_code == 0, result.exception
    assert captured() == ["one", "two"]
    assert result.stdout == "catalogue.json: 2 of 2 servers\n"
    assert result.stderr.splitlines() == [
        "two: 10 tools, 5 of them read-only", "one: 10 tools, 5 of them read-only", "off: disabled, so left out",
    ]  # fmt: skip


def test_a_failing_server_is_reported_and_nothing_is_written(run: Any) -> None:
    result = run({"good": own(), "bad": own("dies"), "old": {"type": "sse", "url": "http://127.0.0.1:9/sse"}})
    assert isinstance(result.exception, CaptureError)
    assert result.exception.exit_code == 3
    assert "2 of 3 servers were not captured: bad, old (mend them, or write the others" in str(result.exception)
    assert "failed: the server 'bad': Connection closed" in result.stderr
    assert "failed: the server 'old': $.type: only stdio and Streamable HTTP" in result.stderr
    assert not Path("catalogue.json").exists()


def test_partial_writes_the_others_and_still_does_not_pass(run: Any) -> None:
    result = run({"good": own(), "bad": own("dies")}, "--partial")
    assert isinstance(result.exception, CaptureError)
    assert captured() == ["good"]
    assert result.stdout == "catalogue.json: 1 of 2 servers\n"


def test_a_hanging_server_does_not_hold_up_the_others(run: Any) -> None:
    result = run({"slow": own("hangs"), "good": own()}, "--partial", "--timeout", "2")
    assert "failed: the server 'slow': no answer within 2 seconds" in result.stderr
    assert captured() == ["good"]


def test_only_the_named_servers_are_started(run: Any) -> None:
    assert run({"good": own(), "bad": own("dies")}, "--only", "good").exit_code == 0
    assert captured() == ["good"]
    result = run({"good": own()}, "--only", "god")
    assert result.exit_code == 2
    assert "no server 'god' in client.json" in result.stderr


def test_secrets_of_a_configuration_are_used_and_never_written(run: Any) -> None:
    secret = "tok-48151623"
    result = run({"good": own("needs-token", env={"SERVER_TOKEN": secret}), "bad": own("dies", env={"SERVER_TOKEN": secret})},
                 "--partial")  # fmt: skip
    assert captured() == ["good"]
    written = Path("catalogue.json").read_text(encoding="utf-8")
    assert secret not in written + result.output + str(result.exception)
    assert "***" in result.stderr


def test_a_configuration_without_a_server_that_can_be_asked_does_not_pass(run: Any) -> None:
    result = run({"off": own(disabled=True)})
    assert isinstance(result.exception, CaptureError)
    assert "every server is disabled" in str(result.exception)


def test_the_installed_command_captures_imports_and_ends_with_3_where_a_server_fails(
    run: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["agent-routing", "capture", "--name", "own", "--", sys.executable, str(OWN)]) == 0
    assert capsys.readouterr().out == "catalogue.json: own: 10 tools, 5 of them read-only\n"
    Path("client.json").write_text(json.dumps({"mcpServers": {"own": own(), "bad": own("dies")}}), encoding="utf-8")
    before = Path("catalogue.json").read_bytes()
    assert main(["agent-routing", "import", "client.json"]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1].startswith("yb-eval: 1 of 2 servers were not captured: bad")
    assert Path("catalogue.json").read_bytes() == before


def reading(path: Path, value: Any, environment: dict[str, str] | None = None) -> dict[str, Any]:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return dict(read_configuration(path, environment or {}).servers)


def test_the_shapes_of_several_clients_are_read(tmp_path: Path) -> None:
    servers = {
        "git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "1"}, "cwd": "/tmp", "alwaysAllow": ["x"]},
        "docs": {"type": "http", "url": "https://example.org/mcp", "headers": {"X-Key": "k"}},
        "http": {"url": "http://example.org/mcp", "transport": "streamable-http"},
        "off": {"command": "x", "enabled": False},
    }
    for key in ("mcpServers", "servers"):
        found = reading(tmp_path / "c.json", {key: servers, "theme": "dark"})
        assert found == {
            "git": Stdio(command="uvx", args=("mcp-server-git",), env={"A": "1"}, cwd="/tmp"),
            "docs": Http(url="https://example.org/mcp", headers={"X-Key": "k"}),
            "http": Http(url="http://example.org/mcp"),
            "off": None,
        }


def test_variables_stand_for_the_environments_values(tmp_path: Path) -> None:
    entry = {
        "command": "${HOME_OF}/bin/x", "args": ["${env:ARG}", "${MISSING:-else}"], "env": {"T": "a ${ARG} b"},
    }  # fmt: skip
    found = reading(tmp_path / "c.json", {"mcpServers": {"x": entry}}, {"HOME_OF": "/h", "ARG": "1"})
    assert found["x"] == Stdio(command="/h/bin/x", args=("1", "else"), env={"T": "a 1 b"})
    found = reading(tmp_path / "c.json", {"mcpServers": {"x": entry}}, {"HOME_OF": "/h"})
    assert str(found["x"]) == "the server 'x': the environment variable ARG is not set"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({}, "a server has either a command or a url"),
        ({"command": "x", "url": "http://h"}, "a server has either a command or a url"),
        ({"command": "x", "type": "http"}, "$.type: a server with a command is of the type stdio"),
        ({"url": "http://h", "type": "sse"}, "$.type: only stdio and Streamable HTTP"),
        ({"url": "file:///x"}, "$.url: a url starts with http"),
        ({"command": 1}, "$.command: must be a string"),
        ({"command": "x", "args": "y"}, "$.args: must be a list"),
        ({"command": "x", "env": {"A": 1}}, "$.env.A: must be a string"),
        ({"comand": "x"}, "$.comand: unknown field (did you mean 'command'?)"),
        (7, "must be an object, not an integer"),
    ],
)
def test_what_is_wrong_with_one_server_concerns_that_server_only(tmp_path: Path, entry: Any, reason: str) -> None:
    reason, _, hint = reason.partition(" (")
    found = reading(tmp_path / "c.json", {"mcpServers": {"bad": entry, "good": {"command": "x"}}})
    assert found["good"] == Stdio(command="x")
    assert isinstance(found["bad"], CaptureError)
    assert f"the server 'bad': {reason}" in str(found["bad"])
    assert hint in str(found["bad"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no mcpServers: not the configuration of an MCP client"),
        ("[]", "no mcpServers"),
        ('{"mcpServers": []}', "$.mcpServers: must be an object, not a list"),
        ('{"mcpServers": {}}', "$.mcpServers: no server"),
        ('{"mcpServers": {"a": {"env": {"K": "tok-48151623"', "ends in the middle of a value"),
        ('{"mcpServers": {"a": {}, "a": {}}}', "$.mcpServers.a: the key is repeated"),
    ],
)
def test_a_file_that_is_no_configuration_is_refused_without_its_content(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        reading(tmp_path / "c.json", text)
    assert message in str(caught.value)
    assert "tok-48151623" not in str(caught.value)
