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
  used=$(ldd "$work/unpacked/usr/bin/tessera" | grep -F libstarpu) || return 1
  ! grep -vF "$work/unpacked/" <<<"$used" || { echo "$used"; return 1; }
  [[ -f $work/unpacked/usr/share/doc/tessera/starpu/COPYING.LGPL && -f $work/unpacked/usr/share/doc/tessera/copyright ]]
}

runs() { STARPU_NCUDA=0 "$work/unpacked/usr/bin/tessera" eigen --generate random --n 100 --cores 1; }

case_of Made is_made
case_of HasItsStarpu has_its_starpu
case_of Runs runs
finish_cases
