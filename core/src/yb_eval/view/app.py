"""The pages over ASGI: which address shows which page."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from yb_eval.errors import printable
from yb_eval.record import Store
from yb_eval.view.guard import LOOPBACK, Guard
from yb_eval.view.index import VERDICTS
from yb_eval.view.site import Page, Problem, Site

#: Pages that are made at once: each may hold ten thousand samples while it is.
AT_ONCE = 4


def application(store: Store, *, hosts: Collection[str] = LOOPBACK, note: Callable[[str], None] = print) -> Starlette:
    """The site of `store`, for requests under one of the names `hosts`; `note` is told of pages that failed."""
    site = Site(store)
    limiter: list[CapacityLimiter] = []

    async def respond(make: Callable[[], Page]) -> Response:
        if not limiter:  # which is made in the loop that it belongs to
            limiter.append(CapacityLimiter(AT_ONCE))
        return _response(await run_sync(_safely, site, make, note, limiter=limiter[0]))

    async def runs(request: Request) -> Response:
        asked = request.query_params
        verdict = asked.get("verdict") if asked.get("verdict") in VERDICTS else None
        suite, after = asked.get("suite") or None, asked.get("after") or None
        return await respond(lambda: site.runs(suite=suite, verdict=verdict, after=after))

    async def trends(request: Request) -> Response:
        suite = request.query_params.get("suite") or None
        return await respond(lambda: site.trends(suite=suite))

    async def run(request: Request) -> Response:
        return await respond(lambda: site.run(request.path_params["run_id"]))

    async def compare(request: Request) -> Response:
        asked = request.query_params
        if "before" in asked and "after" in asked:
            before, after, suite = asked["before"], asked["after"], asked.get("suite") or None
            return await respond(lambda: site.compare(before=before, after=after, suite=suite))
        chosen: list[str] = []

        def choose() -> Page:
            chosen.extend(site.chosen(asked.getlist("run")))
            return Page("", "")

        page = await respond(choose)
        if not chosen:
            return page
        return RedirectResponse(f"/compare?before={chosen[0]}&after={chosen[1]}", 303)

    async def missing(request: Request, error: Exception) -> Response:
        problem = Problem(404, "No such page", f"There is nothing at {request.url.path}.")
        return await respond(lambda: site.problem(problem))

    return Starlette(
        routes=[
            Route("/", runs),
            Route("/trends", trends),
            Route("/runs/{run_id}", run),
            Route("/compare", compare),
        ],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={404: missing},
    )


def _safely(site: Site, make: Callable[[], Page], note: Callable[[str], None]) -> Page:
    """The page, or the one that says why not: a damaged object stops no server."""
    try:
        return make()
    except Exception as error:
        page = site.problem(error)
        if page.status >= 500:
            note(f"a page cannot be shown: {printable(str(error) or type(error).__name__)}")
        return page


def _response(page: Page) -> Response:
    headers: Mapping[str, str] = {"Content-Security-Policy": f"{page.policy}; frame-ancestors 'none'"}
    return Response(page.text.encode("utf-8", "backslashreplace"), page.status, headers, "text/html; charset=utf-8")
