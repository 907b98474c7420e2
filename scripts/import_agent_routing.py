"""Convert the public agent-routing data to the project's catalogues and scenarios, the same bytes every time.

    python scripts/import_agent_routing.py --source DIR [--out DIR] [--check]

DIR holds the upstream files: `livemcpbench/{tools,all_annotations,derived_labels}.json` and LICENSE,
`metatool/{plugin_des,multi_tool_query_golden}.json` and LICENSE, `reference_servers.json`. Commits and licences are in
each folder's NOTICE. `--check` writes nothing and ends with 1 when a file would change.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from yb_eval_agent_routing.catalogue import Catalogue, group_id, server_of
from yb_eval_datasets import path as data_path

DEFAULT_OUT = data_path("agent_routing")

METATOOL_ROWS = 200
METATOOL_SEED = "metatool-sample-1"

#: One task of LiveMCPBench asks for the CV of a person it names. The sha256 of the three words that are replaced.
NAME_DIGEST = "c9ac4de4a329af537f3db5eec6faa3e45f77762a04e814ed8e5deea0951eca23"
NAME_REPLACEMENT = "Mr. Doe's"

Row = dict[str, Any]


def livemcpbench(source: Path) -> dict[str, bytes]:
    """The catalogue of 70 servers, the 90 tasks whose labels can be resolved, and the same tasks at threshold 25."""
    folder = source / "livemcpbench"
    servers = read_json(folder / "tools.json")
    ids = {server["name"]: server_id(server) for server in servers}
    assert len(set(ids.values())) == len(servers)
    questions = {task["task_id"]: task for task in read_json(folder / "all_annotations.json")}
    labels = [task for task in read_json(folder / "derived_labels.json")["tasks"] if task["status"] != "unresolved"]
    holders = tool_holders(servers, ids)
    rows = [livemcpbench_row(label, questions[label["task_id"]]["Question"], ids, holders) for label in labels]
    catalogue = Catalogue.of(
        server_of(ids[server["name"]], tools_of(server), name=server["name"].strip(), description=server["description"])
        for server in servers
    )
    header: Row = {
        "id": "livemcpbench",
        "note": "LiveMCPBench: 70 servers, 527 tools, 90 tasks; see README.md and NOTICE",
        "environments": [{"id": "livemcpbench", "catalogue": "catalogue.json"}],
        "defaults": {"environment": "livemcpbench", "mode": "read-write", "tags": ["set:livemcpbench", "lang:en"]},
        "scenarios": "tasks.jsonl",
    }
    expanded = {
        **header,
        "id": "livemcpbench-25",
        "defaults": {
            **header["defaults"],
            "expand_threshold": 25,
            "tags": ["set:livemcpbench-25", "lang:en"],
        },
    }
    return {
        "catalogue.json": catalogue.to_bytes(),
        "tasks.jsonl": jsonl(rows),
        "scenarios.json": pretty(header),
        "expanded.json": pretty(expanded),
        "LICENSE": (folder / "LICENSE").read_bytes(),
    }


def server_id(server: Row) -> str:
    """The server's name as an id; of a name in another script, the id that the server's configuration has."""
    name = server["name"]
    return group_id(name if name.isascii() else next(iter(server["tools"])))


def tools_of(server: Row) -> list[Row]:
    return [tool for listed in server["tools"].values() for tool in listed["tools"]]


def tool_holders(servers: Iterable[Row], ids: dict[str, str]) -> dict[str, list[str]]:
    """The ids of the servers that have a tool, by its name."""
    holders: dict[str, list[str]] = {}
    for server in servers:
        for tool in tools_of(server):
            holders.setdefault(tool["name"], []).append(ids[server["name"]])
    return holders


def livemcpbench_row(label: Row, question: str, ids: dict[str, str], holders: dict[str, list[str]]) -> Row:
    """A scenario. The annotators named tools, not servers: a tool that several servers have is expected of the one that
    is required anyway, else of any of them."""
    expected = sorted(ids[name] for name in label["required_servers"])
    any_of = [sorted(ids[name] for name in names) for names in label["any_of_servers"]]
    tools: list[str] = []
    any_of_tools: list[list[str]] = []
    for name in dict.fromkeys(label["tools"]):
        groups = [group for group in holders[name] if group in expected] or holders[name]
        qualified = sorted(f"{group}/{name}" for group in groups)
        if len(qualified) == 1:
            tools += qualified
        else:
            any_of_tools.append(qualified)
    number = len(expected) + len(any_of)
    row: Row = {
        "id": label["task_id"][:8],
        "name": label["task_id"],
        "message": without_name(question.strip()),
        "expected": expected,
        "any_of": any_of,
        "expected_tools": tools,
        "any_of_tools": any_of_tools,
        "tags": [f"category:{label['category'].lower()}", f"groups:{'one' if number == 1 else 'several'}"],
    }
    return {key: value for key, value in row.items() if value}


def without_name(question: str) -> str:
    """The question without the one real person's name in the tasks, which is known here by its digest only."""
    words = question.split(" ")
    for start in range(len(words) - 2):
        if hashlib.sha256(" ".join(words[start : start + 3]).encode()).hexdigest() == NAME_DIGEST:
            return " ".join([*words[:start], NAME_REPLACEMENT, *words[start + 3 :]])
    return question


