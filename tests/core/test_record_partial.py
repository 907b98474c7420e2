"""The log of a run that has not ended: what was written is kept, what was changed since then is not."""

import hashlib
import os
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.errors import StoreError, UsageError
from yb_eval.model import Judgement, Outcome
from yb_eval.record import Store, decode, encode
from yb_eval.record.partial import begin, discard, interrupted, resume

PLAN = {"suite": "toy", "seed": 1}
BATCHES = [[encode(Outcome(f"r{b}{n}", correct=n % 2 == 0)) for n in range(3)] for b in range(4)]
LINES = [line.rstrip(b"\n") for batch in BATCHES for line in batch]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def attempt(store, batches=BATCHES):
    """Writes batches and stops there; returns the log and its digests."""
    with begin(store, "plan", PLAN) as log:
        for batch in batches:
            log.write(b"".join(batch), len(batch))
    return log.path, digests(log.path)


def digests(path: Path) -> Path:
    return path.with_name(f"{path.name}.digests")


def kept(store, repeats=1):
    with resume(store, "plan", PLAN) as log:
        return [line for lines in log.kept(repeats) for line in lines]


def resumed(store, repeats=1, batches=BATCHES):
    """Goes on from what is kept, to the end; returns what was kept and the finished log's name."""
    with resume(store, "plan", PLAN) as log:
        found = [line for lines in log.kept(repeats) for line in lines]
        lines = [line for batch in batches for line in batch][len(found) :]
        for start in range(0, len(lines), 2 * repeats):
            part = lines[start : start + 2 * repeats]
            log.write(b"".join(part), len(part))
        assert log.count == sum(map(len, batches))
        assert log.size == sum(len(line) for batch in batches for line in batch)
        return found, log.finish()


WHOLE = hashlib.sha256(b"".join(line for batch in BATCHES for line in batch)).hexdigest()


def test_each_write_leaves_the_size_and_the_digest_of_all_that_is_written(store):
    log, sums = attempt(store)
    data = log.read_bytes()
    for line, batches in zip(sums.read_bytes().splitlines(), range(1, 5), strict=True):
        size, digest = line.split(b" ")
        part = b"".join(line for batch in BATCHES[:batches] for line in batch)
        assert int(size) == len(part) and digest.decode() == hashlib.sha256(part).hexdigest()
    assert data == part


def test_what_is_whole_is_kept_and_the_rest_is_written_behind_it(store):
    attempt(store, BATCHES[:2])
    assert resumed(store) == (LINES[:6], WHOLE)
    assert store.get(WHOLE).splitlines() == LINES


def test_a_resumed_run_is_resumed(store):
    attempt(store, BATCHES[:1])
    for batch in BATCHES[1:3]:
        with resume(store, "plan", PLAN) as log:
            before = sum(len(lines) for lines in log.kept(1))
            log.write(b"".join(batch), len(batch))
            assert log.count == before + 3
    assert resumed(store) == (LINES[:9], WHOLE)


def test_lines_whose_digest_was_not_written_any_more_are_evaluated_again(store):
    log, sums = attempt(store, BATCHES[:3])
    sums.write_bytes(b"".join(sums.read_bytes().splitlines(keepends=True)[:2]))
    assert resumed(store) == (LINES[:6], WHOLE)
    assert not log.exists() and not sums.exists()


def test_digests_of_lines_that_are_not_there_are_ignored_and_cut_off(store):
    log, sums = attempt(store, BATCHES[:3])
    recorded = sums.read_bytes().splitlines(keepends=True)
    os.truncate(log, log.stat().st_size - 1)
    assert kept(store) == LINES[:6]
    assert sums.read_bytes() == b"".join(recorded[:2])
    assert log.read_bytes() == b"".join(BATCHES[0] + BATCHES[1])
    assert resumed(store) == (LINES[:6], WHOLE)


@pytest.mark.parametrize("damage", ["deleted", "empty"])
def test_a_log_without_its_digests_is_not_trusted(store, damage):
    _, sums = attempt(store)
    sums.unlink() if damage == "deleted" else sums.write_bytes(b"")
    assert resumed(store) == ([], WHOLE)


def test_a_log_that_ends_before_its_first_digest_holds_nothing(store):
    log, sums = attempt(store)
    os.truncate(log, len(BATCHES[0][0]))
    with resume(store, "plan", PLAN) as again:
        assert list(again.kept(1)) == []
    assert not log.exists() and not sums.exists()


