# Installs yb-eval, from the repository that this action is part of, into an environment of its own.
set -euo pipefail

root="$(cd "$ACTION_PATH/../../.." && pwd)"
venv="$RUNNER_TEMP/yb-eval-venv"

if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "::error title=yb-eval::Python 3.11 or later is needed: put actions/setup-python before this action"
  exit 2
fi
python3 -m venv "$venv"

parts=()
for folder in "$root"/core "$root"/datasets "$root"/plugins/*; do
  if [[ -f "$folder/pyproject.toml" ]]; then
    parts+=("$folder")
  fi
done
wanted=("${parts[@]}")
if [[ -n "$REQUIREMENTS" ]]; then
  # Together, so that pip finds versions that suit both.
  wanted+=(-r "$WORKING_DIRECTORY/$REQUIREMENTS")
fi
if [[ -f "$root/constraints.txt" ]]; then
  wanted+=(-c "$root/constraints.txt")
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${wanted[@]}"

echo "bin=$venv/bin" >> "$GITHUB_OUTPUT"
