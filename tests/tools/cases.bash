# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Shared by the script tests: cases with GoogleTest's result lines.
# shellcheck disable=SC2154 # suite is the caller's
failed_cases=0

# case_of NAME FUNCTION [ARGUMENT...]: runs FUNCTION in a subshell; it passes by returning 0.
case_of() {
  local name=$suite.$1 status=0
  shift
  printf '[ RUN      ] %s\n' "$name"
  ("$@") || status=$?
  if ((status == 0)); then
    printf '[       OK ] %s\n' "$name"
  else
    printf '[  FAILED  ] %s\n' "$name"
    failed_cases=$((failed_cases + 1))
  fi
}

finish_cases() { ((failed_cases == 0)); }
