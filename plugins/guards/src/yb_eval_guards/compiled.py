"""The compiled tables, made once in a process for each strength and engine: they never change and know no scanner."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import attrs

from .detectors.assignments import AssignmentDetector
from .detectors.base import Detector
from .detectors.iban import IbanDetector
from .detectors.injection import InjectionDetector
from .detectors.numbers import NumberDetector
from .detectors.phrases import PhraseTable
from .detectors.secrets import JwtDetector, PrivateKeyDetector, TokenDetector, load_secret_rules
from .engine import Engine, EngineChoice, build_engine
from .features import build_features
from .finding import Strength
from .tables import load_table

__all__ = ["SharedParts", "shared_parts"]


@attrs.frozen(slots=True, kw_only=True, eq=False)
class SharedParts:
    """What scanners of one strength and engine have in common."""

    engine: Engine
    bits: dict[str, int]
    phrase_bits: int
    """The bits of words that mean something together only: see `InjectionDetector.wanted`."""
    detectors: tuple[Detector, ...]
    injection: InjectionDetector | None
    """None where no phrases are looked for."""
    leet_starts: frozenset[str]


def _by_prefix(bits: dict[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): bit for name, bit in bits.items() if name.startswith(prefix)}


@lru_cache(maxsize=8)
def shared_parts(
    strength: Strength, engine: EngineChoice, folder: Path | None = None, *, phrases: bool = True
) -> SharedParts:
    """Compile the features and detectors: about a second with hyperscan, most of it the engine's, unless that is kept in
    `folder` from an earlier time. Without `phrases` there is less than half as much of it."""
    table = PhraseTable(load_table("injection.toml")) if phrases else None
    secrets = load_secret_rules()
    features = build_features(table, secrets, any_digits=strength == "warn")
    bits = features.bits
    sets, families = _by_prefix(bits, "set:"), _by_prefix(bits, "family:")
    injection = InjectionDetector(table=table, bits=sets, family_bits=families) if table else None
    data = (
        NumberDetector(runs=bits["digits"], groups=bits["groups"], labels=bits["labels"]),
        IbanDetector(feature=bits["iban"] | bits["iban-word"]),
        TokenDetector(features=_by_prefix(bits, "token:"), rules=secrets),
        JwtDetector(feature=bits["jwt"]),
        PrivateKeyDetector(feature=bits["pem"]),
        AssignmentDetector(feature=bits["keyword"]),
    )
    return SharedParts(
        engine=build_engine(features.patterns, engine, folder=folder),
        bits=bits,
        phrase_bits=sum((sets | families).values()),
        detectors=data if injection is None else (*data, injection),
        injection=injection,
        leet_starts=table.leet_starts if table else frozenset(),
    )
