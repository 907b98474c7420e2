"""A calibration that is kept: read strictly from its file, refused for what it was not made for, and applied to results.

It belongs to one backend (by fingerprint), the models that answered, and each eval as it was (its class, version and arguments).
Nothing is assumed of any other: a threshold of one model says nothing about the next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import orjson
from attrs import evolve, field, frozen

from yb_eval import UsageError
from yb_eval.digest import HEX_ID, identifiable, identify
from yb_eval.errors import nearest, printable, shorten
from yb_eval.record.files import atomic
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.calibration.bands import orientation
from yb_eval_decision.calibration.curves import Curve, read_curve
from yb_eval_decision.calibration.observing import unusable, vetoed
from yb_eval_decision.calibration.report import Report
from yb_eval_decision.eval import Eval
from yb_eval_decision.questions import ENOUGH, Question
from yb_eval_decision.results import EvalReport, Result

SCHEMA = "yb-eval-decision/calibration/1"
#: The largest file that is read.
_LIMIT = 8 << 20
_AGAIN = "run yb-eval decision calibrate again"

Orientation = Literal["p", "1-p"]


@frozen(slots=True, kw_only=True)
class SavedEval:
    """What is kept of one eval. `identity` is that of the eval; `threshold` is `None` where no threshold kept the limit; `asks`
    says how the probability of its question gives the score."""

    identity: str
    curve: Curve
    threshold: float | None = None
    band: tuple[float, float] | None = None
    asks: Orientation | None = None
    numbers: Mapping[str, Any] = field(factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {
            "identity": self.identity, "fit": self.curve.to_dict(), "threshold": self.threshold,
            "band": None if self.band is None else list(self.band), "asks": self.asks, "numbers": dict(self.numbers),
        }  # fmt: skip


def eval_identity(one: Eval) -> str:
    """64 hex characters for an eval as it is: class, version and arguments, its name in a run aside."""
    told = one.identity()
    arguments = {name: value for name, value in told["arguments"].items() if name != "name"}
    return identify("decision-eval", identifiable({**told, "arguments": arguments}))


@frozen(slots=True, kw_only=True)
class Calibration:
    """A saved calibration. `path` is where it was read from, for messages; it is no part of its identity."""

    backend: str
    fingerprint: str
    models: tuple[str, ...]
    revision_id: str
    settings: Mapping[str, Any]
    evals: Mapping[str, SavedEval]
    path: str = field(default="calibration", eq=False)

    # Made and kept

    @classmethod
    def of(cls, report: Report, evals: Mapping[str, Eval]) -> Calibration:
        """What is kept of a report: the evals that have a curve."""
        kept = {
            name: SavedEval(
                identity=eval_identity(evals[name]),
                curve=one.curve,
                threshold=one.threshold,
                band=one.band,
                asks=orientation(evals[name]),  # type: ignore[arg-type]
                numbers=_numbers(one.to_dict()),
            )
            for name, one in report.evals.items()
            if one.curve is not None and one.fit_n
        }
        return cls(
            backend=report.backend,
            fingerprint=report.fingerprint,
            models=tuple(sorted(report.observed.models)),
            revision_id=report.revision_id,
            settings=report.settings.to_dict(),
            evals=kept,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "backend": {"spec": self.backend, "fingerprint": self.fingerprint},
            "models": list(self.models),
            "data": {"revision_id": self.revision_id},
            "settings": dict(self.settings),
            "evals": {name: one.to_dict() for name, one in sorted(self.evals.items())},
        }

    def save(self, path: str | Path) -> None:
        """Writes the file, whole or not at all. The same calibration gives the same bytes. Raises `StoreError`."""
        with atomic(Path(path)) as file:
            file.write(orjson.dumps(self.to_dict(), option=orjson.OPT_INDENT_2) + b"\n")

    @classmethod
    def load(cls, path: str | Path) -> Calibration:
        """The calibration in a file. Raises `UsageError` that says what is wrong with it, where, and how to mend it."""
        where = printable(str(path))
        try:
            with Path(path).open("rb") as file:
                data = file.read(_LIMIT + 1)
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=where) from error
        if len(data) > _LIMIT:
            raise UsageError("over 8 MiB, no calibration is so long", where=where)
        try:
            value = orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise UsageError(f"no JSON: {error}", where=where, hint=_AGAIN) from error
        return _read(value, where)

    # Whether it fits

    def identity(self) -> dict[str, Any]:
        """What decides its results, as JSON values: for fingerprints."""
        kept = self.to_dict()
        return {
            "schema": SCHEMA, "backend": self.fingerprint, "models": list(self.models),
            "evals": {name: {part: one[part] for part in ("identity", "fit", "threshold", "band")}
                      for name, one in kept["evals"].items()},
        }  # fmt: skip

    def check(self, backend: Backend, evals: Mapping[str, Eval] | Iterable[Eval]) -> bool:
        """Whether results of `backend` are to be calibrated: true for the backend that this was made with, false for a cascade
        of which that is a stage, where only the bands are of use.

        Raises `UsageError` for any other backend, another model where the backend already tells which, and an eval that is not
        the same any more. Evals that it does not hold keep their own verdicts.
        """
        whole = backend.fingerprint == self.fingerprint
        if not whole and self.fingerprint not in [stage.fingerprint for stage in _stages(backend)]:
            raise UsageError(
                f"the calibration was made with the backend {printable(self.backend)}, "
                f"and {printable(backend.spec)} is not the same",
                where=self.path,
                hint=f"{_AGAIN} with --backend {printable(backend.spec)}",
            )
        why = self.strange(getattr(backend, "models", ())) if whole else None
        if why is not None:
            raise UsageError(why, where=self.path, hint=_AGAIN)
        named = evals if isinstance(evals, Mapping) else {one.name: one for one in evals}
        for name, one in named.items():
            known = self.evals.get(name)
            if known is not None and known.identity != eval_identity(one):
                raise UsageError(
                    f"{name} is not the eval that was calibrated: its arguments or its version differ",
                    where=f"{self.path}: $.evals.{name}",
                    hint=_AGAIN,
                )
        return whole

    def strange(self, models: Iterable[str]) -> str | None:
        """Why answers of these models are none that it was made for; `None` where they are. Without a name nothing is known
        against them."""
        other = sorted(set(models) - set(self.models))
        if not other or not self.models:
            return None
        return f"calibrated for {printable(', '.join(self.models))}, answered by {printable(', '.join(other))}"

    # Use

    def apply(self, name: str, result: Result, models: Iterable[str] = ()) -> Result:
        """The result as calibrated: its score is the probability that the sample should pass, and it passes from the saved
        threshold on.

        What has no score of the backend's (decided by code, unmeasured) stays as it is, and so do evals that are not
        calibrated. Without a threshold the eval's own verdict stands. An eval that stops a sample for another reason than its
        score (an action) is not overruled; one that would let pass what the threshold does not, now escalates. An answer of
        another model than those that were calibrated is an error.
        """
        saved = self.evals.get(name)
        if saved is None or unusable(result) is not None:
            return result
        why = self.strange(models)
        if why is not None:
            return Result.unmeasured("error", why, name=result.name, answers=result.answers, usage=result.usage)
        assert result.score is not None
        p = saved.curve(result.score)
        evidence = {**result.evidence, "raw_score": result.score, "calibrated": True}
        made = evolve(result, score=p, probability=self._probability(saved, result, p), evidence=evidence)
        if saved.threshold is None:
            return made
        passed = p >= saved.threshold and not vetoed(result)
        action: Any = "escalate" if result.action == "allow" and not passed else result.action
        return evolve(made, passed=passed, action=action)

    def apply_report(self, report: EvalReport, names: Sequence[str] | None = None) -> EvalReport:
        """All results of a report as calibrated; `names` are those of the evals where they are not the results' own."""
        called = [result.name for result in report.results] if names is None else list(names)
        made = [self.apply(name, one, report.models) for name, one in zip(called, report.results, strict=True)]
        return evolve(report, results=made)

    @overload
    def bands(self) -> CalibratedBands: ...
    @overload
    def bands(self, stages: Sequence[str]) -> CalibratedBands | None: ...
    def bands(self, stages: Sequence[str] | None = None) -> CalibratedBands | None:
        """Where a cascade's questions are undecided after the stage that was calibrated. With `stages`, the specs of a cascade,
        `None` where none of them was: a calibration can so stand for a store of bands (`open_backend(store=...)`)."""
        if stages is not None and self.backend not in stages:
            return None
        return CalibratedBands(self)

    def _probability(self, saved: SavedEval, result: Result, p: float) -> float | None:
        """The model's probability for what the eval asked, calibrated where the score is it or its complement."""
        if saved.asks == "p":
            return p
        return 1.0 - p if saved.asks == "1-p" else result.probability


