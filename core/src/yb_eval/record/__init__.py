"""What a run leaves behind: the outcome log, the manifest, the store they are kept in, baselines and comparisons."""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.record.baseline import Baseline as Baseline
    from yb_eval.record.baseline import read_baseline as read_baseline
    from yb_eval.record.baseline import write_baseline as write_baseline
    from yb_eval.record.comparison import compare as compare
    from yb_eval.record.comparison import compared as compared
    from yb_eval.record.comparison import measure as measure
    from yb_eval.record.manifest import composed_ids as composed_ids
    from yb_eval.record.manifest import composed_plan_id as composed_plan_id
    from yb_eval.record.manifest import plan_id as plan_id
    from yb_eval.record.manifest import run_id as run_id
    from yb_eval.record.manifest import verify_manifest as verify_manifest
    from yb_eval.record.outcomes import Record as Record
    from yb_eval.record.outcomes import decode as decode
    from yb_eval.record.outcomes import encode as encode
    from yb_eval.record.outcomes import read_log as read_log
    from yb_eval.record.outcomes import records as records
    from yb_eval.record.store import Store as Store
    from yb_eval.record.store import StoredRun as StoredRun

__getattr__, __all__ = lazily(
    __name__,
    {
        "baseline": ["Baseline", "read_baseline", "write_baseline"],
        "comparison": ["compare", "compared", "measure"],
        "manifest": ["composed_ids", "composed_plan_id", "plan_id", "run_id", "verify_manifest"],
        "outcomes": ["Record", "decode", "encode", "read_log", "records"],
        "store": ["Store", "StoredRun"],
    },
)
