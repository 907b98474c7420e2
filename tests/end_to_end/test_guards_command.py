"""`yb-eval run guards`, as the seed and the issue describe it: through the installed command."""

import hashlib
import json
import sys

import pytest

from yb_eval_datasets import path
from yb_eval_guards import scan_many

CORPUS = path("eval/guards_labeled.jsonl")
MIB = 1024 * 1024

#: A guard of a user's: one that knows nothing but the word "secret", and one that answers in a way of its own.
GUARD = '''
import json, os, sys


def word(request):
    start = request["text"].find("secret")
    return {"findings": [{"type": "secret", "start": start, "end": start + 6}] if start >= 0 else []}


def replacing(request):
    """Replaces the file that is being evaluated, while it is."""
    with open("revision.json.new", "w", encoding="utf-8") as file:
        file.write("no JSON any more")
    os.replace("revision.json.new", "revision.json")
    return word(request)


def quoting(request):
    raise ValueError("cannot scan " + request["text"])


def echoing(request):
    return json.loads(request["text"])


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(word(json.loads(line))), flush=True)
'''


def sample(number=1, text="ordinary synthetic text", expect="clean", type="clean"):
    return {"id": f"s{number}", "payload": {"text": text, "type": type, "expect": expect}}


def revision(*samples, **header):
    return {"schema_version": 1, "dataset_id": "demo", "samples": list(samples) or [sample()], **header}


def document(*samples, **header):
    return json.dumps(revision(*samples, **header))


def raw_sample(text):
    """A document of one sample, given as JSON text."""
    return '{"schema_version":1,"dataset_id":"demo","samples":[' + text + "]}"