def test_half_a_digest_at_the_end_is_cut_off(store):
    _, sums = attempt(store, BATCHES[:1])
    whole = sums.read_bytes()
    for half in (whole[:-1], whole[:4]):
        sums.write_bytes(half)
        attempted = resumed(store)
        assert attempted == ([], WHOLE)
        _, sums = attempt(store, BATCHES[:1])
    with sums.open("ab") as file:
        file.write(whole[:-1])
    assert kept(store) == LINES[:3] and sums.read_bytes() == whole


def edit(path: Path, old: bytes, new: bytes, nth: int = 0) -> None:
    parts = path.read_bytes().split(old)
    assert len(parts) > nth + 1
    path.write_bytes(old.join(parts[: nth + 1]) + new + old.join(parts[nth + 1 :]))


@pytest.mark.parametrize(("old", "new"), [(b'"correct":true', b'"correct":false'), (b'"scored"', b'"scorod"')])
def test_a_log_that_was_changed_before_its_first_digest_is_refused_and_kept_as_it_is(store, old, new):
    log, sums = attempt(store)
    edit(log, old, new)
    before = log.read_bytes(), sums.read_bytes()
    with pytest.raises(StoreError, match="changed after they were written") as caught:
        kept(store)
    assert caught.value.where == str(log) and "run it anew" in str(caught.value) and "\n" not in str(caught.value)
    assert (log.read_bytes(), sums.read_bytes()) == before
    with pytest.raises(StoreError, match="changed after they were written"):
        kept(store)


def test_what_was_changed_behind_a_digest_that_holds_is_evaluated_again(store):
    log, _ = attempt(store)
    edit(log, b'"correct":true', b'"correct":false', nth=4)  # in the third of four batches
    assert resumed(store) == (LINES[:6], WHOLE)


@pytest.mark.parametrize("line", [b"what is this\n", b"-5 " + b"0" * 64 + b"\n", b"0 " + b"0" * 64 + b"\n", b"\n"])
@pytest.mark.parametrize("place", [0, 1])
def test_a_digest_that_does_not_hold_before_one_that_does_is_refused(store, line, place):
    _, sums = attempt(store)
    recorded = sums.read_bytes().splitlines(keepends=True)
    for behind in (recorded[place:], recorded[place + 1 :]):
        sums.write_bytes(b"".join([*recorded[:place], line, *behind]))
        with pytest.raises(StoreError, match="changed after they were written"):
            kept(store)


def test_a_digest_for_half_a_line_does_not_hold(store):
    log, sums = attempt(store)
    half = log.read_bytes()[:-5]
    log.write_bytes(half)
    sums.write_bytes(b"%d %b\n" % (len(half), hashlib.sha256(half).hexdigest().encode()))
    with pytest.raises(StoreError, match="changed after they were written"):
        kept(store)


def test_with_repeats_only_whole_samples_are_kept(store):
    attempt(store, BATCHES[:3])  # 9 lines, of 2 a sample: the third batch ends in the midst of one, the second does not
    assert resumed(store, repeats=2) == (LINES[:6], WHOLE)


def test_samples_that_lie_over_several_writes_are_kept_whole(store):
    attempt(store, [[line] for batch in BATCHES[:3] for line in batch])
    assert resumed(store, repeats=4) == (LINES[:8], WHOLE)


def test_many_small_writes_come_back_in_large_batches_and_in_order(store):
    rows = [[encode(Outcome(f"r{n}"))] for n in range(2_500)]
    attempt(store, rows)
    with resume(store, "plan", PLAN) as log:
        found = list(log.kept(1))
    assert [len(lines) for lines in found] == [1_000, 1_000, 500]
    assert [orjson.loads(line)["id"] for lines in found for line in lines] == [f"r{n}" for n in range(2_500)]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_cut_or_changed_anywhere_nothing_is_kept_but_what_was_written(tmp_path_factory, data):
    """Whatever a kill, a full disk or an editor leaves of the two files: kept is how the log began, or the run is
    refused; and going on ends with the same bytes."""
    store = Store(tmp_path_factory.mktemp("store"))
    for path in attempt(store):
        content = path.read_bytes()
        place = data.draw(st.integers(0, len(content) - 1))
        cut, put = data.draw(st.tuples(st.integers(0, 200), st.binary(max_size=4)))
        shape = data.draw(st.sampled_from(["as it was", "cut off", "changed"]))
        if shape == "cut off":
            os.truncate(path, place)
        elif shape == "changed":
            path.write_bytes(content[:place] + put + content[place + cut :])
    try:
        found, name = resumed(store, repeats=data.draw(st.sampled_from([1, 2, 3])))
    except StoreError as error:
        assert "changed after they were written" in str(error)
    else:
        assert found == LINES[: len(found)] and name == WHOLE


