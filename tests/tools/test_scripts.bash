#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# tools/setup, tools/quickstart and tools/check under error conditions, which fake commands in front
# of PATH simulate. Each must end with status 1 and one clear line. The scripts run in a copy, so
# that they do not change logs of the real tree.
# shellcheck disable=SC2015,SC2016 # A && B || C is intended; the texts of fake commands must not be expanded
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=Scripts
# shellcheck source=tests/tools/cases.bash
source "$root/tests/tools/cases.bash"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tree" "$work/starpu"
cp -r "$root/tools" "$root/CMakePresets.json" "$work/tree/"
real_path=$PATH

# fake NAME TEXT: puts a command NAME that runs the shell text in front of PATH.
fake() {
  mkdir -p "$work/bin"
  printf '#!/bin/bash\n%s\n' "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}

# hide NAME...: a PATH with all commands except these.
hide() {
  local directory command
  mkdir -p "$work/rest"
  local directories
  IFS=: read -ra directories <<<"$real_path"
  for directory in "${directories[@]}"; do
    for command in "$directory"/*; do
      [[ -e $work/rest/${command##*/} ]] || ln -s "$command" "$work/rest/${command##*/}" 2>/dev/null
    done
  done
  for command in "$@"; do rm -f "$work/rest/$command"; done
  real_path=$work/rest
}

# ends_with_line STATUS PATTERN COMMAND...: expects the status and exactly one line on stderr, which
# matches.
ends_with_line() {
  local expected=$1 pattern=$2 status=0
  shift 2
  PATH=$work/bin:$real_path "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
  if ((status == expected)) && [[ $(grep -c . "$work/err") == 1 ]] && grep -qE -- "$pattern" "$work/err"; then return 0; fi
  echo "status $status (expected $expected); the pattern was: $pattern"
  sed 's/^/out: /' "$work/out"
  sed 's/^/err: /' "$work/err"
  return 1
}

help_is_printed() {
  local script status=0
  for script in setup quickstart check; do
    "$work/tree/tools/$script" --help | grep -q "^usage: tools/$script" || status=1
  done
  return "$status"
}

unknown_option() {
  local script
  for script in setup quickstart check; do
    "$work/tree/tools/$script" --no-such-option >/dev/null 2>"$work/err" </dev/null && return 1
    grep -q "unknown option '--no-such-option'" "$work/err" || return 1
    "$work/tree/tools/$script" --jobs none >/dev/null 2>"$work/err" </dev/null && return 1
    grep -q "expects a positive number, got 'none'" "$work/err" || return 1
  done
}

wrong_system() {
  fake uname 'echo Plan9'
  ends_with_line 1 'wrong operating system: Plan9' "$work/tree/tools/setup"
}

no_compiler() {
  hide g++
  # The package is installed, but the command is missing.
  fake dpkg-query 'for p in g++ cmake ninja-build make patch pkg-config git libopenblas-pthread-dev libopenmpi-dev openmpi-bin \
    libhwloc-dev libfxt-dev nlohmann-json3-dev libcli11-dev libfmt-dev libhdf5-dev libxsmm-dev zlib1g-dev libgtest-dev libscalapack-openmpi-dev libelpa-dev \
    gfortran; do
    printf "%s:installed " "$p"; done'
  ends_with_line 1 "no compiler.*'g\+\+' is not on PATH" "$work/tree/tools/setup"
}

old_compiler() {
  fake g++ 'exit 1'
  ends_with_line 1 'no usable compiler: .*C\+\+20' "$work/tree/tools/setup"
}

no_network() {
  fake dpkg-query ':'
  fake apt-get 'echo "E: Could not resolve host"; exit 100'
  if ((EUID == 0)); then
    ends_with_line 1 'packages could not be installed: no network' "$work/tree/tools/setup"
  else
    ends_with_line 1 'you are not root; run: sudo apt-get install -y .*libhwloc-dev' "$work/tree/tools/setup"
  fi
}

not_root() {
  ((EUID == 0)) || return 0 # the previous case covers it
  fake dpkg-query ':'
  chmod 755 "$work" && chmod -R a+rwX "$work/tree"
  ends_with_line 1 'you are not root; run: sudo apt-get install -y .*libhwloc-dev' \
    setpriv --reuid=65534 --regid=65534 --clear-groups "$work/tree/tools/setup"
}

no_network_for_starpu() {
  fake apt-get '[[ $1 == indextargets ]] && { echo "Debian Packages http://nowhere.invalid/debian"; exit 0; }
    echo "E: Failed to fetch: Temporary failure resolving"; exit 100'
  TESSERA_STARPU_PREFIX=$work/starpu ends_with_line 1 "StarPU's source could not be fetched: no network" "$work/tree/tools/setup"
}

