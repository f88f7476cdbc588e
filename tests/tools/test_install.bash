#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the build tree TESSERA_BUILD_DIR into a temporary prefix. Builds a program outside of the
# tree against it with CMake's find_package and with pkg-config, and runs it.
# shellcheck disable=SC2015,SC2016 # A && B || C is intended; the texts of fake commands must not be expanded
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=Install
# shellcheck source=tests/tools/cases.bash
source "$root/tests/tools/cases.bash"

build=${TESSERA_BUILD_DIR:-$root/build}
cmake=${CMAKE:-cmake}
cxx=${CXX:-g++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

install_tree() {
  "$cmake" --install "$build" --prefix "$prefix" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
  local name
  for name in version.hpp tessera.hpp libtessera.so libtessera_matgen.so measure_buses tessera.pc tesseraConfig.cmake; do
    [[ -n $(find "$prefix" -name "$name") ]] || { echo "missing: $name"; return 1; }
  done
  # Only public headers are installed, and they include only each other and the standard library.
  [[ $(find "$prefix/include" -type f | wc -l) == $(($(find "$root/include" -name '*.hpp' -o -name '*.h' | wc -l) + 1)) ]] ||
    { find "$prefix/include" -type f; return 1; }
  ! grep -rhE '^ *# *include' "$prefix/include" | grep -vE '<(tessera/[a-z_]+\.hpp|tessera/c/[a-z_]+\.h|std[a-z]+\.h|[a-z_]+)>$' || return 1
  # Installed files must not refer to the source or build tree.
  ! grep -rlF -e "$root/runtime" -e "$root/include" -e "$build/generated" "$prefix" \
    --include='*.cmake' --include='*.pc' --include='*.hpp'
}

# The libraries export namespace tessera, and C symbols that begin with tessera_. They must not export code that is
# linked into them: inline functions of StarPU, fmt and libxsmm.
exports_itself_alone() {
  local library others own='_ZZ?N[KORV]*7tessera|_ZGV[A-Za-z]*N7tessera|_ZT[CISTVhv][0-9A-Za-z_]*N7tessera|tessera_'
  while read -r library; do
    others=$(nm -D --defined-only "$library" | grep -vE "^[0-9a-f]* [A-Za-z] ($own)") &&
      { echo "$library:"; head -n 20 <<<"$others"; return 1; }
  done < <(find "$prefix" -type l \( -name libtessera.so -o -name libtessera_matgen.so \))
  nm -DC --defined-only "$(find "$prefix" -name libtessera.so)" | grep -F 'tessera::Runtime::Runtime(' >/dev/null
}

write_consumer() {
  cp "$root"/tests/tools/consumer/{CMakeLists.txt,main.cpp,matgen.cpp} "$work/"
  (cd "$prefix/include" && find tessera -name '*.hpp' | sort | sed 's/.*/#include <&>/') >"$work/all_headers.hpp"
}

# The project enables only C++ and finds no other package.
by_cmake() {
  "$cmake" -S "$work" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug >"$work/log" 2>&1 &&
    "$cmake" --build "$work/build" >>"$work/log" 2>&1 || { tail -n 60 "$work/log"; return 1; }
  ! grep -E '_DIR:PATH=' "$work/build/CMakeCache.txt" | grep -v '^tessera_DIR' || return 1
  "$work/build/consumer" && "$work/build/matgen"
}

by_pkg_config() {
  local flags
  PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tessera.pc)")
  export PKG_CONFIG_PATH
  flags=$(pkg-config --cflags --libs tessera) || return 1
  [[ $flags != *-std* ]] || { echo "C users are given: $flags"; return 1; }
  # shellcheck disable=SC2086 # several words
  "$cxx" -std=c++20 "$work/main.cpp" -o "$work/consumer" $flags || return 1
  "$work/consumer"
}

