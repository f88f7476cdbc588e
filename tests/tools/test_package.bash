#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the Debian package of the build tree TESSERA_BUILD_DIR, unpacks it into a folder, and runs the program from there with
# the StarPU of the package.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=Package
# shellcheck source=tests/tools/cases.bash
source "$root/tests/tools/cases.bash"
for tool in dpkg-deb dpkg-shlibdeps cpack; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done

build=${TESSERA_BUILD_DIR:-$root/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

is_made() {
  cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
  dpkg-deb -x "$work"/made/tessera_*.deb "$work/unpacked" || return 1
  dpkg-deb -f "$work"/made/tessera_*.deb Depends | grep -F libc6 >/dev/null
}

has_its_starpu() {
  local used
  used=$(ldd "$work/unpacked/usr/bin/tessera" "$work/unpacked/usr/libexec/tessera/measure_buses" | grep -F libstarpu) &&
    (($(wc -l <<<"$used") >= 2)) || return 1
  ! grep -vF "$work/unpacked/" <<<"$used" || { echo "$used"; return 1; }
  [[ -f $work/unpacked/usr/share/doc/tessera/starpu/COPYING.LGPL && -f $work/unpacked/usr/share/doc/tessera/copyright ]]
}

runs() { STARPU_NCUDA=0 "$work/unpacked/usr/bin/tessera" eigen --generate random --n 100 --cores 1; }

# StarPU's program that reads traces is in the package, beside StarPU's library.
reads_traces() {
  local folder program="$work/unpacked/usr/bin/tessera"
  folder=$(dirname "$(ldd "$program" | awk '/libstarpu-/ {print $3; exit}')")
  [[ $folder == "$work/unpacked/"* && -x $folder/starpu_fxt_tool ]] || { echo "no starpu_fxt_tool in '$folder'"; return 1; }
  STARPU_NCUDA=0 "$program" eigen --generate random --n 100 --cores 1 --quiet --trace "$work/trace" &&
    "$program" trace "$work/trace" | tee "$work/summary" && grep -F lapack_eigensolve "$work/summary" >/dev/null
}

case_of Made is_made
case_of HasItsStarpu has_its_starpu
case_of Runs runs
case_of ReadsTraces reads_traces
finish_cases
