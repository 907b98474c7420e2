"""Systems under test. A target answers JSON requests with JSON answers, whatever it is and wherever it runs.

`open_target` turns what the user wrote (`python:bot:answer`, `exec:./bot`, `https://...`, `replay:FILE`) into one; a
suite wraps its reference system in a `CallableTarget`. `TargetEvaluator` makes an evaluator of a target and the
suite's own `judge`, which reads answers with the `expect_...` functions. A failure of the system under test is an
answer with a `failure`, and in the end an `error` outcome that says what came back; it is never an exception, a miss
or a pass.
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.targets.answers import AnswerError as AnswerError
    from yb_eval.targets.answers import expect_boolean as expect_boolean
    from yb_eval.targets.answers import expect_choice as expect_choice
    from yb_eval.targets.answers import expect_list as expect_list
    from yb_eval.targets.answers import expect_number as expect_number
    from yb_eval.targets.answers import expect_object as expect_object
    from yb_eval.targets.answers import expect_probability as expect_probability
    from yb_eval.targets.answers import expect_text as expect_text
    from yb_eval.targets.cache import CachedTarget as CachedTarget
    from yb_eval.targets.callables import CallableTarget as CallableTarget
    from yb_eval.targets.evaluator import TargetEvaluator as TargetEvaluator
    from yb_eval.targets.fingerprints import file_digest as file_digest
    from yb_eval.targets.opening import SCHEMES as SCHEMES
    from yb_eval.targets.opening import check_target as check_target
    from yb_eval.targets.opening import open_target as open_target
    from yb_eval.targets.secrets import mask as mask
    from yb_eval.targets.settings import Settings as Settings

__getattr__, __all__ = lazily(
    __name__,
    {
        "answers": [
            "AnswerError",
            "expect_boolean",
            "expect_choice",
            "expect_list",
            "expect_number",
            "expect_object",
            "expect_probability",
            "expect_text",
        ],
        "cache": ["CachedTarget"],
        "callables": ["CallableTarget"],
        "evaluator": ["TargetEvaluator"],
        "fingerprints": ["file_digest"],
        "opening": ["SCHEMES", "check_target", "open_target"],
        "secrets": ["mask"],
        "settings": ["Settings"],
    },
)
