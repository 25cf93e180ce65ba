#!/usr/bin/env bash
# Counts the lines of src/ that each fuzz target, and all of them together, reach with their seeds and found inputs:
#
#   tests/fuzz/lines.sh [FOLDER OF INPUTS THAT .ci/fuzz FOUND=build/fuzz/found]
#
# Needs Clang with llvm-profdata and llvm-cov (Debian: clang llvm). Builds into build/lines.
set -euo pipefail
cd "$(dirname "$0")/../.."

found=$(realpath -m "${1:-build/fuzz/found}")
build=build/lines
mkdir -p $build
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++ \
  -DCMAKE_CXX_FLAGS="-fprofile-instr-generate -fcoverage-mapping" \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 ${CMAKE_ARGUMENTS:-} > /dev/null
cmake --build $build --target fuzz_targets > $build/log
folder=$build/tests/fuzz
rm -f $build/*.profraw $build/*.profdata

# Prints the number and share of the reached lines, from the columns "Lines" and "Missed Lines" of the total.
report() { llvm-cov report "$@" -ignore-filename-regex='/(tests|generated|include)/' | awk '/^TOTAL/ {printf "%d of %d lines, %.1f %%\n", $8 - $9, $8, 100 * ($8 - $9) / $8}'; }

objects=()
for seeds in $folder/fuzz_*.seeds; do
  target=$(basename "$seeds" .seeds)
  mapfile -t inputs < "$seeds"
  [ -d "$found/${target#fuzz_}" ] && inputs+=("$found/${target#fuzz_}")
  LLVM_PROFILE_FILE=$build/$target.profraw $folder/$target "${inputs[@]}" > /dev/null
  llvm-profdata merge -o $build/$target.profdata $build/$target.profraw
  printf '%s: ' "${target#fuzz_}"
  report $folder/$target -instr-profile=$build/$target.profdata
  objects+=(-object $folder/$target)
done
llvm-profdata merge -o $build/all.profdata $build/fuzz_*.profdata
printf 'all: '
report "${objects[@]:1}" -instr-profile=$build/all.profdata
