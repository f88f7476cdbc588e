#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# The layers: which files may include or call what.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=Layering
# shellcheck source=tests/tools/cases.bash
source "$root/tests/tools/cases.bash"
cd "$root" || exit 1

# absent PATTERN PATH...: no line of the files matches; missing paths are fine.
absent() {
  local pattern=$1
  shift
  local found
  found=$(grep -rnE --include='*.hpp' --include='*.h' --include='*.inl' --include='*.cpp' --include='*.cu' --include='*.cuh' -- "$pattern" "$@" 2>/dev/null)
  [[ -z $found ]] || { printf '%s\n' "$found"; return 1; }
}

runtime_headers='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](starpu|mpi|cuda|cublas|cusolver|cusparse|nvrtc)[a-z_0-9]*\.h[>"]'

# The check itself must detect a violation.
notices_an_include() {
  local directory
  directory=$(mktemp -d) && printf '  # include <starpu_mpi.h>\n' >"$directory/a.hpp"
  ! absent "$runtime_headers" "$directory" >/dev/null
  local status=$?
  rm -rf "$directory"
  return $status
}

kernels_know_no_starpu() {
  local files
  mapfile -t files < <(find codelets -name '*_cpu.cpp' -o -name '*.inl' -o -name '*.simd.cpp')
  ((${#files[@]} > 0)) || return 0
  ! grep -nE 'starpu|<mpi\.h>|<tessera/runtime/(runtime|data|codelet|sequence)\.hpp>' "${files[@]}"
}

case_of TheCheckSeesAnInclude notices_an_include
case_of AlgorithmsIncludeNoStarpuMpiOrCuda absent "$runtime_headers" algorithms
case_of CodeletsIncludeNoStarpuOrMpi absent '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](starpu|mpi)[a-z_0-9]*\.h[>"]' codelets
case_of KernelsKnowNoStarpu kernels_know_no_starpu
case_of TheProgramIncludesNoStarpuMpiOrCuda absent "$runtime_headers" tools/tessera tools/common tools/bench
case_of OnlyPeersKnowOtherLibraries absent 'solve_with_(lapack|scalapack|elpa|cusolver|slepc)|#[[:space:]]*include[[:space:]]*[<"](libxsmm|dbcsr|slepceps|elpa/elpa)\.h' \
  tools/tessera tools/common tools/bench
case_of OnlyTheRuntimeInsertsTasks absent 'starpu(_mpi)?_(task_insert|insert_task|task_submit|task_build)' codelets algorithms tools tests
finish_cases
