#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the build tree TESSERA_BUILD_DIR into a temporary prefix, builds examples/ against it as
# a separate project, and runs every example; each checks its own numbers. The one in Python runs with the
# package of the prefix. Quotes in the guide must match the files. With the argument `gpu` only the example
# that needs a GPU is built and run.
# shellcheck disable=SC2015 # A && B || C is intended
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=Examples
# shellcheck source=tests/tools/cases.bash
source "$root/tests/tools/cases.bash"

build=${TESSERA_BUILD_DIR:-$root/build}
cmake=${CMAKE:-cmake}
cxx=${CXX:-g++}
only=${1:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A block of code after the marker `<!-- quote: FILE:FIRST-LAST -->` must equal the lines FIRST to
# LAST of FILE.
quoted_block_is_right() {
  local page=$1 line=$2 file=$3 first=$4 last=$5 block text
  [[ -f $root/$file ]] || { echo "$page:$line: no such file: $file"; return 1; }
  sed -n "$((line + 1))p" "$page" | grep -q '^```' || { echo "$page:$line: no block of code follows"; return 1; }
  block=$(tail -n "+$((line + 2))" "$page" | sed '/^```$/,$d')
  text=$(sed -n "${first},${last}p" "$root/$file")
  [[ -n $text && $block == "$text" ]] && return 0
  echo "$page:$line: the block is not $file:$first-$last"
  diff <(printf '%s\n' "$block") <(printf '%s\n' "$text")
  return 1
}

quotes_are_right() {
  local wrong=0 count=0 page line
  for page in "$root"/docs/guide/*.md; do
    while IFS=: read -r line _; do
      count=$((count + 1))
      if [[ $(sed -n "${line}p" "$page") =~ ^'<!-- quote: '([^:]+):([0-9]+)-([0-9]+)' -->'$ ]]; then
        quoted_block_is_right "$page" "$line" "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${BASH_REMATCH[3]}" || wrong=1
      else
        echo "$page:$line: a marker is <!-- quote: FILE:FIRST-LAST -->"
        wrong=1
      fi
    done < <(grep -n '<!-- quote' "$page")
  done
  ((count > 0)) || { echo "no quotes found"; return 1; }
  return "$wrong"
}

# Chapters and examples that a page of the guide links to must exist.
links_lead_somewhere() {
  local wrong=0 page target
  for page in "$root"/docs/guide/*.md "$root"/examples/*/README.md; do
    while read -r target; do
      [[ -e $(dirname "$page")/$target ]] || { echo "$page: no such file: $target"; wrong=1; }
    done < <(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)#]+' | sed 's/^](//' | grep -v '^http')
  done
  return "$wrong"
}

every_example_is_whole() {
  local folder name wrong=0
  for folder in "$root"/examples/*/; do
    name=$(basename "$folder")
    [[ -f $folder/main.cpp || -f $folder/main.c || -f $folder/main.f90 ]] || { echo "$name: it has no main program"; wrong=1; }
    [[ -f $folder/README.md ]] || { echo "$name: README.md is missing"; wrong=1; }
    grep -qw "$name" "$root/examples/CMakeLists.txt" || { echo "$name: not in examples/CMakeLists.txt"; wrong=1; }
  done
  # Only public headers of the library, MPI and CUDA, and headers of the example's own.
  ! grep -rhE '^ *# *include' "$root"/examples --include='*.?pp' |
    grep -vE '(<(tessera/(tessera|matgen|shell_model)\.hpp|mpi\.h|cuda_runtime\.h|[a-z_]+)>|"[a-z_]+\.hpp")$' || wrong=1
  ! grep -rhE '^ *# *include' "$root"/examples --include='*.c' | grep -vE '<(tessera|[a-z]+)\.h>$' || wrong=1
  return "$wrong"
}

build_examples() {
  local targets=()
  [[ -z $only ]] || targets=(--target partial_spectrum_gpu)
  cp -r "$root/examples" "$work/examples"
  "$cmake" --install "$build" --prefix "$work/prefix" >"$work/log" 2>&1 &&
    "$cmake" -S "$work/examples" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CXX_COMPILER="$cxx" \
      -DTESSERA_EXAMPLE_DATA="$root/tests/data" -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror' >>"$work/log" 2>&1 &&
    "$cmake" --build "$work/build" "${targets[@]}" >>"$work/log" 2>&1 || { tail -n 60 "$work/log"; return 1; }
}

# Runs through CTest, as a user would, so a skipped example (no GPU) passes.
run_example() {
  local name=$1
  if [[ ! -x $work/build/$name ]]; then
    [[ $name == block_cyclic_mpi ]] && { echo "without MPI: not built"; return; }
    [[ $name == fortran_* ]] && { echo "without Fortran, or its libraries: not built"; return; }
    echo "$name was not built"
    return 1
  fi
  "$(dirname "$(command -v "$cmake")")/ctest" --test-dir "$work/build" -R "^$name\$" --no-tests=error -V >"$work/log" 2>&1 ||
    { cat "$work/log"; return 1; }
  grep -E '^[0-9]+: ' "$work/log" | sed -E 's/^[0-9]+: //' | grep -vE '^(Test (command|timeout)|Working Directory|Environment)'
}

# The package finds the libraries of its own prefix, and the example writes its figures.
run_python_example() {
  local python package=() figure cache=$build/CMakeCache.txt
  grep -q '^TESSERA_WITH_PYTHON:BOOL=ON' "$cache" || { echo "without the Python package: not built"; return; }
  python=$(sed -n 's/^TESSERA_PYTHON:INTERNAL=//p' "$cache")
  mapfile -t package < <(find "$work/prefix" -path '*/tessera/__init__.py')
  ((${#package[@]} == 1)) || { echo "not installed once, but: ${package[*]}"; return 1; }
  "$python" -c 'import matplotlib, numpy, scipy' 2>/dev/null ||
    { echo "without Matplotlib, NumPy or SciPy: not run"; return; }
  cp "$root/python/examples/water.py" "$work/"
  export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
  PYTHONPATH=$(dirname "$(dirname "${package[0]}")")
  (cd "$work" && "$python" -c 'import tessera; print(open("/proc/self/maps").read())') >"$work/maps" || return 1
  grep -F libtessera.so "$work/maps" >/dev/null || { echo "no libtessera is loaded"; return 1; }
  ! grep -E '/(libtessera|_core)[^/]*\.so' "$work/maps" | grep -vF " $work/prefix/" ||
    { echo "not of the prefix"; return 1; }
  [[ -f ${package[0]%/*}/_core.pyi && -f ${package[0]%/*}/py.typed ]] || { echo "types are missing"; return 1; }
  (cd "$work" && "$python" water.py --molecules 27 --output figures) || return 1
  for figure in states convergence decay filter; do
    [[ $(tail -n 1 "$work/figures/$figure.svg") == *'</svg>' ]] || { echo "$figure.svg: not whole"; return 1; }
  done
}

if [[ -n $only ]]; then
  case_of Build build_examples
  case_of partial_spectrum_gpu run_example partial_spectrum_gpu
  finish_cases
  exit
fi
export STARPU_NCUDA=0
case_of Quotes quotes_are_right
case_of Links links_lead_somewhere
case_of Whole every_example_is_whole
case_of Build build_examples
for folder in "$root"/examples/*/; do
  name=$(basename "$folder")
  if [[ $name =~ ^(block_cyclic_mpi|fortran_scf_scalapack|fortran_elsi)$ ]]; then
    # Several ranks with one worker each on every machine. Waiting processes yield their core.
    STARPU_NCPU=1 STARPU_WORKERS_NOBIND=1 STARPU_MPI_NOBIND=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
      OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none \
      case_of "$name" run_example "$name"
  else
    case_of "$name" run_example "$name"
  fi
done
case_of python_water run_python_example
finish_cases
