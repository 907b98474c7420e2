# Runs the suites and collects what they leave: reports, outcome logs, the job's summary, annotations. Ends with 0 and
# hands yb-eval's exit code on as an output, so that artifact and comment are made for a red gate too.
set -euo pipefail

report="$(mktemp -d "$RUNNER_TEMP/yb-eval-report.XXXXXX")"
# Beside the reports, which become an artifact: what the evaluated system prints may be meant for nobody.
log="$(mktemp "$RUNNER_TEMP/yb-eval-log.XXXXXX")"
echo "report=$report" >> "$GITHUB_OUTPUT"
cd "$WORKING_DIRECTORY"

# One store for all commands, whatever the configuration says; a workflow may set its own.
export YB_EVAL_STORE="${YB_EVAL_STORE:-$PWD/.yb-eval}"

# By the environment, which comes before the configuration and is there for any suite of that kind.
if [[ -n "$ROUTING_MAX_MISMATCH" ]]; then export YB_EVAL_ROUTING_MAX_MISMATCH="$ROUTING_MAX_MISMATCH"; fi
if [[ -n "$GUARDS_MIN_PRECISION" ]]; then export YB_EVAL_GUARDS_MIN_PRECISION="$GUARDS_MIN_PRECISION"; fi
if [[ -n "$GUARDS_MIN_RECALL" ]]; then export YB_EVAL_GUARDS_MIN_RECALL="$GUARDS_MIN_RECALL"; fi

# shellcheck disable=SC2153  # two variables: the input, and the names in it
read -r -d '' -a suites <<< "$SUITES" || true
if [[ ${#suites[@]} -eq 0 && -z "$CONFIG" && ! -f yb-eval.toml ]]; then
  if [[ ! -f pyproject.toml ]] || ! grep -q '^\[tool\.yb-eval' pyproject.toml; then
    suites=(routing guards)
  fi
fi
arguments=()
if [[ -n "$CONFIG" ]]; then arguments+=(--config "$CONFIG"); fi
for format in json=report.json html=report.html junit=report.xml markdown=report.md; do
  arguments+=(--report "${format%%=*}=$report/${format#*=}")
done

code=0
for name in ${suites[@]+"${suites[@]}"}; do
  if [[ ! "$name" =~ ^[a-zA-Z0-9_][a-zA-Z0-9_.-]*$ ]]; then
    echo "yb-eval: the input suites holds something that is no suite's name" | tee "$log"
    code=2
  fi
done
if [[ $code -eq 0 ]]; then
  # What a dataset or a target says may look like a workflow command: until the run has ended, the runner obeys none.
  # Both streams are one, so that nothing of the run comes after that.
  stop="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
  echo "::stop-commands::$stop"
  "$BIN/yb-eval" run "${arguments[@]}" ${suites[@]+"${suites[@]}"} 2>&1 | tee "$log" || code=${PIPESTATUS[0]}
  echo "::$stop::"
fi
echo "exit-code=$code" >> "$GITHUB_OUTPUT"

# From here on nothing may change the exit code.
if [[ -f "$report/report.json" ]]; then
  "$BIN/python" "$ACTION_PATH/collect.py" "$report" >> "$GITHUB_OUTPUT" ||
    echo "::warning title=yb-eval::The outcome logs could not be collected"
  "$BIN/yb-eval" annotate "$report/report.json" --checkout "${GITHUB_WORKSPACE:-.}" ||
    echo "::warning title=yb-eval::The annotations could not be made"
  cat "$report/report.md" >> "$GITHUB_STEP_SUMMARY" || true
else
  echo "::error title=yb-eval::The run ended with exit code $code and has no report: see the log"
  # yb-eval's own words only: it has taken the secrets out of them.
  {
    echo "exit code $code"
    grep '^yb-eval: ' "$log" | tail -n 1 | cut -c 1-1000
  } > "$report/refused.txt" || true
  {
    echo "## yb-eval: no verdict"
    echo "<pre>"
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/@/\&#64;/g' "$report/refused.txt"
    echo "</pre>"
  } >> "$GITHUB_STEP_SUMMARY" || true
fi