@frozen(slots=True)
class CalibratedBands:
    """The bands of a cascade, by question: those of the eval it belongs to, on answers of the backend and the models that were
    calibrated; for all others `None`, the cascade's own. See `backends.cascade.FindBand`."""

    calibration: Calibration

    @property
    def fingerprint(self) -> str:
        """Enters that of the cascade."""
        return identify("decision-bands", identifiable(self.calibration.identity()))

    def __call__(self, id: str, question: Question, backend: Backend, model: str | None) -> tuple[float, float] | None:
        held = self.calibration
        name, _, own = id.partition(".")
        saved = held.evals.get(name)
        # Whether there is enough to tell is another question than the one that was calibrated.
        if saved is None or saved.band is None or own.rpartition(".")[2] == ENOUGH:
            return None
        if backend.fingerprint != held.fingerprint or held.strange([model] if model else ()) is not None:
            return None
        low, high = saved.band
        if saved.asks == "p":
            return low, high
        return (1.0 - high, 1.0 - low) if saved.asks == "1-p" else None


def _stages(backend: Any) -> Sequence[Backend]:
    """The stages of a cascade, which may stand behind a cache or a limit; none of any other backend."""
    while backend is not None:
        stages: Sequence[Backend] | None = getattr(backend, "stages", None)
        if stages is not None:
            return stages
        backend = getattr(backend, "inner", None)
    return ()


