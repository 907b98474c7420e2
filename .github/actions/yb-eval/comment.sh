# Brings the comment up to date. Whatever comes of it, the verdict stays what it is: this ends with 0.
set -uo pipefail

# Everything needed is in the report's folder. Named, the store is not looked up in the configuration, which may be what
# the run was refused for.
export YB_EVAL_STORE="$REPORT"

arguments=(--in-summary)
if [[ -n "$COMMENT_ID" ]]; then arguments+=(--id "$COMMENT_ID"); fi
if [[ -f "$REPORT/report.json" ]]; then
  arguments+=("$REPORT/report.json")
else
  # A comment of an earlier run must not go on saying that all is well.
  arguments+=(--refused "$REPORT/refused.txt")
fi
"$BIN/yb-eval" comment "${arguments[@]}" ||
  echo "::warning title=yb-eval::The pull request has no up-to-date comment; the report is in the summary and the artifact"
exit 0