def of_size(size):
    """A document of exactly `size` bytes: the last text is as long as need be."""
    empty = document(sample(1, text=""))
    return document(sample(1, text="word " * ((size - len(empty)) // 5) + "w" * ((size - len(empty)) % 5)))


@pytest.fixture
def refused(project):
    """Runs a revision document that must be refused, and returns the one line that says why."""

    def run(content, *arguments):
        project.write("revision.json", content)
        done = project("run", "guards", "--revision", "revision.json", "--outcomes", "log.jsonl", *arguments, code=2)
        assert done.stdout == ""
        assert not (project.folder / "log.jsonl").exists()
        (line,) = done.stderr.splitlines()
        assert "precision" not in line
        return line

    return run


class TestRevisionDocumentsAreRefused:
    """Each for one fault, in one line with its place, before anything is measured."""

    @pytest.mark.parametrize("version", ["true", "1.0", '"1"', "2", "0", "null", "[1]", "1e0", "-1"])
    def test_whose_schema_version_is_not_the_integer_1(self, refused, version):
        content = document().replace('"schema_version": 1', f'"schema_version": {version}')
        assert "revision.json: $.schema_version" in refused(content)

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            (document(dataset_id=""), "$.dataset_id"),
            (document(dataset_id=None), "$.dataset_id"),
            (document(dataset_id=7), "$.dataset_id"),
            (document(dict(sample(), id="")), "$.samples[0].id"),
            (document(sample(), dict(sample(), id=5)), "$.samples[1].id"),
            (document({"payload": sample()["payload"]}), "$.samples[0].id"),
            (document(sample(1), sample(2), sample(1)), "$.samples[2].id"),
            (document(dict(sample(), id="caf\u00e9"), dict(sample(), id="cafe\u0301")), "$.samples[1].id"),
            (document(dict(sample(), id=" s")), "$.samples[0].id"),
            (document(sample(text="")), "$.samples[0].payload.text"),
            (document(sample(text=None)), "$.samples[0].payload.text"),
            (document(sample(text=["a"])), "$.samples[0].payload.text"),
            (document(sample(expect="Detect")), "$.samples[0].payload.expect"),
            (document(sample(expect=True)), "$.samples[0].payload.expect"),
            (document(sample(type="")), "$.samples[0].payload.type"),
            (document(dict(sample(), payload=[])), "$.samples[0].payload"),
            (document({"id": "s1"}), "$.samples[0].payload"),
            (document("s1"), "$.samples[0]"),
        ],
    )
    def test_for_a_value_that_does_not_fit(self, refused, content, place):
        assert f"revision.json: {place}: " in refused(content)

    @pytest.mark.parametrize("name", ["schema_version", "dataset_id", "samples"])
    def test_without_a_part_of_the_header(self, refused, name):
        content = revision()
        del content[name]
        assert f"$.{name}: missing field" in refused(json.dumps(content))

    @pytest.mark.parametrize("name", ["text", "type", "expect"])
    def test_without_a_part_of_a_payload(self, refused, name):
        part = sample()
        del part["payload"][name]
        assert f"$.samples[0].payload.{name}: missing field" in refused(document(part))

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            (document(extra=1), "$.extra"),
            (document(dict(sample(), tags=["lang:ru"])), "$.samples[0].tags"),
            (document(sample(1), dict(sample(2), note="x")), "$.samples[1].note"),
            (document({**sample(), "payload": {**sample()["payload"], "tags": []}}), "$.samples[0].payload.tags"),
            (document({**sample(), "payload": {**sample()["payload"], "id": "x"}}), "$.samples[0].payload.id"),
        ],
    )
    def test_for_an_unknown_field_at_any_level(self, refused, content, place):
        assert f"{place}: unknown field" in refused(content)

    @pytest.mark.parametrize(
        ("content", "place"),
        [
            ('{"schema_version":1,"schema_version":1,"dataset_id":"d","samples":[]}', "$.schema_version"),
            (raw_sample('{"id":"a","id":"b","payload":{"text":"t","type":"c","expect":"clean"}}'), "$.samples[0].id"),
            (
                raw_sample('{"id":"a","payload":{"text":"t","type":"c","expect":"clean","text":"u"}}'),
                "$.samples[0].payload.text",
            ),
            (
                raw_sample('{"id":"a","\\u0069d":"a","payload":{"text":"t","type":"c","expect":"clean"}}'),
                "$.samples[0].id",
            ),
            (
                raw_sample('{"id":"a","payload":{"te\\u0078t":"t","text":"t","type":"c","expect":"clean"}}'),
                "$.samples[0].payload.text",
            ),
        ],
    )
    def test_for_a_key_that_is_repeated_also_after_unescaping(self, refused, content, place):
        line = refused(content)
        assert place in line and "repeated" in line

    @pytest.mark.parametrize(
        ("content", "word"),
        [
            ("", "empty"),
            (" \n", "empty"),
            ("{", "cut off"),
            (document()[:-1] + ",}", "not JSON"),
            (document() + document(), "second value"),
            (document() + "\n{}", "second value"),
            (document() + " x", "second value"),
            (f"[{document()}]", "must be an object"),
            ("1", "must be an object"),
            (document(samples={}), "must be a list"),
            (document(samples=[]), "no rows"),
            (document().replace('"demo"', "NaN"), "NaN"),
            (document().replace('"demo"', "-Infinity"), "Infinity"),
            (document().replace('"demo"', "'demo'"), "not JSON"),
            (raw_sample('{"id":"a","payload":{"text":"\\ud800","type":"c","expect":"clean"}}'), "lone surrogate"),
            (
                raw_sample('{"id":"a","payload":{"text":"\\udc00\\ud800","type":"c","expect":"clean"}}'),
                "lone surrogate",
            ),
            (raw_sample("[" * 200_000 + "]" * 200_000), "nested"),
            (raw_sample('{"a":' * 100 + "1" + "}" * 100), "nested"),
            (b"\xff\xfe" + document().encode("utf-16-le"), "UTF-16"),
            (document().encode().replace(b"demo", b"d\xffmo"), "UTF-8"),
            (document().encode().replace(b"{", b"\xef\xbb\xbf{", 2)[3:], "revision.json"),
        ],
    )
    def test_that_are_not_one_json_document(self, refused, content, word):
        assert word in refused(content)

    def test_for_a_byte_more_than_8_mib(self, refused):
        content = of_size(8 * MIB + 1)
        assert len(content) == 8 * MIB + 1
        assert "8,388,608 bytes" in refused(content)

    def test_for_one_sample_more_than_10000(self, refused):
        line = refused(document(*(sample(i) for i in range(10_001))))
        assert "$.samples" in line and "10,000" in line

    def test_without_showing_the_datum_that_stands_in_the_wrong_place(self, refused):
        card = "4111 1111 1111 1111"
        for content in (
            document(dict(sample(), id=f"{card} ")),
            document({**sample(), "payload": {"text": "t", "type": "pan", "expect": card}}),
            document(dict(sample(), payload=card)),
        ):
            assert card not in refused(content)

    def test_together_with_a_corpus(self, refused, project):
        project.rows([{"text": "a", "type": "clean", "expect": "clean"}], "corpus.jsonl")
        line = refused(document(), "--corpus", "corpus.jsonl")
        assert "--corpus" in line and "--revision" in line


