"""A sample: one conversation, answer or proposed call, whatever it was recorded as.

```python
s = Sample.of({"messages": messages, "tools": tools})
s.final_answer, s.tool_calls, s.tool_results, s.user_messages     # derived, at first use
s["messages"], s["my_key"], s.my_key                              # as given
```

Item access gives what was given; attribute access gives the fields below, normalised. A field that a sample does not have
is None, or an empty list. A name that is neither a field nor a key of the sample is an `AttributeError` that names the nearest.

| field | what it is |
|---|---|
| `messages` | `Message`s; without `messages`, made of the system prompt, input, calls, results and output given |
| `user_messages` `last_user_message` | the texts of the users' messages; the last of them, or else `input` |
| `input` | as given, else what the user said in the turn that the final answer belongs to |
| `final_answer` `output` | `final_answer` or `output` as given, else the assistant's last message with text |
| `goal` | as given, else the first user message (what follows in a conversation refines it), else `input` |
| `system_prompt` | `system_prompt` or `system` as given, else all system and developer messages |
| `tools` `tool_names` | what the agent could call |
| `tool_calls` | as given, else those of the messages, each with its result |
| `tool_call` | the proposed call when `tool_call` is given, else the last call |
| `tool_results` `tool_result` | as given, else those of the messages and the `tool_result` given: texts or JSON values |
| `steps` `turns` | what the agent did, in order; `Turn`s of user, answer and calls |
| `contexts` | `contexts`, `retrieved_contexts` or `context`: texts |
| `expected` | `expected`, `reference` or `expected_output` |
| `expected_tool_calls` | None where not given, apart from `[]`: no call is expected |
| `plan` `allowed_topics` `id` `raw` | as given |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

from yb_eval.errors import nearest, shorten
from yb_eval_decision.kept import kept
from yb_eval_decision.messages import normalise
from yb_eval_decision.messages.content import documents, result_value, scalar_text, text_of
from yb_eval_decision.messages.conversation import Calls, paired, steps, turns
from yb_eval_decision.messages.model import Message, Tool, ToolCall, Turn
from yb_eval_decision.messages.openai_chat import tool_call, tool_calls
from yb_eval_decision.messages.results import SPANS, raw_of, refused
from yb_eval_decision.messages.tools import read_tools

# The keys under which a field may be given, its own first.
ALIASES: dict[str, tuple[str, ...]] = {
    "contexts": ("contexts", "retrieved_contexts", "context"),
    "expected": ("expected", "reference", "expected_output"),
    "final_answer": ("final_answer", "output"),
    "output": ("final_answer", "output"),
    "system_prompt": ("system_prompt", "system"),
}
# What is not there, where it is empty.
_CONTAINERS = frozenset({str, list, dict, tuple})


class Sample(Mapping[str, Any]):
    """See the module. Immutable: what is derived is kept, and never stale. Do not change what it was made of."""

    __slots__ = ("__dict__", "_raw")  # what is derived, what was given
    _raw: dict[str, Any]

    def __init__(self, raw: Mapping[str, Any]) -> None:
        given = dict(raw) if type(raw) is dict or isinstance(raw, Mapping) else refused(raw)
        if type(listed := given.get("messages")) is list:
            given["messages"] = listed[:]  # an agent goes on appending to its own
        object.__setattr__(self, "_raw", given)

    @classmethod
    def of(cls, value: Any) -> Self:
        """A sample of a mapping, an output (text), a list of messages, spans of one trace, or what an SDK returned.

        Raises `UsageError` for anything else, and for spans that hold no message.
        """
        if type(value) is dict and "messages" in value:  # most are
            return cls(value)
        if isinstance(value, cls):
            return value
        if isinstance(value, Mapping) and "messages" in value:
            return cls(value)
        if (raw := raw_of(value)) is not None:
            return cls(raw)
        return refused(value)

    @classmethod
    def of_traces(cls, value: Any) -> list[Self]:
        """A sample of each trace in an export of spans, in the order they begin. Raises `UsageError` as `of` does."""
        from yb_eval_decision.messages.traces import read_traces

        return [cls(raw) for raw in read_traces(value)]

    def __getitem__(self, key: str) -> Any:
        return self._raw[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, key: object) -> bool:
        return key in self._raw

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a sample does not change: {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a sample does not change: {name!r} cannot be deleted")

    def __repr__(self) -> str:
        return f"Sample({shorten(self._raw, 200)})"

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self._raw,))

    def __getattr__(self, name: str) -> Any:
        if name in Sample.__slots__:
            raise AttributeError(name)  # not made yet: asking for it again would never end
        if name in self._raw:
            return self._raw[name]
        field = next((field for field, keys in ALIASES.items() if name in keys), None)
        hint = f"did you mean {field!r}?" if field else nearest(name, {*FIELDS, *map(str, self._raw)})
        raise AttributeError(f"a sample has no field {name!r} ({hint})")

    def value(self, name: str) -> Any:
        """The field or key `name`, for names from outside (a path in a YAML file): never a method, as `items` would be by
        attribute. Raises `AttributeError` as attribute access does."""
        if name in FIELDS:
            return getattr(self, name)
        return self._raw[name] if name in self._raw else self.__getattr__(name)

    def has(self, *names: str) -> bool:
        """Are all there, and none of them empty (None, `""`, `[]`, `{}`)? An unknown name raises `AttributeError`.

        `expected_tool_calls` is there as soon as it is given: `[]` expects that nothing is called.
        """
        return all(self._is_there(name) for name in names)

    def missing(self, names: Iterable[str]) -> list[str]:
        """Those of `names` that are not there, to be shown; with a hint where a key of the sample is nearly such a name."""
        return [self._described(name) for name in names if not (self._knows(name) and self._is_there(name))]

    def _knows(self, name: str) -> bool:
        return name in FIELDS or name in self._raw

    def _is_there(self, name: str) -> bool:
        value = self.value(name)
        if name == "expected_tool_calls":
            return value is not None
        return value is not None and (bool(value) or type(value) not in _CONTAINERS)

    def _described(self, name: str) -> str:
        from difflib import get_close_matches

        strange = [key for key in self._raw if isinstance(key, str) and key not in KEYS]
        wanted = ALIASES.get(name, (name,))
        for key in wanted:
            close = get_close_matches(key, strange, n=1, cutoff=0.75)
            if close and close[0] != name:
                return f"{name} (the sample has {shorten(close[0], 40)}: did you mean {key!r}?)"
        return name

    # What is given under a field's names, and what is derived once and kept.

    def _given(self, field: str) -> Any:
        raw = self._raw
        if field not in ALIASES:
            return raw.get(field)
        return next((found for key in ALIASES[field] if (found := raw.get(key)) is not None), None)

    def _text(self, field: str) -> str | None:
        found = self._given(field)
        return None if found is None else found if type(found) is str and found.isascii() else scalar_text(found, field)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """What others derive; a dot in `name` keeps it apart from the fields."""
        if name not in (derived := self.__dict__):
            derived[name] = make()
        return derived[name]

    @property
    def raw(self) -> Mapping[str, Any]:
        """What the sample was made of, unchanged."""
        return dict(self._raw)

    @property
    def id(self) -> str | None:
        found = self._raw.get("id")
        return None if found is None else str(found)

    @property
    def messages(self) -> list[Message]:
        return list(self._messages)

    @kept
    def _messages(self) -> tuple[Message, ...]:
        given = self._raw.get("messages")
        if given is None or (isinstance(given, list | tuple) and not given):
            return tuple(self._made())
        found = normalise(given)
        system = self._raw.get("system")
        if system is not None and not any(message.role == "system" for message in found):
            found.insert(0, Message("system", text_of(system, "system")))
        return tuple(found)

    def _made(self) -> list[Message]:
        """Messages of the single fields, in the order they must have happened."""
        found: list[Message] = []
        if (system := self._text("system_prompt")) is not None:
            found.append(Message("system", system))
        if (asked := self._text("input")) is not None:
            found.append(Message("user", asked))
        calls = self._given_calls or []
        if calls:
            bare = tuple(ToolCall(call.id, call.name, call.args) for call in calls)
            found.append(Message("assistant", "", bare))
        results = [(call.id, call.name, call.result) for call in calls if call.result is not None]
        found += (Message("tool", scalar_text(result, "tool_calls"), (), at, name) for at, name, result in results)
        if not results:
            found += (Message("tool", scalar_text(result, "tool_results")) for result in self._given_results())
        if (answer := self._text("output")) is not None:
            found.append(Message("assistant", answer))
        return found

    @kept
    def system_prompt(self) -> str | None:
        if isinstance(found := self._given("system_prompt"), list | tuple):
            return text_of(found, "system")
        if found is not None:
            return self._text("system_prompt")
        return "\n".join([m.content for m in self._messages if m.role in {"system", "developer"}]) or None

    @property
    def user_messages(self) -> list[str]:
        return [message.content for message in self._messages if message.role == "user" and message.content]

    @kept
    def last_user_message(self) -> str | None:
        users = self.user_messages
        return users[-1] if users else self._text("input")

    @property
    def turns(self) -> list[Turn]:
        return list(self._turns)

    @kept
    def _turns(self) -> tuple[Turn, ...]:
        found = turns(self._messages, self._paired)
        given = self._given_answer
        if given is not None and found and found[-1].answer is None:
            # The history was recorded without the answer, which is given beside it.
            found[-1] = Turn(found[-1].user, given, found[-1].calls, found[-1].index)
        return tuple(found)

    @kept
    def input(self) -> str | None:
        if (given := self._text("input")) is not None:
            return given
        found = self._turns
        answer = self._given_answer
        same = [turn for turn in found if turn.answer is not None and turn.answer == answer]
        answered = same or [turn for turn in found if turn.answer is not None]
        return answered[-1].user if answered else found[-1].user if found else None

    @kept
    def goal(self) -> str | None:
        if (given := self._text("goal")) is not None:
            return given
        return next(iter(self.user_messages), None) or self.input

    @kept
    def _given_answer(self) -> str | None:
        return self._text("output")

    @kept
    def final_answer(self) -> str | None:
        if (given := self._given_answer) is not None:
            return given
        said = (message.content for message in reversed(self._messages) if message.role == "assistant")
        return next((text for text in said if text), None)

    @property
    def output(self) -> str | None:
        return self.final_answer

    @property
    def expected(self) -> str | None:
        return self._text("expected")

    @property
    def plan(self) -> str | None:
        return self._text("plan")

    @property
    def tools(self) -> list[Tool]:
        return list(self._tools)

    @kept
    def _tools(self) -> tuple[Tool, ...]:
        return tuple(read_tools(self._raw.get("tools")))

    @property
    def tool_names(self) -> list[str]:
        return [tool.name for tool in self._tools]

    @kept
    def _paired(self) -> Calls:
        return paired(self._messages)

    @kept
    def _given_calls(self) -> list[ToolCall] | None:
        if self._raw.get("tool_calls") is None:
            return None
        calls = list(tool_calls(self._raw, "sample"))
        results = self._raw.get("tool_results")
        if isinstance(results, list | tuple) and len(results) == len(calls) and all(c.result is None for c in calls):
            found = zip(calls, self._given_results(), strict=False)
            return [ToolCall(call.id, call.name, call.args, result) for call, result in found]
        return calls

    @property
    def tool_calls(self) -> list[ToolCall]:
        given = self._given_calls
        return list(self._paired.calls if given is None else given)

    @kept
    def tool_call(self) -> ToolCall | None:
        if (given := self._raw.get("tool_call")) is not None:
            return tool_call(given, "tool_call")
        calls = self.tool_calls
        return calls[-1] if calls else None

    def _given_results(self) -> list[Any]:
        """The results given by name: `tool_results`, then `tool_result` where it is not the last of them."""
        given = self._raw.get("tool_results")
        if given is not None and (isinstance(given, str | Mapping) or not isinstance(given, Sequence)):
            given = [given]
        found = [result_value(item, f"tool_results[{index}]") for index, item in enumerate(given or ())]
        return self._with_last(found)

    def _with_last(self, results: list[Any]) -> list[Any]:
        if (last := self._raw.get("tool_result")) is None:
            return results
        found = result_value(last, "tool_result")
        return results if results and results[-1] == found else [*results, found]

    @property
    def tool_results(self) -> list[Any]:
        return list(self._tool_results)

    @kept
    def _tool_results(self) -> list[Any]:
        if self._raw.get("tool_results") is not None:
            return self._given_results()
        if self._raw.get("tool_calls") is not None:
            return self._with_last([call.result for call in self.tool_calls if call.result is not None])
        return self._with_last(list(self._paired.results))

    @property
    def tool_result(self) -> Any:
        return self._tool_results[-1] if self._tool_results else None

    @property
    def contexts(self) -> list[str]:
        return list(self._contexts)

    @kept
    def _contexts(self) -> tuple[str, ...]:
        given = self._given("contexts")
        return () if given is None else tuple(documents(given, "contexts"))

    @property
    def allowed_topics(self) -> list[str]:
        given = self._given("allowed_topics")
        return [] if given is None else documents(given, "allowed_topics")

    @property
    def expected_tool_calls(self) -> list[ToolCall] | None:
        if (given := self._raw.get("expected_tool_calls")) is None:
            return None
        if isinstance(given, str | Mapping) or not isinstance(given, Sequence):
            given = [given]
        return [tool_call(call, f"expected_tool_calls[{index}]") for index, call in enumerate(given)]

    @property
    def steps(self) -> list[dict[str, Any]]:
        return list(self._steps)

    @kept
    def _steps(self) -> list[dict[str, Any]]:
        return steps(self._messages)


FIELDS: frozenset[str] = frozenset(
    name for name, found in vars(Sample).items() if isinstance(found, property | kept) and not name.startswith("_")
)
KEYS: frozenset[str] = FIELDS | {key for keys in ALIASES.values() for key in keys} | {*SPANS}

as_sample = Sample.of
