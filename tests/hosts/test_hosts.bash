#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Host programs: where they write, and how they have initialised MPI. HOST_PROGRAM is the program, MPIEXEC mpirun
# (not set: a build without MPI).
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=Hosts
# shellcheck source=tests/tools/cases.bash
source "$root/tests/tools/cases.bash"

program=${HOST_PROGRAM:-$root/build/bin/host_program}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The files below the folders.
files_in() { find "$@" -mindepth 1; }

# Everything that a run leaves is in the cache, and in the folder of the trace.
writes_into_the_cache() {
  local home=$work/home cache=$work/cache run=$work/run traces=$work/traces
  mkdir -p "$home" "$cache" "$run" "$traces" "$work/here"
  cd "$work/here" || return 1
  env -u STARPU_HOME -u STARPU_PERF_MODEL_DIR HOME="$home" XDG_CACHE_HOME="$cache" XDG_RUNTIME_DIR="$run" TMPDIR="$run" \
    STARPU_SCHED=dmda STARPU_CALIBRATE=1 "$program" none "$traces" || return 1
  local left
  left=$(files_in "$home" "$run" "$work/here")
  [[ -z $left ]] || { echo "$left"; return 1; }
  left=$(files_in "$cache" | grep -v "^$cache/tessera")
  [[ -z $left ]] || { echo "$left"; return 1; }
  [[ -n $(find "$cache/tessera" -name '*.config') && -n $(files_in "$traces") ]]
}

# Without XDG_CACHE_HOME it is in HOME, and nothing else is.
writes_into_the_cache_of_home() {
  local home=$work/home2
  mkdir -p "$home"
  env -u STARPU_HOME -u STARPU_PERF_MODEL_DIR -u XDG_CACHE_HOME HOME="$home" "$program" || return 1
  local left
  left=$(files_in "$home" -not -path "$home/.cache" -not -path "$home/.cache/tessera*")
  [[ -z $left ]] || { echo "$left"; return 1; }
}

ranks() {
  local count=$1
  shift
  timeout 100 "$MPIEXEC" -n "$count" --oversubscribe --bind-to none "$@" 2>"$work/stderr"
}

# works LEVEL RANKS
works() { ranks "$2" "$program" "$1" || { cat "$work/stderr"; return 1; }; }

# refused LEVEL NAME: by both ranks, with the level that was found and the one that is needed.
refused() {
  local status=0
  ranks 2 "$program" "$1" || status=$?
  [[ $status == 3 && $(grep -c "^MPI was initialised with $2.*need MPI_Init_thread with MPI_THREAD_MULTIPLE" "$work/stderr") == 2 ]] ||
    { echo "status $status"; cat "$work/stderr"; return 1; }
}

# The advice that the error gives.
advice_works() {
  "$MPIEXEC" --version | grep -q 'Open MPI' || return 0
  ! ranks 2 "$program" plain && grep -q 'OMPI_MPI_THREAD_LEVEL=3' "$work/stderr" || { cat "$work/stderr"; return 1; }
  OMPI_MPI_THREAD_LEVEL=3 ranks 2 "$program" plain || { cat "$work/stderr"; return 1; }
}

case_of WritesIntoTheCacheAlone writes_into_the_cache
case_of WritesIntoTheCacheOfHomeAlone writes_into_the_cache_of_home
if [[ -n ${MPIEXEC:-} ]]; then
  for level in plain funneled serialized multiple; do
    case_of "OneRank_$level" works "$level" 1
  done
  case_of TwoRanks_multiple works multiple 2
  case_of TwoRanks_plain refused plain MPI_THREAD_SINGLE
  case_of TwoRanks_funneled refused funneled MPI_THREAD_FUNNELED
  case_of TwoRanks_serialized refused serialized MPI_THREAD_SERIALIZED
  case_of TwoRanks_plainWithOpenMpisVariable advice_works
fi
finish_cases
