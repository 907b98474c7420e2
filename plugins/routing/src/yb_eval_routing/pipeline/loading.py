"""From a TOML file to a checked :class:`Policy`; whatever cannot be meant is refused."""

import hashlib
import tomllib
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

from yb_eval_routing.pipeline.errors import PolicyError, shown
from yb_eval_routing.pipeline.lexicon import Concept, term_problem
from yb_eval_routing.pipeline.measures import MEASURES
from yb_eval_routing.pipeline.policy import Action, Condition, FollowUp, Model, Policy, Rule, Signal, Tier
from yb_eval_routing.pipeline.reachability import check_reachable
from yb_eval_routing.pipeline.stemming import LANGUAGES
from yb_eval_routing.pipeline.text import normalise, words
from yb_eval_routing.pipeline.toml_reader import TableReader, nearest, refuse_duplicates

_SCHEMA = 1
_MOST_BYTES = 4 * 2**20
_MOST_COUNT = 10_000
_MOST_WEIGHT = 10
_MOST_USD_PER_MILLION = 10**6


def reference_policy() -> Policy:
    """Return the policy that ships with the package."""
    return load_policy(files("yb_eval_routing").joinpath("policy.toml").read_bytes())


def load_policy(source: bytes | str | Path) -> Policy:
    """Read and check a policy: the bytes of a TOML document, or the path of one.

    Raises :class:`PolicyError` with one line that says where, what, and how to mend it.
    """
    data = source if isinstance(source, bytes) else _read(Path(source))
    if len(data) > _MOST_BYTES:
        raise PolicyError(f"policy: {len(data)} bytes are more than the {_MOST_BYTES} a policy may have")
    try:
        document = tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PolicyError(f"policy: is not valid TOML in UTF-8: {_one_line(error)}") from None
    except (RecursionError, ValueError, ArithmeticError):
        raise PolicyError("policy: is not valid TOML: nested too deeply, or a number is out of range") from None
    policy = _policy(TableReader(document, ""), hashlib.sha256(data).hexdigest())
    check_reachable(policy)
    return policy


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PolicyError(
            f"policy: {shown(str(path))} cannot be read: {error.strerror or type(error).__name__}"
        ) from None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _policy(top: TableReader, digest: str) -> Policy:
    if (schema := top.integer("schema", least=0)) != _SCHEMA:
        raise PolicyError(f"schema: {schema} is not known; this version reads {_SCHEMA}")
    name = top.text("name")
    models = _models(top)
    tiers = _tiers(top, models)
    signals = _signals(top)
    rules = _rules(top, tiers, signals)
    follow_up = _follow_up(top.table("follow_up"))
    top.close()
    return Policy(
        name=name, tiers=tiers, models=models, signals=signals, rules=rules, follow_up=follow_up, digest=digest
    )


def _models(top: TableReader) -> tuple[Model, ...]:
    models = []
    for table in top.tables("models"):
        name = table.text("name")
        for key in ("input_usd_per_million", "output_usd_per_million"):
            if not table.has(key):
                raise PolicyError(
                    f"{table.where(key)}: model {shown(name)} has no price; add {key} = USD per 10^6 tokens"
                )
        # USD per million tokens with six places is a whole number of pico-dollars (10^-12) per token.
        models.append(
            Model(
                name=name,
                input_price=table.decimal("input_usd_per_million", places=6, most=_MOST_USD_PER_MILLION),
                output_price=table.decimal("output_usd_per_million", places=6, most=_MOST_USD_PER_MILLION),
            )
        )
        table.close()
    refuse_duplicates([model.name for model in models], "models", "model")
    return tuple(models)


def _tiers(top: TableReader, models: tuple[Model, ...]) -> tuple[Tier, ...]:
    priced = [model.name for model in models]
    tiers: list[Tier] = []
    for table in top.tables("tiers"):
        tier = Tier(
            name=table.text("name"),
            start=table.decimal("start", places=3, most=1),
            start_tokens=table.integer("start_tokens", least=0),
            model=table.text("model"),
            output_tokens=table.integer("output_tokens", least=1),
        )
        table.close()
        if tier.model not in priced:
            raise PolicyError(
                f"{table.where('model')}: model {shown(tier.model)} has no price in [[models]]; "
                f"{nearest(tier.model, priced)}"
            )
        for key, start, before in (
            ("start", tier.start, tiers[-1].start if tiers else None),
            ("start_tokens", tier.start_tokens, tiers[-1].start_tokens if tiers else None),
        ):
            if before is None and start != 0:
                raise PolicyError(f"{table.where(key)}: the first tier starts at 0")
            if before is not None and start <= before:
                raise PolicyError(
                    f"{table.where(key)}: does not lie above the start of '{tiers[-1].name}' before it; "
                    "list tiers from cheapest to strongest with ascending starts"
                )
        tiers.append(tier)
    refuse_duplicates([tier.name for tier in tiers], "tiers", "tier")
    if len(tiers) < 2:
        raise PolicyError("tiers: one tier leaves nothing to route; define at least two")
    return tuple(tiers)


def _signals(top: TableReader) -> tuple[Signal, ...]:
    signals = [_signal(table) for table in top.tables("signals")]
    refuse_duplicates([signal.name for signal in signals], "signals", "signal")
    return tuple(signals)


