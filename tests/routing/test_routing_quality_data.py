"""The shipped outcomes and their importer; rows and price lists that cannot be trusted."""

import importlib.util
import json
import random
from collections import Counter
from pathlib import Path

import pytest

from yb_eval import DatasetError
from yb_eval_datasets import path
from yb_eval_routing.quality.dataset import SHIPPED, quality_dataset, request_length, shipped
from yb_eval_routing.quality.prices import Prices

ROOT = Path(__file__).parents[2]
PRICES = path("routing/prices.json")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(
        "import_routing_outcomes", ROOT / "scripts/import_routing_outcomes.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def opened(file, prices=None):
    return quality_dataset(Path(file), prices=prices, formats=None).open()


def samples(snapshot):
    return [sample for batch in snapshot.samples(100) for sample in batch]


@pytest.mark.parametrize(("name", "count", "contaminated"), [("gsm8k", 1_319, 12), ("mmlu", 2_000, 2)])
def test_shipped_sets_have_prompts_and_mark_what_routellm_leaves_out(name, count, contaminated):
    found = samples(opened(name))
    assert len(found) == count
    assert all(sample.data.prompt for sample in found)
    assert sum("contaminated:routellm" in sample.tags for sample in found) == contaminated
    assert {sample.data.weak.score for sample in found} == {0.0, 1.0}


def test_mmlu_sample_has_every_domain():
    domains = Counter(tag for sample in samples(opened("mmlu")) for tag in sample.tags if tag.startswith("domain:"))
    assert len(domains) == 57 and min(domains.values()) >= 10 and domains.total() == 2_000


def test_routerarena_rows_have_token_counts_and_a_price_for_each_model():
    prices = Prices.read(PRICES)
    snapshot = opened("routerarena", prices)
    assert [file.role for file in snapshot.files] == ["rows", "prices"]
    found = samples(snapshot)
    assert len(found) == 809
    assert all(served.cost(prices) > 0 for s in found for served in (s.data.weak, s.data.strong))
    request = found[0].data.request("a")
    assert request == {"id": "a", "metadata": {"input_tokens": 120}} and request_length(request) == 120


def test_a_price_is_usd_per_million_tokens():
    prices = Prices.read(PRICES)
    assert prices.cost("claude-3-haiku-20240307", 120, 112) == pytest.approx(0.00017, abs=1e-12)


def test_all_shipped_data_is_small_and_plain():
    files = sorted(PRICES.parent.iterdir())
    assert sum(file.stat().st_size for file in files) < 4_000_000
    for name in SHIPPED:
        data = path(f"routing/{name}.jsonl").read_bytes()
        assert b"\r" not in data and data.endswith(b"\n")


def test_a_file_of_the_users_wins_over_a_shipped_name(tmp_path):
    assert shipped(tmp_path / "gsm8k") == "gsm8k"
    (tmp_path / "gsm8k").write_text("{}", encoding="utf-8")
    assert shipped(tmp_path / "gsm8k") is None
    assert shipped(Path("gsm8k.jsonl")) is None


# ------------------------------------------------------------------------------------------------------------ refusals

RIGHT, WRONG = {"score": 1}, {"score": 0}
PRICED = {"score": 1, "model": "claude-3-haiku-20240307", "input_tokens": 5, "output_tokens": 7}


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"prompt": "Hi", "weak": {"score": 1.5}, "strong": RIGHT}, "score"),
        ({"prompt": "Hi", "weak": {"score": -1}, "strong": RIGHT}, "score"),
        ({"prompt": "Hi", "weak": {}, "strong": RIGHT}, "score"),
        ({"prompt": "Hi", "weak": RIGHT}, "strong"),
        ({"prompt": "", "weak": RIGHT, "strong": RIGHT}, "empty"),
        ({"weak": RIGHT, "strong": RIGHT}, "nothing else can be routed by"),
        ({"prompt": "Hi", "messages": [], "weak": RIGHT, "strong": RIGHT}, "either"),
        ({"messages": [{"role": "system", "content": "x"}], "weak": RIGHT, "strong": RIGHT}, "user"),
        ({"prompt": "Hi", "weak": {"score": 1, "cost_usd": -0.1}, "strong": RIGHT}, "cost_usd"),
        ({"prompt": "Hi", "weak": {"score": 1, "output_tokens": 3}, "strong": RIGHT}, "output_tokens need"),
        (
            {"prompt": "Hi", "weak": PRICED, "strong": {**PRICED, "model": "nobody-1"}},
            "no price for the model 'nobody-1'",
        ),
        ({"prompt": "Hi", "weak": PRICED, "strong": RIGHT}, "some outcomes have a cost"),
        ({"prompt": "Hi", "weak": RIGHT, "strong": RIGHT}, "some outcomes have a cost"),
        ({"prompt": "Hi", "weak": RIGHT, "strong": RIGHT, "week": 1}, "week"),
    ],
)
def test_a_row_that_cannot_be_compared_is_refused_with_its_line(tmp_path, row, said):
    good = {"prompt": "Hello", "weak": PRICED, "strong": PRICED}
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (good, good, row)), encoding="utf-8")
    with pytest.raises(DatasetError) as refused:
        opened(file, Prices.read(PRICES))
    assert "rows.jsonl:3" in str(refused.value) and said in str(refused.value)


