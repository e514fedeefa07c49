#!/bin/sh
# Prints how long each test binary ran, the longest first, from the output of "make test":
#   make test 2>&1 | tee target/test.log; sh scripts/test-times.sh target/test.log
# Times of binaries that run at the same hour on the same machine compare; others do not.
set -eu
awk '
  function print_times() { if (passed > 0) printf "%8.1f s  %5d tests  %s\n", seconds, passed, name; passed = 0 }
  /^ *Running / { print_times(); name = $NF; gsub(/[()]/, "", name); sub(/.*\//, "", name); sub(/-[0-9a-f]*$/, "", name) }
  /^ *Doc-tests / { print_times(); name = "documentation of " $2 }
  # A test may run its own binary again, so the last result is that of all tests.
  /^test result: / {
    seconds = $NF; sub(/s$/, "", seconds)
    for (i = 1; i < NF; i++) if ($(i + 1) == "passed;") passed = $i
  }
  END { print_times() }' "$@" | sort -rn
