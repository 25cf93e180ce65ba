#!/bin/sh
# Makes the manual page from the --help output with help2man, with a section for each command:
#   packaging/man_page.sh WHYOOM OUTPUT
set -eu
whyoom=$1
output=$2
export LC_ALL=C.UTF-8 COLUMNS=100
sections=$(mktemp)
trap 'rm -f "$sections"' EXIT
{
  cat << 'END'
[ENVIRONMENT]
.TP
NO_COLOR
If set and not empty, print no colours unless \fB\-\-color always\fR is given.
.TP
CLICOLOR_FORCE, FORCE_COLOR
If set, not empty and not 0, print colours even if the output is not a terminal.
.TP
COLUMNS
The width of the text report (60 to 120) and of \fB\-\-help\fR (up to 110). The default is the width of the terminal, or 80.
.TP
WHYOOM_RULES
Rule files and folders, separated by colons, for runs without \fB\-\-rules\fR.
.TP
XLA_FLAGS
\fBwhyoom run\fR adds \fB\-\-xla_dump_to\fR to it for the job.
.TP
TMPDIR
The folder in which \fBwhyoom run\fR keeps the XLA dump while the job runs.
END
  echo '[COMMANDS]'
  for command in run explain diff merge 'rules list' 'rules check' 'rules test' 'rules trace' \
      'rules schema' skill; do
    printf '.SS whyoom %s\n.nf\n' "$command"
    # Escape what roff interprets: backslashes, hyphens, and a dot or quote at the start of a line.
    "$whyoom" $command --help | sed 's/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/'
    echo .fi
  done
} > "$sections"
help2man --no-info --no-discard-stderr --section=1 --locale=C.UTF-8 --name='explain XLA TPU out-of-memory errors in job logs' \
  --include="$sections" "$whyoom" | iconv -f UTF-8 -t ASCII//TRANSLIT | sed 's/^\(\.TH WHYOOM "1" \)"[^"]*"/\1""/; /^\.TH/a .nh\n.ad l' > "$output"  # no date: builds are reproducible