no_space() {
  fake df 'echo header; echo "/dev/x 1000 990 10 99% /"'
  TESSERA_STARPU_PREFIX=$work/starpu ends_with_line 1 'no disk space: building StarPU needs [0-9]+ MB .* 0 MB are free' "$work/tree/tools/setup"
}

bad_prefix() {
  TESSERA_STARPU_PREFIX=/proc/starpu ends_with_line 1 'cannot write /proc/starpu' "$work/tree/tools/setup"
}

bad_archive() {
  TESSERA_STARPU_PREFIX=$work/starpu TESSERA_STARPU_SOURCE=/no/such.tar.gz ends_with_line 1 "cannot read '/no/such.tar.gz'" "$work/tree/tools/setup"
}

cuda_mpi_without_cuda() {
  ends_with_line 1 'cuda-mpi needs CUDA' "$work/tree/tools/setup" --cuda-mpi --without-cuda
}

# Fakes an installed CUDA and the answer of dpkg-query about Open MPI.
fake_cuda_and_mpi() {
  fake nvcc 'echo "Cuda compilation tools, release 13.0"'
  fake dpkg-query 'case "$*" in *Upstream-Version*) echo '"$1"' ;; *) exec /usr/bin/dpkg-query "$@" ;; esac'
}

cuda_mpi_of_another_version() {
  fake_cuda_and_mpi 5.0.7
  ends_with_line 1 "knows Open MPI 4.1 .* version '5.0.7'" "$work/tree/tools/setup" --cuda-mpi
}

cuda_mpi_bad_archive() {
  fake_cuda_and_mpi 4.1.4
  TESSERA_OPENMPI_SOURCE=/no/such.tar.gz ends_with_line 1 "cannot read '/no/such.tar.gz'" "$work/tree/tools/setup" --cuda-mpi
}

# Tests only the choice, because the whole script would build if it found an nvcc after all.
cuda_without_nvcc() {
  ends_with_line 1 "--cuda needs CUDA's compiler: no nvcc on PATH, in CUDA_HOME \('/made/up'\) or in /usr/local/cuda" \
    env CUDA_HOME=/made/up bash -c 'program=test; source "$1/tools/lib/steps.bash"; find_nvcc() { :; }; choose_cuda yes' _ "$work/tree"
}

sanitized_with_cuda() {
  ends_with_line 1 '--sanitized is without CUDA' "$work/tree/tools/check" --sanitized --cuda
}

# choice WISH: prints the choice of choose_cuda: "with_cuda preset build: why".
choice() {
  PATH=$work/bin:$real_path bash -c 'program=test; source "$1/tools/lib/steps.bash"; choose_cuda "$2"
    echo "$with_cuda $preset $build: $why"' _ "$work/tree" "$1"
}

equal() { [[ $1 == "$2" ]] || { echo "is '$1', expected '$2'"; return 1; }; }

cuda_is_chosen_by_gpu() {
  fake nvcc ':'
  fake nvidia-smi 'echo "No devices were found"; exit 6'
  equal "$(choice auto)" 'no release build: nvidia-smi lists no GPU here; --cuda builds it all the same' &&
    equal "$(choice yes)" 'yes cuda build-cuda: as asked' && equal "$(choice no)" 'no release build: as asked' || return 1
  fake nvidia-smi 'echo "GPU 0: made up (UUID: GPU-0)"'
  equal "$(choice auto)" 'yes release build: nvidia-smi lists a GPU; --no-cuda leaves it out' &&
    equal "$(choice yes)" 'yes release build: as asked' && equal "$(choice no)" 'no cpu build-cpu: as asked'
}

# Output of ninja and make, and the progress that is parsed from it.
progress_is_read() {
  local program=test
  # shellcheck source=tools/lib/steps.bash
  source "$root/tools/lib/steps.bash"
  equal "$(printf '%s\n' '[0/1] Re-running CMake' '[1/40] Building a' 'a.cpp:3:1: warning: [9/9]' '[12/40] Building b' | ninja_progress)" \
    '12 40' && equal "$(echo 'no work to do' | ninja_progress)" '' &&
    equal "$(printf '%s\n' 'make[1]: x' '  CC       a.lo' '  CXX      b.lo' '  GEN      c' '  CC       d.lo' | make_progress 8)" '2 8' &&
    equal "$(printf '  CC a\n  CC b\n' | make_progress 0)" '1 2' && equal "$(make_progress 5 </dev/null)" '' &&
    equal "$(progress_text 10 40 60)" '25 %, about 3 min left' && equal "$(progress_text 30 40 60)" '75 %, about 20 s left' &&
    equal "$(progress_text 1 40 60)" '2 %' && equal "$(progress_text 40 40 60)" '100 %, about 0 s left'
}

