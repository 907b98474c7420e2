"""Systems that answer System One requests, as functions, and rows to ask them about. Also written into folders of users."""

from __future__ import annotations

import json
import threading
import zlib

#: How often `counted` was asked.
asked: list[dict] = []
_lock = threading.Lock()
_turns: dict[str, int] = {}


def answer(question: dict, good: bool, id: str = "") -> dict:
    """A sure answer: yes, the first option, the highest level; the opposite where the sample is not good."""
    if question["type"] == "noul":
        return {"noul": 0.9 if good or id.endswith("enough") else 0.1}
    if question["type"] == "choice":
        names = list(question["criteria"])
        chosen = names[0] if good else names[1]
        return {"choice": chosen, "probabilities": {n: 0.8 if n == chosen else 0.2 / (len(names) - 1) for n in names}}
    levels = [0.0] * len(question["criteria"])
    levels[-1 if good else 0] = 1.0
    return {"probabilities": {str(level): p for level, p in enumerate(levels)}}


def answers(request: dict, good: bool) -> dict:
    return {id: answer(question, good, id) for id, question in request["questions"].items()}


def honest(request):
    """Right about every sample that says that something burnt."""
    good = "fire" not in json.dumps(request["state"])
    return {"answers": answers(request, good), "model": "toy-1", "usage": {"input_tokens": 100, "output_tokens": 1}}


def counted(request):
    with _lock:
        asked.append(request)
    return honest(request)


def careless(request):
    """Content with everything."""
    return {"answers": answers(request, True), "model": "toy-1"}


def wavering(request):
    """Changes its mind each time that it is asked of one sample in four."""
    text = json.dumps(request["state"], sort_keys=True)
    with _lock:
        turn = _turns[text] = _turns.get(text, -1) + 1
    return {"answers": answers(request, zlib.crc32(text.encode()) % 4 != 0 or turn % 2 == 0)}


def abstaining(request):
    none = {"type": "none", "state": "abstained", "reason": "out of my depth"}
    return {"answers": dict.fromkeys(request["questions"], none)}


def refusing(request):
    return {"answers": {id: {"type": "none", "state": "refused", "reason": "no"} for id in request["questions"]}}


def quoting(request):
    raise ValueError("cannot judge " + json.dumps(request["state"]))


def trace(number: int, good: bool = True) -> dict:
    """An agent's trace: an order is looked up, and the answer is what was found, or is not."""
    call = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": f'{{"order": "{number}"}}'}}
    said = f"Order {number} has been shipped." if good else f"Order {number} was lost in a fire."
    return {
        "messages": [
            {"role": "user", "content": f"Where is order {number}?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"status": "shipped"}'},
            {"role": "assistant", "content": said},
        ]
    }


def rows(n: int = 8, every: int = 4) -> list[dict]:
    """Labelled rows; every `every`-th answer is made up."""
    made = []
    for number in range(n):
        good = number % every != 0
        labels = {"grounded": good, "tool_choice": "correct"}
        tags = ["lang:ru" if number % 2 else "lang:en"]
        made.append({"id": f"r{number}", "sample": trace(number, good), "labels": labels, "tags": tags})
    return made


if __name__ == "__main__":
    import sys

    for line in sys.stdin:
        print(json.dumps(honest(json.loads(line))), flush=True)