class TestRevisionDocumentsAreTaken:
    def test_of_exactly_8_mib(self, project):
        content = of_size(8 * MIB)
        assert len(content) == 8 * MIB
        project.write("revision.json", content)
        report = project.report("guards", "--revision", "revision.json", "--max-errors", 0, code=3)
        assert report["suites"][0]["counts"]["scored"] == 1

    def test_of_exactly_10000_samples(self, project):
        samples = [
            sample(i, text="my secret" if i else "hello", expect="detect" if i else "clean") for i in range(10_000)
        ]
        project.write("revision.json", document(*samples))
        project.write("guard.py", GUARD)
        report = project.report("guards", "--revision", "revision.json", "--target", "python:guard:word")
        assert report["suites"][0]["counts"]["scored"] == 10_000

    def test_with_a_byte_order_mark_at_the_start_and_a_note(self, project):
        project.write("guard.py", GUARD)
        project.write("revision.json", b"\xef\xbb\xbf" + document(sample(1, "my secret", "detect")).encode())
        done = project("run", "guards", "--revision", "revision.json", "--target", "python:guard:word")
        assert "byte-order mark" in done.stdout + done.stderr

    def test_and_identified_by_the_sha256_of_their_exact_bytes(self, project):
        project.write("guard.py", GUARD)
        compact = json.dumps(revision(sample(1, "my secret", "detect", "secret")), separators=(",", ":"))
        for content in (compact, compact + "\n", compact + "\r\n", compact.replace(":", ": ")):
            project.write("revision.json", content)
            report = project.report("guards", "--revision", "revision.json", "--target", "python:guard:word")
            (dataset,) = report["suites"][0]["datasets"]
            assert dataset["id"] == "demo"
            assert dataset["revision_id"] == hashlib.sha256(content.encode()).hexdigest()

    def test_as_the_bytes_they_were_when_they_were_read(self, project):
        project.write("guard.py", GUARD)
        content = document(*(sample(i, "my secret", "detect", "secret") for i in range(40)))
        file = project.write("revision.json", content)
        report = project.report("guards", "--revision", "revision.json", "--target", "python:guard:replacing")
        assert file.read_text(encoding="utf-8") == "no JSON any more"
        (suite,) = report["suites"]
        assert suite["datasets"][0]["revision_id"] == hashlib.sha256(content.encode()).hexdigest()
        assert suite["measurements"]["tp"]["value"] == 40

    def test_like_the_one_on_the_seed_page(self, project):
        """The page's example, with its placeholder filled as it says."""
        page = revision(
            {"id": "sample-detect-1", "payload": {"text": "<SYNTHETIC_SECRET>", "type": "secret", "expect": "detect"}},
            {
                "id": "sample-clean-1",
                "payload": {"text": "ordinary synthetic text", "type": "clean", "expect": "clean"},
            },
            dataset_id="demo-guards",
        )
        secret = "sk-" + "abcdefghijklmnop12345678"
        page["samples"][0]["payload"]["text"] = "synthetic marker " + secret
        content = json.dumps(page, indent=2) + "\n"
        project.write("guards-revision.json", content)
        done = project("run", "guards", "--revision", "guards-revision.json", "--json")
        (suite,) = json.loads(done.stdout)["suites"]
        (dataset,) = suite["datasets"]
        assert dataset["id"] == "demo-guards"
        assert dataset["revision_id"] == hashlib.sha256(content.encode()).hexdigest()
        assert {name: suite["measurements"][name]["value"] for name in ("tp", "fp", "fn", "tn")} == {
            "tp": 1, "fp": 0, "fn": 0, "tn": 1,
        }  # fmt: skip
        assert secret not in done.stdout + done.stderr


