#!/usr/bin/env bash
# Whether a program has what Debian's hardening=+all asks for:   tests/packaging/hardening_test.sh PROGRAM
set -euo pipefail
program=$1
missing=0
has() {  # WHAT WORDS: some line of standard input holds them
  if ! grep -q -- "$2"; then
    echo "$program: $1 is missing"
    missing=1
  fi
}
has "an address that is chosen at each start (PIE)" 'Type: *DYN' < <(readelf -hW "$program")
has "tables that nobody writes to (RELRO)" 'GNU_RELRO' < <(readelf -lW "$program")
has "a stack that is no code" 'GNU_STACK.* RW ' < <(readelf -lW "$program")
if readelf -dW "$program" | grep -q NEEDED; then
  has "functions that are looked up before the first line runs (BIND_NOW)" 'FLAGS.*NOW' < <(readelf -dW "$program")
fi
has "a stack that tells when it was overwritten" '__stack_chk_fail' < <(readelf -sW "$program")
has "calls of the C library that check sizes (FORTIFY_SOURCE)" '__[a-z]*_chk' < <(readelf -sW "$program" | grep -v stack_chk)
exit "$missing"
