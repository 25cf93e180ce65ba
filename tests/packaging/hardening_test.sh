#!/usr/bin/env bash
# Tests that a program has the hardening of Debian's hardening=+all:   tests/packaging/hardening_test.sh PROGRAM
set -euo pipefail
program=$1
missing=0
has() {  # FEATURE PATTERN: a line of standard input matches
  if ! grep -q -- "$2"; then
    echo "$program: $1 is missing"
    missing=1
  fi
}
has "position-independent executable (PIE)" 'Type: *DYN' < <(readelf -hW "$program")
has "read-only relocations (RELRO)" 'GNU_RELRO' < <(readelf -lW "$program")
has "non-executable stack" 'GNU_STACK.* RW ' < <(readelf -lW "$program")
if readelf -dW "$program" | grep -q NEEDED; then
  has "immediate binding (BIND_NOW)" 'FLAGS.*NOW' < <(readelf -dW "$program")
fi
has "stack protector" '__stack_chk_fail' < <(readelf -sW "$program")
has "fortified C library calls (FORTIFY_SOURCE)" '__[a-z]*_chk' < <(readelf -sW "$program" | grep -v stack_chk)
exit "$missing"
