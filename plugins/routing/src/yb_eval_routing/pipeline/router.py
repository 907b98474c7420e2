"""The pipeline: classifier, rules, tier router, model and price. Deterministic, without calls, bounded in work."""

from collections.abc import Mapping
from decimal import Decimal

import attrs

from yb_eval_routing.pipeline.lexicon import Lexicon
from yb_eval_routing.pipeline.measures import MEASURES, Reading
from yb_eval_routing.pipeline.policy import POINTS, Policy, Tier
from yb_eval_routing.pipeline.request import Request, read_request
from yb_eval_routing.pipeline.segments import split
from yb_eval_routing.pipeline.text import estimated_tokens, normalise, units, words

_MOST_FOLLOWED = 4


@attrs.frozen(slots=True, kw_only=True)
class Decision:
    """Where a request goes and why.

    ``score`` is 0..1; ``signals`` maps each signal that moved it to its signed contribution, ``matches`` each word
    signal to the concepts (as the policy writes them) that were found; ``rule`` is the rule that applied, if one did.
    ``cost_usd`` is an exact estimate: :func:`~yb_eval_routing.pipeline.text.estimated_tokens` of all message texts at
    the model's input price, plus the tier's ``output_tokens`` (at most ``metadata.max_tokens``) at its output price.
    """

    tier: str
    score: float
    signals: dict[str, float]
    matches: dict[str, tuple[str, ...]]
    rule: str | None
    model: str
    cost_usd: Decimal


class Pipeline:
    """Routes requests by one policy. Safe to share between threads, and picklable."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._lexicon = Lexicon([signal.concepts for signal in policy.signals] + [policy.follow_up.concepts])
        self._lowering = [index for index, signal in enumerate(policy.signals) if signal.lowers]

    def route(self, request: Mapping[str, object]) -> Decision:
        """Return the decision for one request; its shape is that of :func:`read_request`.

        Only the last user message is scored. A short follow-up ("and now in Go?") inherits what the message it
        follows asked for. Raises :class:`RequestError`.
        """
        read = read_request(request)
        counts, mentioned = self._classify(read)
        contributions = [
            -signal.points(count) if signal.lowers else signal.points(count)
            for signal, count in zip(self.policy.signals, counts, strict=True)
        ]
        score = min(max(sum(contributions), 0), POINTS)
        index = self.policy.tier_of_score(score)
        rule = next((rule for rule in self.policy.rules if rule.applies(index, counts, read.metadata)), None)
        if rule is not None:
            index = rule.action.apply(index, rule.tier)
        tier = self.policy.tiers[index]
        names = [signal.name for signal in self.policy.signals]
        return Decision(
            tier=tier.name,
            score=score / POINTS,
            signals={name: points / POINTS for name, points in zip(names, contributions, strict=True) if points},
            matches={
                signal.name: tuple(signal.concepts[concept].name for concept in concepts)
                for signal, concepts in zip(self.policy.signals, mentioned, strict=True)
                if concepts
            },
            rule=None if rule is None else rule.name,
            model=tier.model,
            cost_usd=self._cost(tier, read),
        )

    def cost_usd(self, request: Mapping[str, object], tier: str) -> Decimal:
        """Return what the request is estimated to cost on a tier, as :class:`Decision` states it.

        Raises :class:`RequestError`, and ``KeyError`` for a tier that the policy does not have.
        """
        found = {each.name: each for each in self.policy.tiers}[tier]
        return self._cost(found, read_request(request))

    def _classify(self, request: Request) -> tuple[list[int], list[list[int]]]:
        """Return each signal's count and the concepts behind it, with what a follow-up inherits."""
        counts, mentioned, follows = self._count(request.asks[-1], request)
        for earlier in request.asks[-2 : -2 - _MOST_FOLLOWED : -1]:
            if not follows:
                break
            inherited, inherited_mentioned, follows = self._count(earlier, request)
            counts = [max(pair) for pair in zip(counts, inherited, strict=True)]
            mentioned = [sorted({*own, *others}) for own, others in zip(mentioned, inherited_mentioned, strict=True)]
        return counts, mentioned

    def _count(self, message: str, request: Request) -> tuple[list[int], list[list[int]], bool]:
        """Return the signals' counts for one message, the concepts mentioned, and whether it is a follow-up."""
        segments = split(message)
        ask = segments.ask
        tokens = words(normalise(ask))
        length = units(tokens if ask == segments.prose else words(normalise(segments.prose)))
        reading = Reading(
            segments=segments,
            ask=ask,
            tokens=tokens,
            units=length,
            tools=request.tools,
            attachments=request.attachments,
        )
        *mentioned, following = self._lexicon.find(tokens)
        counts: list[int] = []
        for signal, concepts in zip(self.policy.signals, mentioned, strict=True):
            if signal.within_units is not None and length > signal.within_units:
                counts.append(0)
            else:
                counts.append(len(concepts) if signal.measure is None else MEASURES[signal.measure](reading))
        # A message that carries a small task of its own is no follow-up, whatever words it opens with.
        own_task = any(counts[index] for index in self._lowering)
        return counts, mentioned, bool(following) and length <= self.policy.follow_up.within_units and not own_task

    def _cost(self, tier: Tier, request: Request) -> Decimal:
        model = self.policy.model(tier.model)
        read = sum(map(estimated_tokens, request.billed))
        written = tier.output_tokens if request.max_tokens is None else min(tier.output_tokens, request.max_tokens)
        pico = read * model.input_price + written * model.output_price
        # Built from digits: arithmetic would round to whatever precision the caller's decimal context has.
        return Decimal((0, tuple(map(int, str(pico))), -12))


def length_tier(request: Mapping[str, object], policy: Policy) -> str:
    """Return the tier that the length of the last user message alone gives, by the tiers' ``start_tokens``.

    The router any other has to beat. Raises :class:`RequestError`.
    """
    length = estimated_tokens(read_request(request).asks[-1])
    return next(tier.name for tier in reversed(policy.tiers) if length >= tier.start_tokens)
