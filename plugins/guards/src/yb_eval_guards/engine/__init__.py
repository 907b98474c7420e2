"""Multi-pattern matching in linear time: which features does each of many texts have?

Two engines answer the same question from the same byte patterns: hyperscan in one pass over a whole batch, google-re2
text by text where hyperscan has no wheel. Detectors do the exact work on the few texts that have the right features, so
which engine ran can be seen in the time it took only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from .protocol import Engine, EngineName, FeaturePattern

__all__ = ["Engine", "EngineChoice", "EngineName", "FeaturePattern", "build_engine"]

EngineChoice = Literal["auto", "hyperscan", "re2"]


def build_engine(
    patterns: tuple[FeaturePattern, ...], choice: EngineChoice = "auto", *, folder: Path | None = None
) -> Engine:
    """Compile `patterns`. `auto` takes hyperscan where it is installed and runs on this machine, google-re2 otherwise.

    `folder` is where what hyperscan compiles may be kept, to be loaded the next time.

    Raises ValueError for an unknown name and ImportError when the engine that was asked for is not installed.
    """
    if choice not in get_args(EngineChoice):
        raise ValueError(f"unknown engine {choice!r}: use one of {', '.join(get_args(EngineChoice))}")
    if choice != "re2":
        from ._hyperscan import HyperscanEngine, available

        if choice == "hyperscan" or available():
            return HyperscanEngine(patterns, folder)
    from ._re2 import Re2Engine

    return Re2Engine(patterns)
