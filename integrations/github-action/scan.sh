#!/usr/bin/env bash
# The step of action.yml. The inputs are in INPUT_*, and the outputs go to the file $GITHUB_OUTPUT.
set -euo pipefail

annotate() { # error|warning MESSAGE
  local message=${2//'%'/%25} && message=${message//$'\r'/%0D} && message=${message//$'\n'/%0A}
  printf '::%s title=whyoom::%s\n' "$1" "$message"
}

stop() { # MESSAGE: reports wrong inputs and ends the step
  annotate error "$1"
  exit 2
}

go_on_without() { # MESSAGE: whyoom cannot run; runs the job nevertheless, unless the program is required
  [ "${INPUT_REQUIRED:-false}" = false ] || stop "$1"
  annotate warning "$1; going on without it"
  status=0
  [ -z "$INPUT_RUN" ] || "${job[@]}" || status=$?
  printf '%s=%s\n' found '' exit-status "${INPUT_RUN:+$status}" sarif '' >>"$GITHUB_OUTPUT"
  exit "$status"
}

expand_paths() { # replaces each pattern in `paths` by the files that match; keeps a name that exists, or matches nothing
  local path files expanded=()
  shopt -s globstar nullglob
  for path in "${paths[@]}"; do
    local IFS=
    # shellcheck disable=SC2206 # no word splitting, only the pattern is expanded
    files=($path)
    if [ -e "$path" ] || [ ${#files[@]} -eq 0 ]; then files=("$path"); fi
    expanded+=("${files[@]}")
  done
  shopt -u globstar nullglob
  paths=("${expanded[@]}")
}

lines_of() { # NAME TEXT: fills the array NAME with the non-empty lines of TEXT
  local -n lines=$1
  local line
  lines=()
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [ -z "$line" ] || lines+=("$line")
  done <<<"$2"
}

find_program() { # sets `whyoom`
  whyoom=$INPUT_BINARY
  if [ -n "$INPUT_VERSION" ]; then
    local releases=$INPUT_RELEASES
    [ -f "$GITHUB_ACTION_PATH/../get-whyoom.sh" ] || stop "get-whyoom.sh is missing next to the folder of the action: copy both"
    # ACTION_REPOSITORY is empty for an action in the repository of the workflow.
    [ -n "$releases" ] || [ -z "$ACTION_REPOSITORY" ] || releases=$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download
    whyoom=$(WHYOOM_RELEASES=$releases WHYOOM_VERSION=$INPUT_VERSION WHYOOM_SHA256=$INPUT_SHA256 WHYOOM_CACHE=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/whyoom \
      "$GITHUB_ACTION_PATH/../get-whyoom.sh" "$work/program" 2>"$work/get-whyoom.log") || {
      [ $? = 3 ] || stop "$(cat "$work/get-whyoom.log")" # 3: not reachable
      go_on_without "$(cat "$work/get-whyoom.log")"
    }
  elif [ -n "$INPUT_INSTALL" ]; then
    # Use a virtual environment, because many systems do not let pip install into their own Python.
    { python3 -m venv "$work/program" && "$work/program/bin/pip" install --quiet --disable-pip-version-check -- "$INPUT_INSTALL"; } ||
      go_on_without "cannot install $INPUT_INSTALL"
    whyoom=$work/program/bin/whyoom
  fi
  command -v -- "$whyoom" >/dev/null || go_on_without "program not found: $whyoom (install it, or set the inputs 'version' and 'sha256', 'binary', or 'install')"
}

paths=() args=()
job=(bash --noprofile --norc -eo pipefail -c "$INPUT_RUN")
lines_of paths "$INPUT_PATHS"
expand_paths
lines_of args "$INPUT_ARGS"
sarif=$INPUT_SARIF
[ ${#paths[@]} -gt 0 ] || [ -n "$INPUT_RUN" ] || stop "set one of the inputs 'paths' and 'run'"
[ ${#paths[@]} -eq 0 ] || [ -z "$INPUT_RUN" ] || stop "set only one of the inputs 'paths' and 'run'"
[ -z "$INPUT_VERSION" ] || [ -z "$INPUT_INSTALL" ] || stop "set only one of the inputs 'version' and 'install'"
case $sarif in '' | *$'\n'* | *$'\r'*) stop "the input 'sarif' must be the name of a file" ;; esac
# On a self-hosted runner, others may be able to write to RUNNER_TEMP.
work=$(mktemp -d "$RUNNER_TEMP/whyoom-XXXXXX")
trap 'rm -rf -- "$work"' EXIT
find_program

records=$work/records
: >"$records"
# A pull request can contain a link to another file or folder.
link=${sarif#"$PWD"/}
while
  [ ! -L "$link" ] || stop "the input 'sarif' names a symbolic link: $link"
  [[ $link == [!/]*/* ]]
do link=${link%/*}; done
if [ -e "$sarif" ]; then # replace only the file of an earlier step
  head -c 4096 -- "$sarif" 2>/dev/null | grep -q sarif-schema || stop "the input 'sarif' names an existing file that is not SARIF: $sarif"
  rm -f -- "$sarif"
fi
mkdir -p -- "$(dirname -- "$sarif")"
options=(--format github --format "sarif=$sarif" --format "ndjson=$records" --format "markdown=$work/summary.md" --source-root "$INPUT_SOURCE_ROOT" "${args[@]}")

status=0
if [ -n "$INPUT_RUN" ]; then
  "$whyoom" run "${options[@]}" -- true || go_on_without "whyoom could not run, see above (in the input args, each line is one word)"
  : >"$records"
  "$whyoom" run "${options[@]}" -- "${job[@]}" || status=$?
else
  "$whyoom" "${options[@]}" -- "${paths[@]}" || status=$?
fi

[ ! -e "$work/summary.md" ] || cat -- "$work/summary.md" >>"$GITHUB_STEP_SUMMARY"
# Without records, whyoom itself could not run, for example because of an unknown option.
ran=true
[ -s "$records" ] || ran=false
found=
[ "$ran" = false ] || found=$(grep -c '^{"type":"diagnosis"' "$records" || true)
[ "$ran" = true ] || printf '::error title=whyoom::whyoom could not run, see above (in the input args, each line is one word)\n'
# whyoom writes no SARIF file if the job succeeded. An empty report makes code scanning close its old alerts.
if [ "$ran" = true ] && [ -n "$INPUT_RUN" ] && [ ! -e "$sarif" ]; then
  "$whyoom" --format sarif --output "$sarif" --files-from /dev/null
fi
[ -e "$sarif" ] || sarif=
printf '%s=%s\n' found "$found" exit-status "$status" sarif "$sarif" >>"$GITHUB_OUTPUT"
if [ -z "$INPUT_RUN" ] && [ "$INPUT_FAIL" != true ] && { [ "$status" = 1 ] || [ "$status" = 3 ]; }; then status=0; fi
exit "$status"