def _signal(table: TableReader) -> Signal:
    name = table.text("name")
    weight = table.decimal("weight", places=3, most=_MOST_WEIGHT)
    if weight == 0:
        raise PolicyError(f"{table.where('weight')}: 0 makes signal {shown(name)} meaningless; raise it, or remove it")
    low = table.integer("low", least=0, most=_MOST_COUNT, default=0)
    high = table.integer("high", least=low + 1, most=_MOST_COUNT)
    measure: str | None = None
    concepts: tuple[Concept, ...] = ()
    if table.has("measure") == table.has("words"):
        raise PolicyError(f"{table.path}: signal {shown(name)} needs either a measure or words, and not both")
    if table.has("measure"):
        measure = table.text("measure")
        if measure not in MEASURES:
            raise PolicyError(
                f"{table.where('measure')}: unknown measure {shown(measure)}; {nearest(measure, MEASURES)}"
            )
    else:
        concepts = _concepts(table.table("words"))
    signal = Signal(
        name=name,
        weight=weight,
        lowers=table.flag("lowers"),
        low=low,
        high=high,
        measure=measure,
        concepts=concepts,
        within_units=table.integer("within_units", least=1) if table.has("within_units") else None,
    )
    table.close()
    return signal


def _concepts(table: TableReader) -> tuple[Concept, ...]:
    concepts: list[Concept] = []
    for language in list(table.keys()):
        if language not in LANGUAGES:
            raise PolicyError(f"{table.where(language)}: unknown language; {nearest(language, LANGUAGES)}")
        seen: set[tuple[str, ...]] = set()
        for index, entry in enumerate(table.texts(language)):
            terms = tuple(term.strip() for term in entry.split("|"))
            for term in terms:
                where = f"{table.where(language)}[{index}]"
                if problem := term_problem(language, term):
                    raise PolicyError(f"{where}: term {shown(term)} {problem}")
                key = tuple(words(normalise(term)))
                if key in seen:
                    raise PolicyError(f"{where}: term {shown(term)} is listed twice; it would count twice")
                seen.add(key)
            concepts.append(Concept(language=language, terms=terms))
    if not concepts:
        raise PolicyError(f"{table.path}: holds no words; add a list such as en = ['prove']")
    return tuple(concepts)


def _rules(top: TableReader, tiers: tuple[Tier, ...], signals: tuple[Signal, ...]) -> tuple[Rule, ...]:
    rules = [_rule(table, tiers, signals) for table in top.tables("rules", optional=True)]
    refuse_duplicates([rule.name for rule in rules], "rules", "rule")
    return tuple(rules)


def _rule(table: TableReader, tiers: tuple[Tier, ...], signals: tuple[Signal, ...]) -> Rule:
    name = table.text("name")
    actions = [action for action in Action if table.has(action.value)]
    if len(actions) != 1:
        raise PolicyError(f"{table.path}: rule {shown(name)} needs exactly one of tier, at_least, at_most")
    tier_names = [tier.name for tier in tiers]
    rule = Rule(
        name=name,
        scored=_scored(table, tier_names),
        conditions=_conditions(table.table("when"), signals) if table.has("when") else (),
        metadata=_metadata(table.table("metadata")) if table.has("metadata") else (),
        action=actions[0],
        tier=_tier_index(table.text(actions[0].value), table.where(actions[0].value), tier_names),
    )
    table.close()
    return rule


def _scored(table: TableReader, tier_names: list[str]) -> tuple[int, ...]:
    """Return the tiers a rule looks at: those it names, or all."""
    if not table.has("scored"):
        return tuple(range(len(tier_names)))
    named = [_tier_index(name, table.where("scored"), tier_names) for name in table.texts("scored")]
    return tuple(sorted(set(named)))


def _tier_index(name: str, where: str, tier_names: list[str]) -> int:
    if name not in tier_names:
        raise PolicyError(f"{where}: unknown tier {shown(name)}; {nearest(name, tier_names)}")
    return tier_names.index(name)


def _conditions(table: TableReader, signals: tuple[Signal, ...]) -> tuple[Condition, ...]:
    names = [signal.name for signal in signals]
    conditions = []
    for name in list(table.keys()):
        if name not in names:
            raise PolicyError(f"{table.where(name)}: unknown signal; {nearest(name, names)}")
        limits = table.table(name)
        least = limits.integer("at_least", least=0, most=_MOST_COUNT, default=0)
        most = limits.integer("at_most", least=0, most=_MOST_COUNT) if limits.has("at_most") else None
        limits.close()
        if most is not None and most < least:
            raise PolicyError(f"{limits.path}: at_least {least} lies above at_most {most}; no count can be both")
        conditions.append(Condition(signal=names.index(name), least=least, most=most))
    return tuple(conditions)


def _metadata(table: TableReader) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((key, tuple(table.texts(key))) for key in list(table.keys()))


def _follow_up(table: TableReader) -> FollowUp:
    follow_up = FollowUp(concepts=_concepts(table.table("words")), within_units=table.integer("within_units", least=1))
    table.close()
    return follow_up
