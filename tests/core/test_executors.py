"""Executors: an ordered map with a bounded window, whoever does the work."""

import os
import threading
import time

import pytest

from yb_eval.errors import EvaluationError, UsageError
from yb_eval.executors import ProcessExecutor, SerialExecutor, ThreadExecutor, choose

EXECUTORS = [SerialExecutor(), ThreadExecutor(3), ProcessExecutor(2)]


def square(number):
    return number * number


def out_of_order(number):
    time.sleep((7 - number % 7) / 500)
    return number


def fail_at_five(number):
    if number == 5:
        raise ValueError("five")
    return number


def die(number):
    os._exit(3)


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda e: type(e).__name__)
def test_results_come_in_the_order_of_the_items(executor):
    assert list(executor.map(square, iter(range(40)))) == [n * n for n in range(40)]
    assert list(executor.map(out_of_order, iter(range(15)))) == list(range(15))
    assert list(executor.map(square, iter(()))) == []


@pytest.mark.parametrize("executor", EXECUTORS, ids=lambda e: type(e).__name__)
def test_an_exception_ends_the_iteration_after_what_came_before_it(executor):
    seen = []
    with pytest.raises(ValueError, match="five"):
        seen.extend(executor.map(fail_at_five, iter(range(10))))
    results = executor.map(fail_at_five, iter(range(10)))
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]


def test_no_more_items_are_taken_than_a_window_ahead():
    taken = []

    def items():
        for number in range(1_000):
            taken.append(number)
            yield number

    results = ThreadExecutor(2).map(square, items())
    for _ in range(10):
        next(results)
    assert len(taken) <= 10 + 2 * 2 + 1
    results.close()


def test_closing_early_stops_what_has_not_begun():
    before = threading.active_count()
    results = ThreadExecutor(4).map(out_of_order, iter(range(1_000)))
    next(results)
    results.close()
    assert threading.active_count() == before


def test_a_worker_process_that_dies_is_one_error():
    with pytest.raises(EvaluationError, match="a worker process died"):
        list(ProcessExecutor(2).map(die, iter(range(4))))


def test_work_that_cannot_be_sent_to_a_process_is_refused_with_a_way_out():
    with pytest.raises(UsageError, match="--executor threads"):
        ProcessExecutor(2).map(lambda number: number, iter(range(4)))


def test_one_job_is_serial_and_more_are_what_the_evaluator_gains_from():
    offered = {
        "serial": lambda jobs: "serial",
        "threads": lambda jobs: "threads",
        "processes": lambda jobs: "processes",
    }
    assert choose(None, 1, "processes", offered) == "serial"
    assert choose(None, 2, "processes", offered) == "processes"
    assert choose("threads", 1, "processes", offered) == "threads"
    with pytest.raises(UsageError, match="did you mean 'threads'"):
        choose("thread", 1, "serial", offered)
