"""An MCP server over stdio in plain Python, which starts at once and misbehaves as it is told.

    python mcp_stdio_server.py [BEHAVIOUR]

It has ten tools in pages of four. Real servers are tested beside it; what they never do is tested with this one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

COUNT = 10
PAGE = 4


def schema(behaviour: str) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": {}}
    if behaviour == "deep":
        for _ in range(40):
            made = {"type": "object", "properties": {"x": made}}
    return made


def page(behaviour: str, cursor: str | None) -> dict[str, Any]:
    """The tools from `cursor` on, and the cursor of the next page."""
    start = int(cursor or 0)
    token = os.environ.get("SERVER_TOKEN")
    tools = [
        {
            "name": f"tool_{number:02d}",
            "description": f"The tool {number}" + (f" of {token}" if behaviour == "repeats" else ""),
            "inputSchema": schema(behaviour),
            "annotations": {"readOnlyHint": number % 2 == 0},
        }
        for number in range(start, min(start + PAGE, COUNT))
    ]
    if behaviour == "twice":
        tools *= 2
    after = start + PAGE
    if behaviour == "circle":
        return {"tools": tools, "nextCursor": str(after % 8)}
    return {"tools": tools, **({"nextCursor": str(after)} if after < COUNT else {})}


def answer(behaviour: str, request: dict[str, Any]) -> dict[str, Any]:
    if request["method"] == "initialize":
        information = {"name": "paged", "version": "3.1"}
        version = request["params"]["protocolVersion"]
        said = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": information}
        return {"result": {**said, "instructions": "Mind the pages"}}
    if request["method"] == "tools/list" and behaviour != "toolless":
        if behaviour == "odd":
            return {"result": {"tools": [{"name": 7, "inputSchema": {"type": "object"}}]}}
        return {"result": page(behaviour, request.get("params", {}).get("cursor"))}
    return {"error": {"code": -32601, "message": f"no such method: {request['method']}"}}


def main(behaviour: str) -> None:
    token = os.environ.get("SERVER_TOKEN", "")
    if behaviour == "dies":
        sys.exit(f"cannot start with the token {token or 'nothing'}")
    if behaviour == "needs-token" and not token:
        sys.exit("SERVER_TOKEN is not set")
    if behaviour == "hangs":
        time.sleep(600)
    if behaviour == "noise":
        print("Hello, this is not JSON", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if behaviour == "babbles":
            print('{"jsonrpc": "2.0", "id": ' + "[" * 500, flush=True)
            continue
        if "id" in request:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(behaviour, request)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
