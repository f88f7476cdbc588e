#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# The C interface: INCLUDE LIBRARY CC CXX. Each header compiles alone as C99 and as C++11, and the library exports every
# function that they declare, and no other C function.
set -euo pipefail
include=$1 library=$2 cc=$3 cxx=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in tessera.h $(cd "$include" && ls tessera/c/*.h); do
  echo "#include <$header>" > "$work/alone.c"
  "$cc" -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I"$include" "$work/alone.c"
  "$cxx" -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ -I"$include" "$work/alone.c"
done

# Names of functions: before an opening parenthesis, in what the preprocessor leaves, and not of types of functions.
echo '#include <tessera.h>' > "$work/all.c"
"$cc" -E -P -I"$include" "$work/all.c" | grep -v '^ *typedef' | grep -oE '\btessera_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u > "$work/declared"
nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | grep '^tessera_' | sort -u > "$work/exported"
[[ $(wc -l < "$work/declared") -gt 100 ]] || { echo "too few declarations were found"; exit 1; }
if ! diff "$work/declared" "$work/exported" > "$work/difference"; then
  echo "declared (<) and exported (>) functions differ:"
  cat "$work/difference"
  exit 1
fi
echo "$(wc -l < "$work/declared") functions"
