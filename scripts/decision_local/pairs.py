"""Training rows of the tasks that compare two texts: support and relevance."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Any

from decision_local.rows import Row, load_lines, load_yaml, seeded, split_of
from decision_local.texts import load_catalogue

_PROBLEMS, _DESCRIPTIONS = 500, 250


def support() -> Iterator[Row]:
    """Hand-written claims on the topics, and sentences of real texts: as they are or said a little otherwise (supported), with
    one thing changed, or from another text (not supported)."""
    topics = load_yaml("topics.yaml")
    for index, topic in enumerate(topics):
        group = f"topics/{topic['id']}"
        other = _neighbour(topics, index)
        for label, claims in ((True, topic["supported"]), (False, topic["unsupported"])):
            for number, claim in enumerate(claims):
                # Evidence as several documents, as one text, as an object: what a metric or an agent hands over.
                texts = [topic["text"], other["text"]] if number % 2 else [other["text"], topic["text"]]
                value: Any = {f"chunk_{n}": text for n, text in enumerate(texts)} if number % 3 else topic["text"]
                yield _claim(claim, value, label, group, topic["lang"], "own topics")
        for claim in other["supported"][:1]:
            yield _claim(claim, topic["text"], False, group, topic["lang"], "own topics")
    yield from _changed(
        [
            (row["prompt"], f"gsm8k/{row['id']}")
            for row in seeded("support").sample(load_lines("routing/gsm8k.jsonl"), _PROBLEMS)
        ],
        "en",
        "gsm8k",
    )
    described = [(text, group) for text, group in _described() if text.isascii() and 80 < len(text) < 1500]
    yield from _changed(
        seeded("support").sample(described, min(_DESCRIPTIONS, len(described))), "en", "tool descriptions"
    )
    yield from _changed(
        [(row["text"], f"agentdojo/{row['group']}") for row in load_lines("decision/local/contents.jsonl")],
        "en",
        "AgentDojo contents",
    )
    yield from _changed(
        [(t["text"], f"topics/{t['id']}") for t in topics if t["text"][0] not in "{["] * 2,
        "",
        "topics, sentences changed",
    )


def _claim(claim: str, evidence: Any, label: bool, group: str, lang: str, source: str) -> Row:
    return Row(parts={"claim": claim, "evidence": evidence}, label=label, group=group, lang=lang, source=source)


def _neighbour(topics: list[Any], index: int) -> Any:
    """The next topic of the same language and the same part of the split."""
    here = topics[index]
    part = split_of(f"topics/{here['id']}")
    for step in range(1, len(topics)):
        other = topics[(index + step) % len(topics)]
        if other["lang"] == here["lang"] and split_of(f"topics/{other['id']}") == part:
            return other
    raise ValueError(f"no neighbour for {here['id']}")


def _described() -> Iterator[tuple[str, str]]:
    for name in ("livemcpbench", "reference_servers"):
        for server in load_catalogue(name):
            for tool in server["tools"]:
                yield tool["description"], f"{name}/{server['name']}"


def _sentences(text: str) -> list[str]:
    found = re.split(r"(?<=[.!?])\s+|\n+", text)
    return [part.strip() for part in found if len(part.split()) >= 4 and not part.strip().endswith("?")]


def _changed(texts: list[tuple[str, str]], lang: str, source: str) -> Iterator[Row]:
    by_part: dict[str, list[str]] = {}
    for text, group in texts:
        by_part.setdefault(split_of(group), []).append(text)
    for number, (text, group) in enumerate(texts):
        rng = seeded("changed", source, number, text)
        found = _sentences(text)
        if not found:
            continue
        spoken = lang or ("ru" if re.search("[а-яё]", text) else "en")
        sentence = rng.choice(found)
        yield _claim(_reworded(sentence, rng), text, True, group, spoken, source)
        wrong = _CHANGES[:]
        rng.shuffle(wrong)
        made = 0
        for change in wrong:
            claim = change(_reworded(sentence, rng) if rng.random() < 0.5 else sentence, rng)
            if claim is not None and made < 2:
                made += 1
                yield _claim(claim, text, False, group, spoken, source)
        foreign = _sentences(rng.choice(by_part[split_of(group)]))
        if foreign and rng.random() < 0.5 and (stray := rng.choice(foreign)) not in text:
            yield _claim(stray, text, False, group, spoken, source)
        # Without its sentence the text no longer says it (if it has others to say).
        if len(found) > 2 and rng.random() < 0.5 and len(sentence.split()) > 5:
            yield _claim(sentence, text.replace(sentence, ""), False, group, spoken, source)


_REWORDINGS = {
    r"\bbuys?\b": "purchases", r"\bgets\b": "receives", r"\bcosts\b": "is priced at", r"\bmakes\b": "produces", r"\bbig\b": "large", r"\bkids\b": "children", r"\bstarts\b": "begins",
    r"\bshows?\b": "displays", r"\bhelps\b": "assists", r"\bneeds to\b": "must", r"\ballows\b": "lets", r"\breturns\b": "gives back", r"\bretrieves?\b": "gets", r"\bdelete\b": "remove", r"\bcreate\b": "make",
    r"\bможно\b": "разрешается", r"\bнельзя\b": "не разрешается", r"\bнужно\b": "надо", r"\bначинается\b": "стартует", r"\bстоит\b": "обойдётся в", r"\bтолько\b": "лишь", r"\bпримерно\b": "около",
}  # fmt: skip


def _reworded(sentence: str, rng: random.Random) -> str:
    """The sentence with a synonym or two, without a part after a comma, or with what is said and done in another order."""
    roll = rng.random()
    if roll < 0.5:
        for pattern, other in _REWORDINGS.items():
            sentence = re.sub(pattern, other, sentence)
    elif roll < 0.75 and ", " in sentence:
        head, _, tail = sentence.rstrip(".!").partition(", ")
        if len(head.split()) > 4:
            return head + "."
        sentence = f"{tail[0].upper()}{tail[1:]}, {head[0].lower()}{head[1:]}." if len(tail.split()) > 3 else sentence
    elif roll < 0.9 and " and " in sentence:
        head = sentence.split(" and ")[0]
        if len(head.split()) > 4:
            return head.rstrip(",.") + "."
    return sentence


def _other_number(claim: str, rng: random.Random) -> str | None:
    found = list(re.finditer(r"\d+", claim))
    if not found:
        return None
    one = rng.choice(found)
    value = int(one.group())
    changed = rng.choice(
        [
            value + 1,
            value * 2 + 1,
            value + 10,
            max(2, value // 2 - 1),
            int(str(value)[::-1]) + (0 if str(value) != str(value)[::-1] else 3),
        ]
    )
    return None if changed == value else claim[: one.start()] + str(changed) + claim[one.end() :]


_AUXILIARY = re.compile(r"\b(is|are|was|were|can|will|may|has|have|does|do|did|must|should)\b(?! not)")


def _denied(claim: str, rng: random.Random) -> str | None:
    if " not " in claim or "n't" in claim:
        return claim.replace(" not ", " ", 1) if " not " in claim else None
    if re.search("[а-яё]", claim):
        if " не " in claim:
            return claim.replace(" не ", " ", 1)
        verb = re.search(r"\b(\w+(?:ет|ют|ит|ят|ла|ло|ли|ется|ются|ится))\b", claim)
        return claim[: verb.start()] + "не " + claim[verb.start() :] if verb else None
    if found := _AUXILIARY.search(claim):
        return claim[: found.end()] + " not" + claim[found.end() :]
    if found := re.search(r"^((?:[A-Z]\w+|The \w+|He|She|It|This tool|They) )(\w+)s\b", claim):
        return claim[: found.end(1)] + f"does not {found.group(2)}" + claim[found.end() :]
    return None


_SWAPS = [("before", "after"), ("first", "last"), ("more", "fewer"), ("increase", "decrease"), ("all", "none"), ("open", "closed"), ("largest", "smallest"), ("morning", "evening"), ("north", "south"), ("start", "end"),
          ("higher", "lower"), ("new", "old"), ("buy", "sell"), ("buys", "sells"), ("left", "right"), ("winter", "summer"), ("always", "never"), ("create", "delete"), ("day", "night"), ("daily", "weekly"), ("read", "write"),
          ("зимой", "летом"), ("бесплатно", "платно"), ("больше", "меньше"), ("до", "после"), ("первое", "последнее"), ("можно", "нельзя"), ("твёрдый", "мягкий"), ("север", "юг"), ("открыт", "закрыт"), ("младший", "старший")]  # fmt: skip


def _opposite(claim: str, rng: random.Random) -> str | None:
    for one, other in _SWAPS:
        for here, there in ((one, other), (other, one)):
            if re.search(rf"\b{here}\b", claim):
                return re.sub(rf"\b{here}\b", there, claim, count=1)
    return None


_NAMES = [
    "Maren",
    "Torvald",
    "Ilka",
    "Quentin",
    "Brisa",
    "Orla",
    "Dagny",
    "Priya",
    "Lumen Ltd",
    "Kestrel",
    "Vostra",
    "Zenn",
]


def _other_name(claim: str, rng: random.Random) -> str | None:
    found = [
        m
        for m in re.finditer(r"\b[A-ZА-Я]\w{2,}\b", claim)
        if m.start() > 0 or re.match(r"[A-Z]\w+(?:'s| [a-z]+s\b)", claim)
    ]
    if not found:
        return None
    one = rng.choice(found)
    return claim[: one.start()] + rng.choice(_NAMES) + claim[one.end() :]


_ADDED = [
    ", which was approved by the board",
    " and won an award for it",
    " because of the new law",
    ", as the mayor announced",
    " at a cost of two million",
    " for the first time since the war",
    ", free of charge",
    " without asking anybody",
    " in Portugal",
]
_ADDED_RU = [
    ", как объявил мэр",
    " и получил за это награду",
    " из-за нового закона",
    " впервые после войны",
    " за счёт города",
    ", никого не спросив",
    " в Португалии",
]


def _extended(claim: str, rng: random.Random) -> str | None:
    added = _ADDED_RU if re.search("[а-яё]", claim) else _ADDED
    return claim.rstrip(".!") + rng.choice(added) + "."


def _swapped(claim: str, rng: random.Random) -> str | None:
    """The first two names of the sentence in each other's place."""
    found = [
        m
        for m in re.finditer(r"\b[A-ZА-ЯЁ][\w-]{2,}\b", claim)
        if m.group() not in ("The", "This", "For", "When", "Use", "Returns")
    ]
    if len(found) < 2 or found[0].group() == found[1].group():
        return None
    one, two = found[:2]
    return claim[: one.start()] + two.group() + claim[one.end() : two.start()] + one.group() + claim[two.end() :]


