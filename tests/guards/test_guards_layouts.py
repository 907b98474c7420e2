"""Layouts of digit groups: where numbers may stand in them depends on no digit, no memory and no size of the text."""

from __future__ import annotations

import gc
import re
import time
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_guards.detectors import layouts
from yb_eval_guards.detectors.digits import Digits, joined, standing, stretches
from yb_eval_guards.detectors.layouts import MAX_DIGITS, MIN_DIGITS, Part, layout_of, parts

SEPARATORS = [" ", "-", ".", "\n", "\t", "\r\n", "-\n", " - ", "\n ", "   "]
SHAPES = [[4] * 4, [4, 4, 4, 4, 3], [4, 6, 5], [4, 6, 4], [3, 3, 3, 2], [8, 8], [1] * 16]


@st.composite
def chains(draw: st.DrawFn, *, most: int = 24) -> str:
    """Groups of digits and what stands between them: the shapes that mean something, and any others."""
    sizes = list(
        chain.from_iterable(
            draw(
                st.lists(
                    st.one_of(
                        st.sampled_from(SHAPES),
                        st.lists(st.integers(1, 19), min_size=1, max_size=3),
                        st.integers(1, 6).map(lambda size: [size] * 4),
                    ),
                    min_size=1,
                    max_size=4,
                )
            )
        )
    )[:most]
    common = draw(st.sampled_from(SEPARATORS))
    written = ""
    for place, size in enumerate(sizes):
        if place:
            written += draw(st.sampled_from(SEPARATORS)) if draw(st.integers(0, 4)) == 4 else common
        written += draw(st.text(alphabet="0123456789", min_size=size, max_size=size))
    return written


def _worked_out(layout: str, grouped: bool, labelled: bool) -> list[Part]:
    return list(layouts._parts(layout, grouped, labelled))


def _numbers(text: str, *, labelled: bool) -> list[Digits]:
    """Every number a text may hold, whatever its checksum."""
    found = []
    for place, end in stretches(text):
        stretch = text[place:end]
        digits = joined(stretch)
        for part in parts(layout_of(stretch), True, labelled):
            number = standing(text, place, part, digits)
            if number is not None:
                found.append(number)
    return found


@settings(max_examples=400, deadline=None)
@given(chains(), st.booleans(), st.booleans())
def test_what_is_remembered_is_what_would_be_worked_out(written: str, grouped: bool, labelled: bool) -> None:
    layout = layout_of(written)
    expected = _worked_out(layout, grouped, labelled)
    assert list(parts(layout, grouped, labelled)) == expected
    assert list(parts(layout, grouped, labelled)) == expected  # remembered by now, where it is short
    assert set(parts(layout, False, labelled)) <= set(parts(layout, True, False)) <= set(parts(layout, True, True))
    assert all(not part.shape for part in parts(layout, False, labelled))


def test_a_layout_at_the_edge_of_what_is_remembered_is_read_like_any_other() -> None:
    for groups in range(10, 16):
        layout = " ".join(repeat("0000", groups))
        for cut in range(5):
            shorter = layout[: len(layout) - cut].rstrip()
            for labelled in (False, True):
                assert list(parts(shorter, True, labelled)) == _worked_out(shorter, True, labelled)


def test_only_short_layouts_are_remembered_and_not_without_end() -> None:
    before = layouts._known_parts.cache_info()
    assert before.maxsize is not None
    list(parts(" ".join(repeat("0000", 1000)), True, True))
    assert layouts._known_parts.cache_info().currsize == before.currsize


@settings(max_examples=400, deadline=None)
@given(chains(), st.booleans())
def test_a_part_names_its_characters_and_its_digits(written: str, labelled: bool) -> None:
    together = re.sub("[^0-9]", "", written)
    for part in parts(layout_of(written), True, labelled):
        inside = written[part.start : part.end]
        assert re.sub("[^0-9]", "", inside) == together[part.first : part.last]
        assert inside[0].isdigit() and inside[-1].isdigit()
        assert MIN_DIGITS <= part.last - part.first <= MAX_DIGITS
        # A part is made of whole groups.
        assert not written[part.start - 1 : part.start].isdigit() and not written[part.end : part.end + 1].isdigit()
        if not part.shape:
            assert inside.isdigit()
        elif part.shape not in {"single", "broken"}:
            assert part.shape == "-".join(str(len(group)) for group in re.findall("[0-9]+", inside))


