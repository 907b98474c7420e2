"""What every source format is read into: messages, tool calls, tools and turns.

All are frozen; each reads by attribute and by item (`message.content`, `message["content"]`), and `to_dict()` gives plain
JSON without the fields that are empty.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from attrs import field, frozen

ROLES = ("system", "developer", "user", "assistant", "tool")


class Record(Mapping[str, Any]):
    """Item access by field name. A field that does not exist is a `KeyError`, as it is in a dict."""

    __slots__ = ()
    names: ClassVar[tuple[str, ...]] = ()

    def __getitem__(self, name: str) -> Any:
        if name in self.names:
            return getattr(self, name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError


@frozen(slots=True)
class ToolCall(Record):
    """A tool that was called, or is about to be. `args` is a JSON object; `result` is None while there is none."""

    names: ClassVar[tuple[str, ...]] = ("id", "name", "args", "result")

    id: str | None
    name: str
    args: dict[str, Any] = field(factory=dict)
    result: Any = None

    def to_dict(self) -> dict[str, Any]:
        """`name` and `args`; `id` and `result` where there are any."""
        record: dict[str, Any] = {"name": self.name, "args": self.args}
        if self.id is not None:
            record["id"] = self.id
        if self.result is not None:
            record["result"] = self.result
        return record


@frozen(slots=True)
class Message(Record):
    """One message. `role` is one of `ROLES`; `content` is its text, with a placeholder like `[image]` for each part that
    is no text; `tool_calls` are those an assistant made; `tool_call_id` and `name` tell which call a tool answers."""

    names: ClassVar[tuple[str, ...]] = ("role", "content", "tool_calls", "tool_call_id", "name")

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None

    def to_dict(self) -> dict[str, Any]:
        record: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            record["tool_calls"] = [call.to_dict() for call in self.tool_calls]
        if self.tool_call_id is not None:
            record["tool_call_id"] = self.tool_call_id
        if self.name is not None:
            record["name"] = self.name
        return record


@frozen(slots=True)
class Tool(Record):
    """A tool on offer. `parameters` is its JSON Schema, `{}` where none is given."""

    names: ClassVar[tuple[str, ...]] = ("name", "description", "parameters")

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "description": self.description, "parameters": self.parameters}


@frozen(slots=True)
class Turn(Record):
    """What a user said and what it led to. `answer` is the assistant's last text before the user spoke again, None where
    it said nothing; `calls` are the tool calls in between, with their results; `index` counts from 0."""

    names: ClassVar[tuple[str, ...]] = ("user", "answer", "calls", "index")

    user: str
    answer: str | None
    calls: tuple[ToolCall, ...]
    index: int

    def to_dict(self) -> dict[str, Any]:
        calls = [call.to_dict() for call in self.calls]
        return {"index": self.index, "user": self.user, "answer": self.answer, "calls": calls}
