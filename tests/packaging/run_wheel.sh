#!/usr/bin/env bash
# Tests the wheel and the Python module:  tests/packaging/run_wheel.sh
#
# Builds the wheel, installs it into a clean environment, and tests its module there with JAX, IPython and a Jupyter
# kernel. If no package registry is reachable, skips the test or part of it with a message (status 0); REQUIRE_REGISTRY=1
# makes that a failure. PYTHON selects another Python, WHYOOM_WHEEL an existing wheel.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
fail() { echo "wheel: FAILED: $1" >&2; exit 1; }
skip() {
  echo "wheel: SKIPPED: $1" >&2
  [ "${REQUIRE_REGISTRY:-0}" = 0 ] || exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset WHYOOM_BINARY PYTHONPATH PYTHONHOME
cd "$source"
wheel=${WHYOOM_WHEEL:-}
if [ -z "$wheel" ]; then
  status=0
  packaging/wheel.sh "$work/dist" || status=$?
  if [ $status = 3 ]; then skip "no package registry"; exit 0; fi
  [ $status = 0 ] || fail "packaging/wheel.sh ended with $status"
  wheel=$(ls "$work"/dist/*.whl)
fi
echo "wheel: $(basename "$wheel"), $(stat -c %s "$wheel") bytes"

# A clean environment, and a folder without the sources.
"$python" -m venv "$work/venv"
pip=("$work/venv/bin/pip" --quiet --disable-pip-version-check --no-cache-dir --retries 2 --timeout 60)
"${pip[@]}" install --no-index --no-deps "$wheel"
bin=$work/venv/bin
log=$source/testdata/cases/compile-padded-points/log
cd "$work"
clean=(env -i HOME="$work" LC_ALL=C.UTF-8 PATH=/usr/bin:/bin)
ldd "$bin/whyoom" 2>&1 | grep -Eq 'statically linked|not a dynamic' || { ldd "$bin/whyoom"; fail "the program needs shared libraries"; }
if [ "$(id -u)" = 0 ]; then  # only the program and the kernel
  mkdir empty && cp "$bin/whyoom" "$log" empty/
  chroot empty /whyoom --exit-zero /log > bare || fail "the program does not run in an empty root"
  grep -q '^E1000 ' bare || fail "no diagnosis in an empty root"
fi
"${clean[@]}" "$bin/whyoom" --version
for command in "$bin/whyoom" "$bin/python -m whyoom"; do
  status=0
  "${clean[@]}" $command "$log" > report || status=$?
  [ $status = 1 ] && grep -q '^E1000 ' report || fail "$command: status $status"
done
[ -s "$work/venv/share/man/man1/whyoom.1.gz" ] || fail "no manual page in the environment"
"$bin/whyoom" skill | cmp - "$work/venv/share/whyoom/skills/whyoom/SKILL.md" || fail "no skill file in the environment"
"$bin/python" - "$bin/whyoom" << 'PY'
import subprocess, sys, time
def start(*command):
    took = []
    for _ in range(20):
        begin = time.perf_counter()
        subprocess.run([*command, "--version"], stdout=subprocess.DEVNULL, check=True)
        took.append(time.perf_counter() - begin)
    return sorted(took)[10] * 1000
print(f"wheel: start {start(sys.argv[1]):.1f} ms, python -m whyoom {start(sys.executable, '-m', 'whyoom'):.1f} ms")
PY

# As installed from a package index.
"$source/tests/packaging/run_index.sh" "$wheel" || fail "the wheel from an index"

# The static and the dynamic program must read the same inputs alike, including names in archives.
if [ -x "$source/build/release/whyoom" ]; then
  mkdir -p packed && cp "$log" "packed/größe 大.log"
  tar -cJf logs.tar.xz packed && "$python" -m zipfile -c logs.zip packed && gzip -k9 logs.tar.xz
  for input in logs.tar.xz logs.zip logs.tar.xz.gz; do
    "$bin/whyoom" --format json --exit-zero "$input" > static.json
    "$source/build/release/whyoom" --format json --exit-zero "$input" > shared.json
    cmp static.json shared.json || fail "the static program reads $input differently"
    grep -q '"E1000"' static.json || fail "no diagnosis of $input"
  done
fi

cp -r "$source/python/tests" tests
mkdir -p testdata/cases && cp -r "$source/testdata/cases/dump-padded-points" testdata/cases/
mkdir python && mv tests python/tests
if ! "${pip[@]}" install "jax[cpu]" ipython ipykernel nbclient mypy > pip.log 2>&1; then
  cat pip.log >&2
  skip "no package registry, so the module is tested without JAX"
else
  "$bin/mypy" --strict --cache-dir "$work/mypy" -p whyoom || fail "types"
fi
"$bin/python" -m unittest discover -v -s python/tests 2>&1 | tee tests.log | grep -E '^(Ran|OK|FAILED|.*skipped)' || true
tail -1 tests.log | grep -q '^OK' || { cat tests.log; fail "the module's tests"; }

# The source distribution must contain each file that is built or installed.
cd "$source"
tools=$source/build/wheel-tools/bin
if [ ! -x "$tools/python" ]; then
  skip "the tools for a source distribution are missing"
else
  "$tools/python" -c 'import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])' "$work" > /dev/null
  tar -xzf "$work"/whyoom-*.tar.gz -C "$work"
  sources=$(ls -d "$work"/whyoom-*/)
  find CMakeLists.txt LICENSE README.md pyproject.toml src rules resources cmake packaging docs python/whyoom python/README.md -type f -not -name '*.pyc' | while read -r file; do
    cmp -s "$file" "$sources/$file" || fail "the source distribution lacks $file"
  done
  for folder in build tests testdata .git; do
    [ ! -e "$sources/$folder" ] || fail "the source distribution contains $folder"
  done
  cmake -S "$sources" -B "$work/configured" -G Ninja -DWHYOOM_TESTS=OFF > /dev/null || fail "the source distribution cannot be configured"
  echo "wheel: source distribution, $(stat -c %s "$work"/whyoom-*.tar.gz) bytes"
fi
