"""The golden routing data: made by its script byte for byte, broad, judged, and no oracle in disguise."""

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from yb_eval_routing.pipeline import Pipeline, length_tier, reference_policy

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "datasets/eval/golden_routing.jsonl"
PARAPHRASE = ROOT / "plugins/routing/src/yb_eval_routing/data/paraphrase.jsonl"
POLICY = reference_policy()


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


ROWS = read(GOLDEN)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gen_golden_routing", ROOT / "scripts/gen_golden_routing.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_script_reproduces_the_file_byte_for_byte(script: ModuleType) -> None:
    assert script.golden_bytes() == GOLDEN.read_bytes()


def test_rows_hold_the_documented_fields_only() -> None:
    for row in ROWS:
        assert (
            {"id", "tier", "tags"} <= set(row) <= {"id", "prompt", "messages", "metadata", "tier", "acceptable", "tags"}
        )
        assert ("prompt" in row) != ("messages" in row)
        assert row["tier"] in POLICY.tier_names
        assert set(row.get("acceptable", [row["tier"]])) <= set(POLICY.tier_names)
        assert row.get("acceptable") != [row["tier"]]
        assert all(isinstance(tag, str) and ":" in tag for tag in row["tags"])


def test_ids_and_requests_are_unique() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) >= 400
    texts = [
        " ".join(json.dumps(row.get("prompt", row.get("messages")), ensure_ascii=False).casefold().split())
        for row in ROWS
    ]
    assert len(set(texts)) == len(ROWS)


def test_an_id_depends_on_the_request_alone(script: ModuleType) -> None:
    tags = ["lang:en", "kind:fact"]
    assert script.row_id({"prompt": "a", "metadata": {}}, tags) == script.row_id({"metadata": {}, "prompt": "a"}, tags)
    assert script.row_id({"prompt": "a"}, tags) != script.row_id({"prompt": "b"}, tags)


def test_english_and_russian_are_a_quarter_each_and_other_scripts_are_there() -> None:
    languages = Counter(tag for row in ROWS for tag in row["tags"] if tag.startswith("lang:"))
    assert languages["lang:en"] >= len(ROWS) / 4
    assert languages["lang:ru"] >= len(ROWS) / 4
    assert {"lang:zh", "lang:ja", "lang:ko", "lang:ar", "lang:th", "lang:hi", "lang:de", "lang:uk"} <= set(languages)


def test_kinds_of_real_traffic_are_there() -> None:
    tags = {tag for row in ROWS for tag in row["tags"]}
    assert {"kind:code", "kind:log", "kind:table", "kind:follow-up", "kind:topic-change", "kind:tools"} <= tags
    assert {"style:flashy", "style:boring", "shape:messages", "shape:metadata"} <= tags


def test_no_tier_is_rare() -> None:
    shares = Counter(row["tier"] for row in ROWS)
    assert set(shares) == set(POLICY.tier_names)
    assert min(shares.values()) >= 0.08 * len(ROWS)


def acceptable_rate(tiers: list[str]) -> float:
    pairs = zip(ROWS, tiers, strict=True)
    return sum(tier in row.get("acceptable", [row["tier"]]) for row, tier in pairs) / len(ROWS)


def test_policy_agrees_with_the_judgement_on_most_rows_and_not_on_all() -> None:
    assert 0.85 <= acceptable_rate([row["tier"] for row in ROWS]) < 1


def test_policy_beats_length_and_every_constant() -> None:
    policy = acceptable_rate([row["tier"] for row in ROWS])
    assert policy > acceptable_rate([length_tier(row, POLICY) for row in ROWS]) + 0.2
    assert all(policy > acceptable_rate([name] * len(ROWS)) + 0.2 for name in POLICY.tier_names)


def test_paraphrases_are_distinct_pairs_in_two_languages() -> None:
    pairs = read(PARAPHRASE)
    assert len(pairs) >= 40
    assert len({pair["id"] for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert set(pair) == {"id", "a", "b", "tags"}
        assert pair["a"].casefold() != pair["b"].casefold()
    languages = Counter(pair["tags"][0] for pair in pairs)
    assert min(languages["lang:en"], languages["lang:ru"]) >= 20
    golden = {row.get("prompt") for row in ROWS}
    assert not [pair["id"] for pair in pairs if {pair["a"], pair["b"]} & golden]


def test_paraphrases_mostly_keep_their_tier() -> None:
    pipeline = Pipeline(POLICY)
    kept = [
        pipeline.route({"prompt": p["a"]}).tier == pipeline.route({"prompt": p["b"]}).tier for p in read(PARAPHRASE)
    ]
    assert sum(kept) / len(kept) >= 0.75
