"""Systems under test. A target answers JSON requests with JSON answers, whatever it is and wherever it runs.

`open_target` turns what the user wrote (`python:bot:answer`, `exec:./bot`, `https://...`, `replay:FILE`) into one; a
suite wraps its reference system in a `CallableTarget`. `TargetEvaluator` makes an evaluator of a target and the
suite's own `judge`, which reads answers with the `expect_...` functions. A failure of the system under test is an
answer with a `failure`, and in the end an `error` outcome that says what came back; it is never an exception, a miss
or a pass.
"""

from yb_eval.targets.answers import (
    AnswerError,
    expect_boolean,
    expect_choice,
    expect_list,
    expect_number,
    expect_object,
    expect_probability,
    expect_text,
)
from yb_eval.targets.cache import CachedTarget
from yb_eval.targets.callables import CallableTarget
from yb_eval.targets.evaluator import TargetEvaluator
from yb_eval.targets.fingerprints import file_digest
from yb_eval.targets.opening import SCHEMES, open_target
from yb_eval.targets.secrets import mask
from yb_eval.targets.settings import Settings

__all__ = [
    "SCHEMES",
    "AnswerError",
    "CachedTarget",
    "CallableTarget",
    "Settings",
    "TargetEvaluator",
    "expect_boolean",
    "expect_choice",
    "expect_list",
    "expect_number",
    "expect_object",
    "expect_probability",
    "expect_text",
    "file_digest",
    "mask",
    "open_target",
]