def metatool(source: Path) -> dict[str, bytes]:
    """199 groups of one tool, and a fixed sample of the two-tool queries."""
    folder = source / "metatool"
    described = read_json(folder / "plugin_des.json")
    ids = {name: group_id(name) for name in described}
    assert len(set(ids.values())) == len(described)
    catalogue = Catalogue.of(
        server_of(ids[name], [{"name": ids[name], "description": text}], name=name, description=text)
        for name, text in described.items()
    )
    queries: dict[str, list[str]] = {}
    for item in read_json(folder / "multi_tool_query_golden.json"):
        text = item["query"].strip().removeprefix('"').removesuffix('"').strip()
        queries.setdefault(text, sorted(ids[name] for name in item["tool"]))
    drawn = set(sorted(queries, key=lambda text: digest(METATOOL_SEED, text))[:METATOOL_ROWS])
    rows = [
        {"id": f"two-tool-{number:03d}", "message": text, "expected": groups}
        for number, (text, groups) in enumerate(queries.items(), start=1)
        if text in drawn
    ]
    header = {
        "id": "metatool",
        "note": "MetaTool: 199 groups of one tool, 200 two-tool queries; see README.md and NOTICE",
        "environments": [{"id": "metatool", "catalogue": "catalogue.json"}],
        "defaults": {
            "environment": "metatool",
            "mode": "read-write",
            "tags": ["set:metatool", "lang:en", "groups:several"],
        },
        "scenarios": "tasks.jsonl",
    }
    return {
        "catalogue.json": catalogue.to_bytes(),
        "tasks.jsonl": jsonl(rows),
        "scenarios.json": pretty(header),
        "LICENSE": (folder / "LICENSE").read_bytes(),
    }


def reference_servers(source: Path) -> dict[str, bytes]:
    """The catalogue of the MCP project's own servers."""
    captured = read_json(source / "reference_servers.json")
    catalogue = Catalogue.of(
        server_of(
            name,
            result["tools"],
            name=result["server"]["name"],
            version=result["server"]["version"],
            instructions=result["instructions"],
        )
        for name, result in captured.items()
    )
    return {"catalogue.json": catalogue.to_bytes()}


#: What is made, by the folder it goes to.
SETS: dict[str, Callable[[Path], dict[str, bytes]]] = {
    "livemcpbench": livemcpbench,
    "metatool": metatool,
    "reference_servers": reference_servers,
}


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def jsonl(rows: Iterable[Row]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows).encode()


def pretty(value: Any) -> bytes:
    return (json.dumps(value, indent=2) + "\n").encode()


def digest(seed: str, text: str) -> str:
    return hashlib.sha256(f"{seed}\0{text}".encode()).hexdigest()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="folder with the upstream files")
    parser.add_argument(
        "--out", type=Path, default=DEFAULT_OUT, help="the agent_routing folder of the datasets package"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 when a file would change")
    options = parser.parse_args(arguments)
    changed = 0
    for name, convert in SETS.items():
        for file, data in convert(options.source).items():
            path = options.out / name / file
            if path.is_file() and path.read_bytes() == data:
                continue
            changed += 1
            print(f"{'differs' if options.check else 'wrote'}: {name}/{file}")
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
    return 1 if options.check and changed else 0


if __name__ == "__main__":
    sys.exit(main())
