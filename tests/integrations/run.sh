#!/usr/bin/env bash
# Tests each folder of integrations/ with a built whyoom.
#
#   tests/integrations/run.sh [WHYOOM [without-spark]]     default: build/release/whyoom
#
# Installs Python packages from the registry into a temporary virtual environment, or into INTEGRATIONS_VENV=DIR, which
# later runs reuse. Tests whose tools are not available are skipped with a message; with REQUIRE_ALL=1 they fail.
# Debian: apt-get install openjdk-17-jre-headless parallel python3-venv shellcheck
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(realpath "$here/../..")
whyoom=$(realpath "${1:-$root/build/release/whyoom}")
[ -x "$whyoom" ] || { echo "integrations: FAILED: no program at $whyoom" >&2; exit 1; }

say() { printf '\n-- %s\n' "$1"; }
skip() { # WHAT WHY
  echo "$1: skipped: $2"
  [ "${REQUIRE_ALL:-0}" = 0 ] || exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${INTEGRATIONS_VENV:-$work/venv}
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
python=$venv/bin/python

have() { # PACKAGE...: installs them with pip; returns 1 if the registry is not reachable
  "$venv/bin/pip" install --quiet --disable-pip-version-check --retries 2 --timeout 30 "$@" >"$work/pip.log" 2>&1 && return 0
  # Other errors of pip fail the test.
  grep -Eq 'connection broken|Connection|[Tt]imed out|name resolution|ProxyError|SSLError|No route to host|HTTP error 5|Could not fetch URL' "$work/pip.log" && return 1
  cat "$work/pip.log"
  exit 1
}

say "Slurm and GNU parallel"
"$here/shards_test.sh" "$whyoom"

say "shell scripts"
if command -v shellcheck >/dev/null; then
  shellcheck --severity=warning "$root"/integrations/*.sh "$root"/integrations/*/*.sh "$root"/packaging/*.sh "$root"/tests/packaging/*.sh "$root"/integrations/slurm/*.sbatch "$root"/integrations/completions/whyoom.bash \
    "$here"/*.sh
  echo "shellcheck: no errors"
else
  skip "shell scripts" "shellcheck is not installed"
fi

say "downloading the program of a release"
"$python" "$here/get_test.py" "$whyoom"

say "GitHub action, GitLab, Jenkins, Kubernetes, Slurm's restarts"
if have 'pyyaml==6.*'; then
  "$python" "$here/action_test.py" "$whyoom"
  "$python" "$here/snippets_test.py" "$whyoom"
  "$python" "$here/retry_test.py" "$whyoom"
  "$python" "$here/broken_whyoom_test.py"
else
  skip "GitHub action, GitLab, Jenkins, Kubernetes, Slurm's restarts" "no package registry"
fi

say "the schemas of GitHub and GitLab"
if have 'check-jsonschema==0.*'; then
  "$venv/bin/check-jsonschema" --builtin-schema vendor.github-actions "$root/integrations/github-action/action.yml"
  "$venv/bin/check-jsonschema" --builtin-schema vendor.github-workflows "$root/integrations/github-action/example.yml" \
    "$root"/.github/workflows/*.yml
  "$venv/bin/check-jsonschema" --builtin-schema vendor.gitlab-ci "$root"/integrations/gitlab/*.yml
else
  skip "the schemas of GitHub and GitLab" "no package registry"
fi

say "actionlint"
# actionlint checks workflows, and the inputs and outputs of a local action that they use.
actionlint=$(command -v actionlint || true)
if [ -z "$actionlint" ] && command -v go >/dev/null; then
  GOBIN=$work/bin GOFLAGS=-modcacherw go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 >/dev/null 2>&1 && actionlint=$work/bin/actionlint
fi
if [ -n "$actionlint" ]; then
  mkdir -p "$work/repository/.github/workflows" "$work/repository/integrations"
  cp -r "$root/integrations/github-action" "$work/repository/integrations/"
  mv "$work/repository/integrations/github-action/example.yml" "$work/repository/.github/workflows/"
  cp "$root"/.github/workflows/*.yml "$work/repository/.github/workflows/"
  git init -q "$work/repository"
  (cd "$work/repository" && "$actionlint")
  echo "actionlint: no errors"
else
  skip "actionlint" "neither actionlint nor Go is installed"
fi

say "Spark"
if [ "${2:-}" = without-spark ]; then
  echo "Spark: skipped as requested"
elif ! command -v java >/dev/null; then
  skip "Spark" "Java is not installed"
elif ! have 'pyspark==4.*' 'pandas>=2' 'pyarrow>=15'; then
  skip "Spark" "no package registry"
else
  timeout 1200 "$python" "$here/spark_test.py" "$whyoom" 2>"$work/spark.log" || { grep -v WARN "$work/spark.log"; echo "Spark: FAILED"; exit 1; }
  tail -n 4 "$work/spark.log"
fi