_CHANGES: list[Callable[[str, random.Random], str | None]] = [
    _other_number,
    _denied,
    _opposite,
    _other_name,
    _extended,
    _swapped,
]


def relevance() -> Iterator[Row]:
    """Questions that a text of the topics answers, and those it does not; tasks and the tools that were annotated as useful for
    them, and others; replies to what was asked, and to something else."""
    topics = load_yaml("topics.yaml")
    for index, topic in enumerate(topics):
        group = f"topics/{topic['id']}"
        other = _neighbour(topics, index)
        for question in topic["ask"]:
            yield _asked(question, topic["text"], True, group, topic["lang"], "own topics")
            yield _asked(question, other["text"], False, group, topic["lang"], "own topics")
        for question in topic["aside"]:
            yield _asked(question, topic["text"], False, group, topic["lang"], "own topics, same subject")
            yield _asked(question, other["text"], False, group, topic["lang"], "own topics")
    yield from _tools()
    for row in load_lines("decision/local/replies.jsonl"):
        if row["request"] is not None:
            label = row["label"] == "answered"
            yield _asked(row["request"], row["answer"], label, f"pyrit/{row['answer'][:40]}", "en", "PyRIT replies")


def _asked(question: str, text: str, label: bool, group: str, lang: str, source: str) -> Row:
    return Row(parts={"question": question, "text": text}, label=label, group=group, lang=lang, source=source)