program_runs() {
  [[ -x $prefix/bin/tessera ]] || { echo "this build has no program"; [[ ! -x $build/bin/tessera ]]; return; }
  local name
  for name in tessera bench_dense bench_stack bench_spmm bench_products bench_density bench_batch; do
    "$prefix/bin/$name" --help >/dev/null || { echo "not installed: $name"; return 1; }
  done
}

# Installed performance models must be found, and never written to.
finds_performance_models() {
  [[ -x $prefix/bin/tessera ]] || return 0
  local sets=$prefix/share/tessera/perfmodels cpu home=$work/home
  [[ -f $sets/README.md ]] || { echo "perfmodels/ is not installed"; return 1; }
  cpu=$("$prefix/bin/tessera" info --gpus 0 --json - | sed -n 's/^ *"cpu": "\(.*\)",/\1/p')
  mkdir -p "$sets/here/codelets/45" "$home"
  printf '{"gpu": "", "cpu": "%s", "starpu": "1.4", "model_version": 45, "date": "", "command": ""}\n' "$cpu" \
    >"$sets/here/machine.json"
  chmod -R a-w "$sets/here"
  env -u STARPU_HOME -u XDG_CACHE_HOME -u TESSERA_PERFMODELS HOME="$home" \
    "$prefix/bin/tessera" info --gpus 0 --scheduler dmdas --json - >"$work/info.json"
  chmod -R u+w "$sets/here"
  grep -F "\"performance_models\": \"$sets/here\"" "$work/info.json" >/dev/null || { cat "$work/info.json"; return 1; }
  [[ $(find "$sets/here" -type f | wc -l) == 1 && -d $home/.cache/tessera/perfmodels ]]
}

# The soname has the minor version until 1.0.
soname_is_right() {
  local library
  for library in tessera tessera_matgen; do
    readelf -d "$(find "$prefix" -name "lib$library.so")" | grep -E "SONAME.*\[lib$library\.so\.(0\.[0-9]+|[1-9][0-9]*)\]" >/dev/null ||
      { echo "lib$library: wrong soname"; return 1; }
  done
}

manual_pages_are_right() {
  local pages=$prefix/share/man/man1 page command
  for command in eigen batch multiply density lobpcg info calibrate trace tune; do
    [[ -f $pages/tessera-$command.1 ]] || { echo "no page of $command"; return 1; }
  done
  for page in "$pages"/*.1; do
    if command -v mandoc >/dev/null; then mandoc -T lint -W warning "$page" || return 1; fi
    if command -v groff >/dev/null; then [[ -z $(groff -man -ww -Tutf8 -z "$page" 2>&1) ]] || { echo "$page"; return 1; }; fi
  done
}

# completes EXPECTED WORD...: what bash offers for the last word has EXPECTED.
completes() {
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _tessera
  [[ " ${COMPREPLY[*]} " == *" $expected "* ]] || { echo "$*: ${COMPREPLY[*]}"; return 1; }
}

completion_is_right() {
  local name
  # shellcheck disable=SC1091 # made at build time
  source "$prefix/share/bash-completion/completions/tessera" || return 1
  completes eigen tessera ei && completes --solver tessera eigen --so && completes two_stage tessera eigen --solver '' &&
    completes vendor tessera eigen --solver = v && completes glued-wilkinson: tessera eigen --generate gl || return 1
  if command -v zsh >/dev/null; then zsh -n "$(find "$prefix/share/zsh" -name _tessera)" || return 1; fi
  name=$prefix/share/fish/vendor_completions.d/tessera.fish
  if command -v fish >/dev/null; then fish -n "$name" || return 1; fi
}

case_of Install install_tree
case_of Soname soname_is_right
case_of ManualPages manual_pages_are_right
case_of Completion completion_is_right
case_of Exports exports_itself_alone
write_consumer
case_of FindPackage by_cmake
case_of PkgConfig by_pkg_config
case_of Program program_runs
case_of PerformanceModels finds_performance_models
finish_cases