class TestTheGates:
    def test_hold_on_the_shipped_corpus_by_the_lower_bounds(self, project):
        (suite,) = project.report("guards", "--bound", "lower")["suites"]
        assert [gate["gate"] for gate in suite["gates"] if "lower" in gate["gate"]] == [
            "lower(precision) >= 0.98", "lower(recall) >= 0.9",
        ]  # fmt: skip
        assert suite["measurements"]["precision"]["interval"][0] >= 0.98

    @pytest.mark.parametrize(
        ("rows", "nulls"),
        [
            ([("hello", "clean")], {"precision", "recall"}),
            ([("hello", "detect")], {"precision"}),
            ([("my secret", "clean")], {"recall"}),
        ],
    )
    def test_are_unmeasured_where_a_rate_would_be_0_of_0(self, project, rows, nulls):
        project.write("guard.py", GUARD)
        project.rows([{"text": text, "type": "secret", "expect": expect} for text, expect in rows], "corpus.jsonl")
        report = project.report(
            "guards", "--corpus", "corpus.jsonl", "--target", "python:guard:word",
            "--min-precision", 0, "--min-recall", 0, code=3,
        )  # fmt: skip
        measured = report["suites"][0]["measurements"]
        assert {name for name in ("precision", "recall") if measured[name]["value"] is None} == nulls
        assert all(measured[name]["reason"] for name in nulls)

    def test_fail_below_either_threshold(self, project):
        project.write("guard.py", GUARD)
        rows = [("my secret", "detect"), ("his secret", "clean"), ("hush", "detect"), ("hello", "clean")]
        project.rows([{"text": text, "type": "secret", "expect": expect} for text, expect in rows], "corpus.jsonl")
        run = ("guards", "--corpus", "corpus.jsonl", "--target", "python:guard:word")
        project.report(*run, "--min-precision", 0.5, "--min-recall", 0.5)
        project.report(*run, "--min-precision", 0.51, "--min-recall", 0.5, code=1)
        project.report(*run, "--min-precision", 0.5, "--min-recall", 0.51, code=1)

    @pytest.mark.parametrize("threshold", ["1.1", "-0.1", "nan", "inf", "much"])
    def test_refuse_a_threshold_that_is_no_rate(self, project, threshold):
        project("run", "guards", "--min-precision", threshold, code=2)