def _tools() -> Iterator[Row]:
    servers = {server["name"]: server for server in load_catalogue("livemcpbench")}
    described = [
        f"{tool['name']}: {tool['description']}"
        for server in servers.values()
        for tool in server["tools"]
        if tool["description"].isascii()
    ]
    for row in load_lines("agent_routing/livemcpbench/tasks.jsonl"):
        rng = seeded("tools", row["id"])
        wanted = {name.split("/", 1)[1] for name in row.get("expected_tools", ()) if "/" in name}
        useful = [text for text in described if text.split(":", 1)[0] in wanted]
        for text in useful[:2]:
            yield _asked(row["message"], text, True, f"livemcpbench/{row['id']}", "en", "LiveMCPBench tasks")
        for text in rng.sample(described, 3):
            if text not in useful and text.split(":")[0] not in wanted:
                yield _asked(row["message"], text, False, f"livemcpbench/{row['id']}", "en", "LiveMCPBench tasks")
    tools = {server["name"]: server for server in load_catalogue("metatool")}
    texts = {name: f"{name.replace('_', ' ')}: {server['description']}" for name, server in tools.items()}
    for row in load_lines("agent_routing/metatool/tasks.jsonl"):
        rng = seeded("metatool", row["id"])
        for name in row["expected"]:
            match = next((key for key in texts if key.lower().replace("_", "-") == name or key == name), None)
            if match:
                yield _asked(row["message"], texts[match], True, f"metatool/{row['id']}", "en", "MetaTool queries")
        for name in rng.sample(sorted(texts), 3):
            if name.lower().replace("_", "-") not in row["expected"] and name not in row["expected"]:
                yield _asked(row["message"], texts[name], False, f"metatool/{row['id']}", "en", "MetaTool queries")
