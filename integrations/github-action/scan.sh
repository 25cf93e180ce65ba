#!/usr/bin/env bash
# The step of action.yml: its inputs come as INPUT_*, its outputs go to the file that GITHUB_OUTPUT names.
set -euo pipefail

stop() { # MESSAGE: how the step was called is wrong
  message=${1//'%'/%25} && message=${message//$'\r'/%0D} && message=${message//$'\n'/%0A}
  printf '::error title=whyoom::%s\n' "$message"
  exit 2
}

lines_of() { # NAME TEXT: the array NAME becomes the lines of TEXT that are not empty
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
    [ -f "$GITHUB_ACTION_PATH/../get-whyoom.sh" ] || stop "get-whyoom.sh is not beside the action's folder: copy both"
    # An action that lies in the workflow's own repository has no repository of its own to be told.
    [ -n "$releases" ] || [ -z "$ACTION_REPOSITORY" ] || releases=$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download
    whyoom=$(WHYOOM_RELEASES=$releases WHYOOM_VERSION=$INPUT_VERSION WHYOOM_SHA256=$INPUT_SHA256 WHYOOM_CACHE=${RUNNER_TOOL_CACHE:-$RUNNER_TEMP}/whyoom \
      "$GITHUB_ACTION_PATH/../get-whyoom.sh" "$work/program" 2>"$work/get-whyoom.log") || stop "$(cat "$work/get-whyoom.log")"
  elif [ -n "$INPUT_INSTALL" ]; then
    # In a place of its own: many systems let pip install nothing beside what they brought.
    python3 -m venv "$work/program"
    "$work/program/bin/pip" install --quiet --disable-pip-version-check -- "$INPUT_INSTALL"
    whyoom=$work/program/bin/whyoom
  fi
  command -v -- "$whyoom" >/dev/null || stop "no program $whyoom: install it before, or give the inputs 'version' and 'sha256', or 'binary' or 'install'"
}

paths=() args=()
lines_of paths "$INPUT_PATHS"
lines_of args "$INPUT_ARGS"
sarif=$INPUT_SARIF
[ ${#paths[@]} -gt 0 ] || [ -n "$INPUT_RUN" ] || stop "one of the inputs 'paths' and 'run' has to be given"
[ ${#paths[@]} -eq 0 ] || [ -z "$INPUT_RUN" ] || stop "only one of the inputs 'paths' and 'run' can be given"
[ -z "$INPUT_VERSION" ] || [ -z "$INPUT_INSTALL" ] || stop "only one of the inputs 'version' and 'install' can be given"
case $sarif in '' | *$'\n'* | *$'\r'*) stop "the input 'sarif' has to name a file" ;; esac
# On a runner of one's own RUNNER_TEMP may be a folder that others can write to.
work=$(mktemp -d "$RUNNER_TEMP/whyoom-XXXXXX")
trap 'rm -rf -- "$work"' EXIT
find_program

records=$work/records
: >"$records"
# A pull request can bring a link.
[ ! -L "$sarif" ] || stop "the input 'sarif' names a symbolic link: $sarif"
if [ -e "$sarif" ]; then # of an earlier step, and nothing else
  head -c 4096 -- "$sarif" 2>/dev/null | grep -q sarif-schema || stop "the input 'sarif' names what is there already and is no SARIF: $sarif"
  rm -f -- "$sarif"
fi
mkdir -p -- "$(dirname -- "$sarif")"
options=(--format github --format "sarif=$sarif" --format "ndjson=$records" --source-root "$INPUT_SOURCE_ROOT" --step-summary "${args[@]}")

status=0
if [ -n "$INPUT_RUN" ]; then
  "$whyoom" run "${options[@]}" -- bash --noprofile --norc -eo pipefail -c "$INPUT_RUN" || status=$?
else
  "$whyoom" "${options[@]}" -- "${paths[@]}" || status=$?
fi

# Where whyoom itself could not run (an option that there is not, say) nothing is known; of a job that failed with the
# same status there are records.
ran=true
[ "$status" != 2 ] || [ -s "$records" ] || ran=false
found=
[ "$ran" = false ] || found=$(grep -c '^{"type":"diagnosis"' "$records" || true)
[ "$ran" = true ] || printf '::error title=whyoom::whyoom could not run, see above; in the input args each line is one word\n'
# After a success whyoom says nothing. To code scanning an empty report says that what it knew of is gone.
if [ "$ran" = true ] && [ -n "$INPUT_RUN" ] && [ ! -e "$sarif" ]; then
  "$whyoom" --format sarif --output "$sarif" --files-from /dev/null
fi
[ -e "$sarif" ] || sarif=
printf '%s=%s\n' found "$found" exit-status "$status" sarif "$sarif" >>"$GITHUB_OUTPUT"
if [ -z "$INPUT_RUN" ] && [ "$INPUT_FAIL" != true ] && { [ "$status" = 1 ] || [ "$status" = 3 ]; }; then status=0; fi
exit "$status"
