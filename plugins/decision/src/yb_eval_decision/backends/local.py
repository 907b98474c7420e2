"""The backend `local`: a small model inside the package. Offline, free, and the same to the last bit everywhere.

It answers the few kinds of questions that can be answered without understanding language (`Task`) and abstains on all others,
and wherever it is not sure. How good it is, measured on held-out data: docs/decision-local.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from yb_eval_decision.backends.base import Backend, Price, Request, Response
from yb_eval_decision.local.model import load_model
from yb_eval_decision.local.tasks import Reader
from yb_eval_decision.results import Usage

#: The modules that make an answer out of a state and the weights.
_CODE = (
    "bearing", "language", "lexicon", "model", "ngrams", "overlap", "parts", "reading", "supporting", "tasks", "text", "words",
)  # fmt: skip


class LocalBackend(Backend):
    """Answers with the model that ships with the package.

    `fingerprint` is the sha256 of the weights and of the code that reads them: neither changes unseen. Raises `UsageError`
    for a damaged weights file. Thread-safe. Words and short sentences are remembered as they are read, a bounded number of them
    for the whole process; that makes later calls faster and changes no answer.
    """

    spec = "local"
    price = Price(input=0.0)
    batch = 256

    def __init__(self) -> None:
        self._model = load_model()
        self.fingerprint = _fingerprint(self._model.digest)
        self._name = f"yb-eval-local-{self._model.digest[:12]}"

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        """One response for each request, in order; which requests are in a call together makes no difference."""
        reader = Reader(self._model)
        return [
            Response(
                answers={id_: reader.answer(question, request.state) for id_, question in request.questions.items()},
                usage=Usage(requests=1, questions=len(request.questions), cost_usd=0.0, backend=self.spec),
                model=self._name,
            )
            for request in requests
        ]


@lru_cache(maxsize=4)
def _fingerprint(weights: str) -> str:
    digest = hashlib.sha256(f"yb-eval/1/decision-local\0{weights}".encode())
    for name in _CODE:
        # Line ends do not change what runs.
        source = files("yb_eval_decision.local").joinpath(f"{name}.py").read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"\0{name}\0".encode() + source)
    return digest.hexdigest()