# A step with counted output must also report progress without a terminal, and must keep its exit
# status.
progress_is_shown() {
  local program=test log=$work/progress.log status=0
  # shellcheck source=tools/lib/steps.bash
  source "$root/tools/lib/steps.bash"
  : >"$log"
  progress_interval=1
  counter=ninja_progress step 'made up' bash -c 'echo "[5/10] x"; sleep 5; exit 3' >"$work/out" || status=$?
  ((status == 3)) && grep -qE '^test: made up \.\.\. 50 %' "$work/out" && grep -qE '^test: made up \.\.\. FAILED after [0-9]+ s$' "$work/out" ||
    { cat "$work/out"; return 1; }
}

# A StarPU with CUDA also serves a build without CUDA. In the opposite case StarPU is built again.
starpu_serves() {
  local wish=$1 marker=$2 expected=$3
  fake nvcc 'echo "Cuda compilation tools, release 13.0"'
  fake nvidia-smi 'exit 6'
  fake pkg-config 'case "$*" in *--variable=prefix*) echo '"$work/starpu"' ;; *--modversion*) echo 1.4.12 ;; esac; exit 0'
  # The marker as setup would write it: calls its functions and stops before the build.
  sed '/^start_log "/,$d; s|^root=.*|root='"$work/tree"'|' "$work/tree/tools/setup" >"$work/setup-functions"
  printf '%s\n' "choose_cuda $marker; set_prefix $work/starpu; configuration >\$marker" \
    "choose_cuda $wish; set_prefix $work/starpu; if starpu_is_ready; then echo ready; else echo again; fi" >>"$work/setup-functions"
  equal "$(PATH=$work/bin:$real_path bash "$work/setup-functions" </dev/null)" "$expected"
}

build_fails() {
  fake cmake 'echo "CMake Error at CMakeLists.txt:1 (project):"; echo "  made up"; exit 1'
  ends_with_line 1 'Tessera could not be configured: CMake Error .*made up' "$work/tree/tools/$1"
}

# A second run of setup must do nothing and end quickly.
second_run_is_quick() {
  local start=$SECONDS
  "$work/tree/tools/setup" </dev/null >"$work/out" 2>&1 && ((SECONDS - start <= 5)) && grep -q 'ready: StarPU 1\.4' "$work/out" ||
    { cat "$work/out"; return 1; }
}

lint() {
  command -v shellcheck >/dev/null || { echo "shellcheck is not installed: nothing checked"; return 0; }
  (cd "$root" && shellcheck -S warning -x tools/setup tools/quickstart tools/check tools/lib/*.bash .ci/run tests/tools/*.bash)
}

case_of Help help_is_printed
case_of UnknownOption unknown_option
case_of ProgressIsRead progress_is_read
case_of ProgressIsShown progress_is_shown
case_of SecondRunIsQuick second_run_is_quick
for name in WrongSystem:wrong_system NoCompiler:no_compiler OldCompiler:old_compiler NoNetwork:no_network NotRoot:not_root \
  NoNetworkForStarpu:no_network_for_starpu NoSpace:no_space BadPrefix:bad_prefix BadArchive:bad_archive \
  CudaMpiWithoutCuda:cuda_mpi_without_cuda CudaMpiOfAnotherVersion:cuda_mpi_of_another_version CudaMpiBadArchive:cuda_mpi_bad_archive \
  CudaWithoutNvcc:cuda_without_nvcc SanitizedWithCuda:sanitized_with_cuda CudaIsChosenByGpu:cuda_is_chosen_by_gpu \
  StarpuWithoutCudaServes:starpu_serves:no:no:ready StarpuWithCudaServesBoth:starpu_serves:no:yes:ready \
  StarpuWithCudaServes:starpu_serves:yes:yes:ready StarpuWithoutCudaIsBuiltAgain:starpu_serves:yes:no:again \
  QuickstartConfigureFails:build_fails:quickstart CheckConfigureFails:build_fails:check; do
  IFS=: read -ra parts <<<"$name"
  rm -rf "${work:?}/bin" "${work:?}/rest"
  case_of "${parts[0]}" "${parts[@]:1}"
done
case_of Lint lint
finish_cases