@settings(max_examples=300, deadline=None)
@given(chains(), st.booleans(), st.sampled_from(["", "x", "card ", "\n", "д", "(", "0x"]))
def test_numbers_stand_where_their_digits_are(written: str, labelled: bool, before: str) -> None:
    text = f"{before}{written} ,"
    for number in _numbers(text, labelled=labelled):
        assert re.sub("[^0-9]", "", text[number.start : number.end]) == number.digits


@settings(max_examples=300, deadline=None)
@given(chains(), st.booleans())
def test_other_digits_in_the_same_layout_are_split_alike(written: str, labelled: bool) -> None:
    def places(text: str) -> list[tuple[object, ...]]:
        return [(n.start, n.end, n.shape, n.glued, n.continues) for n in _numbers(text, labelled=labelled)]

    assert places(written) == places(layout_of(written)) == places(re.sub("[0-9]", "7", written))


def test_a_stretch_may_hold_runs_and_chains_side_by_side() -> None:
    stretch = "500100732259   4111 1111 1111 1111    12345678901234567890 1234567890"
    found = [(stretch[part.start : part.end], part.shape) for part in parts(layout_of(stretch), True, False)]
    assert found == [("500100732259", ""), ("1234567890", ""), ("4111 1111 1111 1111", "4-4-4-4")]


@pytest.mark.parametrize(
    ("written", "unlabelled"),
    [
        ("4111 1111 1111 1111", [("4-4-4-4", False)]),
        ("4111-1111-1111-1111", [("4-4-4-4", False)]),
        ("4111 1111 1111 1111 123", [("4-4-4-4-3", False), ("4-4-4-4", False)]),
        ("4111 1111 1111 1111 1111", [("4-4-4-4", True)]),
        ("4111 1111 1111 1111 4111 1111 1111 1111", [("4-4-4-4", False)] * 2),
        ("12-4111-1111-1111-1111", [("4-4-4-4", True)]),
        ("12 4111 1111 1111 1111", [("4-4-4-4", False)]),
        ("3782 822463 10005", [("4-6-5", False)]),
        ("112-233-445 95", [("3-3-3-2", False)]),
        ("41111111\n11111111", [("broken", False)]),
        ("41111111-\r\n 11111111", [("broken", False)]),
        ("41111111 11111111", []),
        (" ".join("4111111111111111"), [("single", False)]),
        (" ".join("41111111111111"), []),
        ("2024-01-02 10 20 30", []),
    ],
)
def test_unlabelled_groups_are_numbers_in_few_shapes(written: str, unlabelled: list[tuple[str, bool]]) -> None:
    found = [(part.shape, part.continues) for part in parts(layout_of(written), True, False)]
    assert found == unlabelled


def test_a_label_makes_every_split_of_the_first_digits_a_number() -> None:
    found = [(part.first, part.last, part.shape) for part in parts("00 0000 0000 00 00000", True, True)]
    assert found == [(0, 10, "2-4-4"), (0, 12, "2-4-4-2"), (0, 17, "2-4-4-2-5")]


HOSTILE = [
    "1 ",
    "12 ",
    "1234 ",
    "1-",
    "1.2-",
    "1 2",
    "4111 1111 1111 1111 ",
    "111 222 333 44 ",
    "1\r\n",
    "1   ",
    "9" * 20 + " ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_a_chain_and_no_faster(unit: str) -> None:
    small, factor, allowed = 20_000, 8, 30  # a quadratic reading would take 64 times as long

    def least(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        times = []
        for _ in range(4):
            started = time.process_time()
            _numbers(text, labelled=True)
            times.append(time.process_time() - started)
        return min(times)

    gc.disable()
    try:
        assert least(small * factor) < allowed * max(least(small), 0.0005)
    finally:
        gc.enable()