class TestTargetsOfTheUsers:
    ROWS = (
        {"id": "a", "text": "\U0001f511 my secret", "type": "secret", "expect": "detect"},
        {"id": "b", "text": "hello", "type": "clean", "expect": "clean"},
    )

    @pytest.mark.parametrize("spec", ["python:guard:word", f"exec:{sys.executable} guard.py"])
    def test_answer_with_findings_whose_offsets_count_code_points(self, project, spec):
        project.write("guard.py", GUARD)
        project.rows(self.ROWS, "corpus.jsonl")
        project("run", "guards", "--corpus", "corpus.jsonl", "--target", spec, "--outcomes", "log.jsonl")
        first, second = map(json.loads, (project.folder / "log.jsonl").read_text(encoding="utf-8").splitlines())
        assert first["details"]["findings"] == [{"type": "secret", "start": 5, "end": 11, "masked": "******"}]
        assert second["details"] == {"type": "clean"}

    @pytest.mark.parametrize(
        "answer",
        [
            [], 1, None, {}, {"findings": None}, {"findings": {}}, {"findings": [1]}, {"findings": [{}]},
            {"findings": [{"type": "pan", "start": 0}]},
            {"findings": [{"type": "pan", "start": 0, "end": 0}]},
            {"findings": [{"type": "pan", "start": 1, "end": 0}]},
            {"findings": [{"type": "pan", "start": -1, "end": 2}]},
            {"findings": [{"type": "pan", "start": 0, "end": 10_000}]},
            {"findings": [{"type": "pan", "start": 0.0, "end": 1}]},
            {"findings": [{"type": "pan", "start": True, "end": 2}]},
            {"findings": [{"type": "", "start": 0, "end": 2}]},
            {"findings": [{"type": "4111111111111111", "start": 0, "end": 2}]},
            {"findings": [{"type": "pan", "start": 0, "end": 2, "confidence": 1.5}]},
            {"findings": [{"type": "pan", "start": 0, "end": 2, "evidence": ["4111111111111111"]}]},
        ],
    )  # fmt: skip
    def test_that_answer_in_another_shape_are_errors_of_their_rows(self, project, answer):
        project.write("guard.py", GUARD)
        project.rows([{"text": json.dumps(answer), "type": "pan", "expect": "detect"}], "corpus.jsonl")
        report = project.report("guards", "--corpus", "corpus.jsonl", "--target", "python:guard:echoing", code=3)
        assert report["suites"][0]["counts"]["error"] == 1
        assert "4111111111111111" not in json.dumps(report)

    def test_that_quote_the_text_in_an_error_do_not_get_it_shown(self, project):
        project.write("guard.py", GUARD)
        secret = "sk-" + "abcdefghijklmnop12345678"
        texts = ["card 4111 1111 1111 1111", f"use {secret} now", "ИНН 7707083893", "IBAN DE89370400440532013000"]
        project.rows([{"text": text, "type": "pan", "expect": "detect"} for text in texts], "corpus.jsonl")
        done = project(
            "run", "guards", "--corpus", "corpus.jsonl", "--target", "python:guard:quoting",
            "--outcomes", "log.jsonl", "--json", "--debug", code=3,
        )  # fmt: skip
        shown = done.stdout + done.stderr + (project.folder / "log.jsonl").read_text(encoding="utf-8")
        assert "cannot scan" in shown
        for datum in ("4111 1111 1111 1111", secret, "7707083893", "DE89370400440532013000"):
            assert datum not in shown

    def test_are_cached_to_the_same_run(self, project):
        project.rows(self.ROWS, "corpus.jsonl")
        run = ("guards", "--corpus", "corpus.jsonl", "--gate", "coverage == 1")
        ids = {
            json.loads(project("run", *run, *more, "--json", code=None).stdout)["run_id"]
            for more in ((), ("--cache",), ("--cache",), ("--jobs", 2))
        }
        assert len(ids) == 1


def test_no_report_log_or_cache_shows_what_was_found(project):
    """The whole shipped corpus with every report; the values of its findings are looked for in every file."""
    reports = [f"{kind}=report.{kind}" for kind in ("text", "json", "markdown", "junit", "html")]
    arguments = [part for report in reports for part in ("--report", report)]
    # Missed on purpose: what went wrong is shown at more length than what went right.
    project.write("none.py", "def nothing(request):\n    return {'findings': []}\n")
    outputs = [
        project("run", "guards", "--strength", "warn", *more, "--json", "--outcomes", f"log{number}.jsonl", code=None)
        for number, more in enumerate((arguments, ["--cache"], ["--target", "python:none:nothing"]))
    ]
    shown = {(output.stdout + output.stderr).encode() for output in outputs}
    shown |= {file.read_bytes() for file in project.folder.rglob("*") if file.is_file() and file.suffix != ".bin"}
    everything = b"\n".join(shown)
    assert b"<testcase" in everything and b"<html" in everything
    rows = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    texts = [row["text"] for row in rows]
    data = {
        value
        for text, findings in zip(texts, scan_many(texts, strength="warn"), strict=True)
        for finding in findings
        if finding.type != "injection"
        for value in (finding.value, text[finding.start : finding.end])
        if len(value) >= 8
    }
    assert len(data) > 1000
    assert [value for value in data if value.encode() in everything] == []
