"""TypeSafe's System One wire, and everybody who speaks it: TypeSafe itself, Kev, vLLM, any address.

`POST {base}/v1/systemone`: a state and questions by id in, an answer per id out (https://docs.typesafe.ai/api). Ids are not
shown to the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yb_eval_decision.backends.addresses import Address, address, own_key, variable
from yb_eval_decision.backends.base import Limits, Price, Request
from yb_eval_decision.backends.http import HttpBackend, dollars, text_or_none, whole
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Failed, Prepared, Reply
from yb_eval_decision.questions import wire_question

TYPESAFE = "https://api.typesafe.ai"
#: US dollars for a million tokens of Jev (its price list of September 2026).
JEV_PRICE = Price(input=0.042)
#: Jev takes about 32,000 tokens of state and longest question, 255 options, 10 levels, 32 MiB.
JEV_LIMITS = Limits(request_tokens=30_000, options=255, levels=10, body_bytes=32 << 20)
#: Kev takes 8,192 tokens; it runs at home.
KEV_LIMITS = Limits(request_tokens=7_500, options=255, levels=10)
FREE = Price(input=0.0)


class SystemOneBackend(HttpBackend):
    """A System One service. `zero_retention` asks TypeSafe to keep nothing of what it is sent."""

    wire = "systemone"

    def __init__(
        self,
        address: Address,
        *,
        spec: str,
        model: str | None = None,
        zero_retention: bool = False,
        pace: Pace | None = None,
        limits: Limits | None = None,
        price: Price | None = None,
    ) -> None:
        super().__init__(
            address,
            _path(address.url),
            spec=spec,
            model=model,
            headers={"x-data-retention": "zero"} if zero_retention else None,
            pace=pace,
            limits=limits or JEV_LIMITS,
            price=price,
        )

    def encode(self, request: Request) -> tuple[dict[str, Any], Any]:
        body: dict[str, Any] = {"state": request.state}
        if self.model is not None:
            body["model"] = self.model
        body["questions"] = {id: wire_question(question) for id, question in request.questions.items()}
        return body, None

    def read(self, prepared: Prepared, value: Mapping[str, Any]) -> Reply:
        return read_system_one(value)


def read_system_one(value: Mapping[str, Any]) -> Reply:
    """The reply in a System One body. Raises `Failed` for one without answers, and where the server says that it has left
    out a part of the state: what it did not see, it cannot have judged."""
    if not isinstance(value.get("answers"), Mapping):
        has = ", ".join(map(str, list(value)[:5])) or "nothing"
        raise Failed(f"answered an object without answers (it has {has})", unpriced=True)
    usage = value.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    if usage.get("truncated") is True or whole(usage.get("state_tokens_dropped")):
        raise Failed("the server cut the state to fit its limit", unpriced=True)
    return Reply(
        answers=value["answers"],
        model=text_or_none(value.get("model")),
        input_tokens=whole(usage.get("input_tokens")),
        output_tokens=whole(usage.get("output_tokens")),
        cost_usd=dollars(usage.get("cost")),
    )


def _path(base: str) -> str:
    """What an address still needs: it may be given with `/v1` or whole."""
    if base.endswith("/systemone"):
        return ""
    return "/systemone" if base.endswith("/v1") else "/v1/systemone"


def typesafe(spec: str, pace: Pace) -> SystemOneBackend:
    """`typesafe[:MODEL]`, also `jev[:MODEL]`. TYPESAFE_API_KEY goes to TYPESAFE_BASE_URL or api.typesafe.ai; the model is that
    of the spec, TYPESAFE_MODEL, or whatever the service has as its default."""
    model = spec.partition(":")[2] or variable("TYPESAFE_MODEL")
    found = address(variable("TYPESAFE_BASE_URL") or TYPESAFE, where=spec, keys=("TYPESAFE_API_KEY",), required=True)
    return SystemOneBackend(found, spec=spec, model=model, zero_retention=True, pace=pace, price=JEV_PRICE)


def anywhere(spec: str, pace: Pace) -> SystemOneBackend:
    """`http(s)://HOST[:PORT][/PATH][#MODEL]`: any System One service. It gets no vendor's key, but YB_EVAL_DECISION_API_KEY."""
    url, _, model = spec.partition("#")
    return SystemOneBackend(
        address(url, where=url, keys=own_key(url, url)), spec=spec, model=model or None, zero_retention=True, pace=pace
    )


def served(
    spec: str, pace: Pace, *, keys: tuple[str, ...], limits: Limits, default: str | None = None
) -> SystemOneBackend:
    """`SCHEME://HOST:PORT[#MODEL]` over http, `SCHEME+https://...` over https: a server of one's own, which costs nothing."""
    url, _, model = spec.partition("#")
    scheme, _, rest = url.partition("://")
    http = "https" if scheme.endswith("+https") else "http"
    found = address(f"{http}://{rest}", where=url, keys=keys)
    return SystemOneBackend(found, spec=spec, model=model or default, pace=pace, limits=limits, price=FREE)
