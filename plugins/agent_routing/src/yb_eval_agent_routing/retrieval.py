"""Ranking groups and tools by their words: BM25, for the `bm25:k` baseline and for the search policy.

The formula is Lucene's (idf = ln(1 + (N - n + 0.5) / (n + 0.5)); Kamphuis et al., "Which BM25 do you mean?", ECIR
2020) with k1 = 1.2 and b = 0.75, computed by the library bm25s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from yb_eval_agent_routing.model import Capability, Environment, Tool

K1 = 1.2
B = 0.75

_HUMP = re.compile(r"([a-z0-9])([A-Z])")
_ASCII = re.compile(r"[a-z0-9]+")
_LETTERS = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    """The ASCII words of a text in lower case: `getUser_byId` is `get`, `user`, `by`, `id`."""
    return _ASCII.findall(_HUMP.sub(r"\1 \2", text).lower())


def letters(text: str) -> list[str]:
    """The words of a text in any script, in lower case."""
    return _LETTERS.findall(_HUMP.sub(r"\1 \2", text).lower())


class Index:
    """Documents that can be ranked by a query.

    Words are ASCII words, as catalogues are written in them; a query that has none is looked up by its words in
    whatever script it is.
    """

    def __init__(self, documents: Iterable[str]) -> None:
        self._documents = tuple(documents)
        self._plain = _Bm25(self._documents, words)
        self._any: _Bm25 | None = None

    def rank(self, query: str, k: int) -> list[int]:
        """The positions of the up to `k` best documents, best first, those in front winning ties.

        Each word of the query counts once. A document that shares no word with it is never among them.
        """
        asked = words(query)
        if asked:
            return self._plain.rank(asked, k)
        if self._any is None:
            self._any = _Bm25(self._documents, letters)
        return self._any.rank(letters(query), k)


class _Bm25:
    def __init__(self, documents: Sequence[str], split: Callable[[str], list[str]]) -> None:
        import bm25s  # type: ignore[import-untyped]

        corpus = [split(document) for document in documents]
        self._known = {word for document in corpus for word in document}
        self._scorer: Any = None
        if self._known:
            self._scorer = bm25s.BM25(k1=K1, b=B, method="lucene", dtype="float64")
            self._scorer.index(corpus, show_progress=False)

    def rank(self, query: Iterable[str], k: int) -> list[int]:
        asked = sorted(self._known.intersection(query))
        if not asked:
            return []
        scores = self._scorer.get_scores(asked).tolist()
        found = [position for position, score in enumerate(scores) if score > 0]
        found.sort(key=lambda position: (-scores[position], position))
        return found[:k]


def group_text(environment: Environment, group: Capability) -> str:
    """What a group is found by: its name and description, and those of its tools."""
    return " ".join([group.name, group.description, *map(tool_text, environment.tools_of(group.id))])


def tool_text(tool: Tool) -> str:
    """What a tool is found by."""
    return f"{tool.name} {tool.description}"
