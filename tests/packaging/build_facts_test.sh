#!/usr/bin/env bash
# Tests which commit `whyoom --version` names (cmake/BuildFacts.cmake): in a clone, a changed clone, a source archive, and elsewhere.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
fail() { echo "build facts: FAILED: $1" >&2; exit 1; }
command -v git > /dev/null || { echo "build facts: SKIPPED: git is not installed" >&2; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
unset GIT_DIR GIT_WORK_TREE
mkdir -p "$work/clone/packaging"
cd "$work/clone"
cp "$source/.gitattributes" .
cp "$source/packaging/commit" packaging/
grep -q '^\$Format:%H\$$' packaging/commit || { echo "build facts: SKIPPED: this is a source archive" >&2; exit 0; }
echo 1 > file
git init -q . && git add -A && git commit -qm one
commit=$(git rev-parse HEAD)

commit_of() { # SOURCE
  cmake -DOUTPUT="$work/facts.cc" -DSOURCE="$1" "-DCOMPILER=GNU 1.2, Linux, static" "-DLIBRARIES=a 1;b 2" -P "$source/cmake/BuildFacts.cmake" >&2
  sed -n '/facts = {/{n;s/^ *"\(.*\)",$/\1/p}' "$work/facts.cc"
}

named=$(commit_of "$work/clone")
[ "$named" = "$commit" ] || fail "a clone: $named"
for text in '"GNU 1.2, Linux, static"' '"a 1"' '"b 2"'; do grep -qF "$text" "$work/facts.cc" || fail "no $text"; done
before=$(stat -c %y "$work/facts.cc")
commit_of "$work/clone" > /dev/null
[ "$before" = "$(stat -c %y "$work/facts.cc")" ] || fail "rewritten without changes"

touch untracked
[ "$(commit_of "$work/clone")" = "$commit" ] || fail "an untracked file counts as a change"
echo 2 > file
[ "$(commit_of "$work/clone")" = "$commit, changed" ] || fail "a clone with changes"
git commit -qam two
[ "$(commit_of "$work/clone")" = "$(git rev-parse HEAD)" ] || fail "a second commit"

mkdir "$work/archive" && git archive HEAD | tar -x -C "$work/archive"
[ "$(commit_of "$work/archive")" = "$(git rev-parse HEAD)" ] || fail "a source archive"
mkdir -p inside && cp -r packaging inside/
case $(commit_of "$work/clone/inside") in "unknown: "*) ;; *) fail "sources inside another repository use its commit" ;; esac
echo "build facts: clone, changed clone, archive and other sources are distinguished"