def _numbers(told: Mapping[str, Any]) -> dict[str, Any]:
    """What is worth keeping beside a curve: how many rows, and how good it was on those it had not seen."""
    kept: dict[str, Any] = {"n": told["n"], "passes": told["passes"], "auroc": told["auroc"]}
    for part in ("before", "after"):
        kept[part] = None if told[part] is None else {name: told[part][name] for name in ("brier", "ece")}
    chosen = next((each for each in told["thresholds"] if each["threshold"] == told["threshold"]), None)
    return {**kept, "chosen": chosen}


# Reading


def _read(value: Any, where: str) -> Calibration:
    if not isinstance(value, dict):
        raise UsageError("a calibration is a JSON object", where=where, hint=_AGAIN)
    if value.get("schema") != SCHEMA:
        raise UsageError(f"not a calibration of this version: schema {shorten(value.get('schema'))}, not {SCHEMA!r}",
                         where=where, hint=_AGAIN)  # fmt: skip
    _fields(value, ("schema", "backend", "models", "data", "settings", "evals"), f"{where}: $")
    _fields(value["backend"], ("spec", "fingerprint"), f"{where}: $.backend")
    _fields(value["data"], ("revision_id",), f"{where}: $.data")
    models = value["models"]
    if not isinstance(models, list) or not all(isinstance(model, str) for model in models):
        raise UsageError(f"a list of names is expected, not {shorten(models)}", where=f"{where}: $.models")
    if not isinstance(value["settings"], dict) or not isinstance(value["evals"], dict):
        raise UsageError("settings and evals are objects", where=where)
    return Calibration(
        backend=_text(value["backend"]["spec"], f"{where}: $.backend.spec"),
        fingerprint=_id(value["backend"]["fingerprint"], f"{where}: $.backend.fingerprint"),
        models=tuple(models),
        revision_id=_id(value["data"]["revision_id"], f"{where}: $.data.revision_id"),
        settings=value["settings"],
        evals={name: _read_eval(one, f"{where}: $.evals.{printable(name)}") for name, one in value["evals"].items()},
        path=where,
    )


def _read_eval(value: Any, where: str) -> SavedEval:
    _fields(value, ("identity", "fit", "threshold", "band", "asks", "numbers"), where)
    threshold, band, asks = value["threshold"], value["band"], value["asks"]
    if threshold is not None:
        _share(threshold, f"{where}.threshold")
    if band is not None:
        if not isinstance(band, list) or len(band) != 2:
            raise UsageError(f"two numbers are expected, not {shorten(band)}", where=f"{where}.band")
        low, high = (_share(each, f"{where}.band") for each in band)
        if low > high:
            raise UsageError("a band goes from its lower end to its higher one", where=f"{where}.band")
        band = (low, high)
    if asks not in (None, "p", "1-p"):
        raise UsageError(f"{shorten(asks)} is none of null, 'p', '1-p'", where=f"{where}.asks")
    if not isinstance(value["numbers"], dict):
        raise UsageError("numbers are an object", where=f"{where}.numbers")
    return SavedEval(
        identity=_id(value["identity"], f"{where}.identity"),
        curve=read_curve(value["fit"], f"{where}.fit"),
        threshold=threshold,
        band=band,
        asks=asks,
        numbers=value["numbers"],
    )


def _fields(value: Any, names: Sequence[str], where: str) -> None:
    if not isinstance(value, dict):
        raise UsageError(f"an object is expected, not {shorten(value)}", where=where)
    for name in names:
        if name not in value:
            raise UsageError(f"{name} is missing", where=where, hint=_AGAIN)
    for name in value:
        if name not in names:
            raise UsageError(f"unknown field {shorten(name)}", where=where, hint=nearest(name, names))


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"a text is expected, not {shorten(value)}", where=where)
    return value


def _id(value: Any, where: str) -> str:
    if not isinstance(value, str) or not HEX_ID.match(value):
        raise UsageError(f"64 hex characters are expected, not {shorten(value)}", where=where)
    return value


def _share(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"a number within 0..1 is expected, not {shorten(value)}", where=where)
    return float(value)
