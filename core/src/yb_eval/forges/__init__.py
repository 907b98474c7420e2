"""Where changes are reviewed: GitHub and GitLab, through their REST APIs.

`open_forge` finds the pull or merge request that a CI job runs for, `publish` keeps one comment on it, and
`workflow_commands` shows broken samples at their lines. httpx and tenacity are imported when a request is made.
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.forges.annotations import workflow_commands as workflow_commands
    from yb_eval.forges.client import Api as Api
    from yb_eval.forges.client import Forbidden as Forbidden
    from yb_eval.forges.client import ForgeError as ForgeError
    from yb_eval.forges.client import Patience as Patience
    from yb_eval.forges.comments import Comment as Comment
    from yb_eval.forges.comments import Forge as Forge
    from yb_eval.forges.comments import Published as Published
    from yb_eval.forges.comments import marker as marker
    from yb_eval.forges.comments import publish as publish
    from yb_eval.forges.detection import NoRequest as NoRequest
    from yb_eval.forges.detection import open_forge as open_forge

__getattr__, __all__ = lazily(
    __name__,
    {
        "annotations": ["workflow_commands"],
        "client": ["Api", "Forbidden", "ForgeError", "Patience"],
        "comments": ["Comment", "Forge", "Published", "marker", "publish"],
        "detection": ["NoRequest", "open_forge"],
    },
)
