"""What a run leaves behind: the outcome log, the manifest, the store they are kept in, baselines and comparisons."""

from yb_eval.record.baseline import Baseline, read_baseline, write_baseline
from yb_eval.record.comparison import compare, compared, measure
from yb_eval.record.manifest import composed_ids, composed_plan_id, plan_id, run_id, verify_manifest
from yb_eval.record.outcomes import Record, decode, encode, read_log, records
from yb_eval.record.store import Store, StoredRun

__all__ = [
    "Baseline",
    "Record",
    "Store",
    "StoredRun",
    "compare",
    "compared",
    "composed_ids",
    "composed_plan_id",
    "decode",
    "encode",
    "measure",
    "plan_id",
    "read_baseline",
    "read_log",
    "records",
    "run_id",
    "verify_manifest",
    "write_baseline",
]