def test_a_log_that_could_not_be_read_through_is_not_removed(store):
    log, sums = attempt(store)
    with pytest.raises(KeyboardInterrupt), resume(store, "plan", PLAN):
        raise KeyboardInterrupt
    assert log.exists() and sums.exists()
    assert resumed(store) == (LINES, WHOLE)


def test_an_attempt_that_wrote_nothing_leaves_nothing(store):
    log, sums = attempt(store, [])
    assert not log.exists() and not sums.exists()
    with pytest.raises(UsageError, match="no interrupted run"):
        resume(store, "plan", PLAN)


def test_no_digests_outlive_their_log(store):
    log, sums = attempt(store)
    other, others = attempt(store)
    log.unlink()  # as a run does that was killed as it ended
    discard(store, "plan")
    assert not any(path.exists() for path in (log, sums, other, others, log.parent))
    assert not interrupted(store, "plan")


def test_the_log_of_a_living_run_and_its_digests_are_left_alone(store):
    attempt(store)
    with begin(store, "plan", PLAN) as living:
        living.write(BATCHES[0][0], 1)
        discard(store, "plan")
        assert living.path.exists() and digests(living.path).exists()
        with pytest.raises(UsageError, match="still going on"):
            resume(store, "plan", PLAN)
    assert kept(store) == LINES[:1]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("full", ["_file", "_digests"])
def test_a_full_disk_is_one_line_and_what_was_written_before_is_kept(store, full):
    with (
        Path("/dev/full").open("ab", buffering=0) as device,
        pytest.raises(StoreError, match="cannot write: No space left"),
        begin(store, "plan", PLAN) as log,
    ):
        log.write(b"".join(BATCHES[0]), 3)
        getattr(log, full).close()
        setattr(log, full, device)
        log.write(b"".join(BATCHES[1]), 3)
    assert resumed(store) == (LINES[:3], WHOLE)


def test_digests_that_cannot_be_written_are_one_line(store):
    _, sums = attempt(store)
    sums.unlink()
    sums.mkdir()
    log = resume(store, "plan", PLAN)
    with pytest.raises(StoreError, match="cannot write"), log:
        pass
    sums.rmdir()
    assert resumed(store) == ([], WHOLE), "the lock was given back"


LINE = orjson.loads(encode(Outcome("a", correct=True, judgements={"j": Judgement(correct=True)})))


@pytest.mark.parametrize(
    "line",
    [
        b"3",
        b"{}",
        b"[]",
        b"null",
        b'"id"',
        b"",
        b'{"id":',
        {**LINE, "status": "scorod"},
        {**LINE, "status": None},
        {**LINE, "status": ["scored"]},
        {**LINE, "status": "error"},  # which has no reason, and is correct
        {**LINE, "correct": 1},
        {**LINE, "id": 3},
        {**LINE, "tags": "ab"},
        {**LINE, "tags": [3]},
        {**LINE, "tags": None},
        {**LINE, "details": [1]},
        {**LINE, "repeat": "0"},
        {**LINE, "repeat": -1},
        {**LINE, "score": "1"},
        {**LINE, "confidence": 2},
        {**LINE, "confidence": "1"},
        {**LINE, "judgements": [1]},
        {**LINE, "judgements": {"j": 1}},
        {**LINE, "judgements": {"j": {}}},
        {**LINE, "judgements": {"j": {"status": "scorod"}}},
        {**LINE, "judgements": {"j": {"status": "scored", "nonsense": 1}}},
        *({key: value for key, value in LINE.items() if key != left_out} for left_out in LINE if left_out != "judgements"),
    ],
)  # fmt: skip
def test_what_is_no_outcome_is_told_as_such(line):
    with pytest.raises(ValueError, match=r"^not an outcome: .{1,200}$"):
        decode(line)
    if isinstance(line, dict):
        with pytest.raises(ValueError, match=r"^not an outcome: "):
            decode(orjson.dumps(line))


def test_a_long_fault_is_cut_short():
    with pytest.raises(ValueError) as caught:
        decode({**LINE, "status": "x" * 10_000})
    assert len(str(caught.value)) < 200