def test_a_model_without_a_price_list_is_not_free(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"prompt": "Hi", "weak": PRICED, "strong": PRICED}) + "\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="--prices"):
        opened(file)


@pytest.mark.parametrize(
    ("listed", "said"),
    [
        ("[]", "object"),
        ("{", "JSON"),
        ('{"m": 3}', "no price"),
        ('{"m": {"input_token_price_per_million": 1}}', "output_token_price_per_million"),
        ('{"m": {"input_token_price_per_million": -1, "output_token_price_per_million": 1}}', "input_token"),
        ('{"m": {"input_token_price_per_million": true, "output_token_price_per_million": 1}}', "input_token"),
        ('{"m": {"input_token_price_per_million": null, "output_token_price_per_million": 1}}', "input_token"),
    ],
)
def test_a_price_list_with_anything_but_prices_is_refused(tmp_path, listed, said):
    file = tmp_path / "prices.json"
    file.write_text(listed, encoding="utf-8")
    with pytest.raises(DatasetError, match=said):
        Prices.read(file)


# ------------------------------------------------------------------------------------------------------------ importer


def made_rows(n):
    return [
        {
            "id": f"r{i:04d}",
            "weak": {"score": i % 2},
            "strong": {"score": int(i % 7 != 0)},
            "tags": [f"domain:{'abc'[i * i % 3]}"],
        }
        for i in range(n)
    ]


def test_a_sample_is_a_fixed_draw_that_keeps_every_proportion(script):
    rows = made_rows(840)
    chosen = script.sample(rows, 84, "seed")
    shuffled = list(rows)
    random.Random(1).shuffle(shuffled)
    assert {row["id"] for row in script.sample(shuffled, 84, "seed")} == {row["id"] for row in chosen}
    assert [row["id"] for row in chosen] == sorted(row["id"] for row in chosen), "the file's order is kept"
    assert script.sample(rows, 84, "another") != chosen

    def outcomes(these):
        return Counter((row["weak"]["score"], row["strong"]["score"]) for row in these)

    whole, part = outcomes(rows), outcomes(chosen)
    assert len(chosen) == 84 and all(abs(part[key] - whole[key] / 10) < 1 for key in whole)


def test_shares_add_up_and_take_nothing_from_nobody(script):
    groups = {name: [{}] * size for name, size in (("a", 1), ("b", 1), ("c", 1), ("d", 7))}
    assert sum(script.shares(groups, 7).values()) == 7
    assert script.shares(groups, 10) == {"a": 1, "b": 1, "c": 1, "d": 7}


def test_the_importer_reads_the_published_form(script, tmp_path, monkeypatch):
    source, out = tmp_path / "source", tmp_path / "out"
    source.mkdir()

    def write(name, rows):
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        (source / name).write_bytes(script.gzip.compress(data) if name.endswith(".gz") else data)

    right = {"weak_correct": True, "strong_correct": False}
    write("routellm_gsm8k.jsonl", [{"id": "g1", "prompt": "One?", **right}, {"id": "g2", "prompt": "Two?", **right}])
    write("routellm_gsm8k_contaminated_prompts.jsonl", [{"eval_prompt": "Two?"}])
    write(
        "routellm_mmlu.jsonl.gz", [{"id": f"m{i}", "prompt": f"{i}?", "domain": "law", **right} for i in range(3_000)]
    )
    write("routellm_mmlu_contaminated_prompts.jsonl", [])
    price = {"input_token_price_per_million": 1.0, "output_token_price_per_million": 2.0}
    prices = json.dumps(dict.fromkeys(script.PRICED_AS.values(), price))
    (source / "routerarena_cost.json").write_text(prices, encoding="utf-8")
    said = {"score": 1.0, "cost_usd": 5e-6, "input_tokens": 1, "output_tokens": 2}
    row = {"id": "AIME_7", "models": {"claude-3-haiku": said, "gemini-2.0-flash": {**said, "score": -0.1}}}
    write("routerarena_sub10_outcomes.jsonl", [row])

    def run(*more):
        monkeypatch.setattr("sys.argv", ["import", "--source", str(source), "--out", str(out), *more])
        return script.main()

    assert run("--check") == 1 and not out.exists()
    assert run("--whole-mmlu", str(tmp_path / "whole.jsonl")) == 0 and run("--check") == 0
    lines = {file.name: file.read_text(encoding="utf-8").splitlines() for file in out.iterdir()}
    assert [json.loads(line).get("tags") for line in lines["gsm8k.jsonl"]] == [None, ["contaminated:routellm"]]
    assert len(lines["mmlu.jsonl"]) == 2_000
    assert len((tmp_path / "whole.jsonl").read_text(encoding="utf-8").splitlines()) == 3_000
    arena = json.loads(lines["routerarena.jsonl"][0])
    assert (arena["strong"]["score"], arena["strong"]["model"], arena["tags"]) == (
        0,
        "gemini-2.0-flash-001",
        ["source:AIME"],
    )
    row["models"]["claude-3-haiku"]["cost_usd"] = 6e-6
    write("routerarena_sub10_outcomes.jsonl", [row])
    with pytest.raises(SystemExit, match="by the price list"):
        run()
