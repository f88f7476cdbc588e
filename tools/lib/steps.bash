# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Shared by tools/setup, tools/quickstart and tools/check: steps with their seconds, clear failures, a log file.
# The caller sets program (its name) and opens the log.
# shellcheck disable=SC2154 # program is the caller's

# Prints one line that says what is wrong and what to do, and ends the program.
fail() {
  printf '%s: error: %s\n' "$program" "$*" >&2
  exit 1
}

note() { printf '%s: %s\n' "$program" "$*"; }

# start_log FILE: opens the log; its directory is made.
start_log() {
  log=$1
  { mkdir -p "$(dirname "$log")" && : >"$log"; } 2>/dev/null || fail "cannot write $log"
}

# ninja_progress: of ninja's output on standard input, "done total" of the last "[done/total]"; nothing where there is none.
ninja_progress() {
  awk 'match($0, /^\[[0-9]+\/[0-9]+\]/) { split(substr($0, 2, RLENGTH - 2), count, "/") }
    END { if (count[2] > 0) print count[1], count[2] }'
}

# make_progress TOTAL: of the output of automake's make on standard input, "done total", where TOTAL objects are to be compiled.
make_progress() {
  awk -v total="$1" '/^  (CC|CXX|NVCC) / { if (++started > total) total = started }
    END { if (started > 0 && total > 0) print started - 1, total }'
}

# progress_text DONE TOTAL SECONDS: "37 %, about 2 min left", estimated from the SECONDS that DONE of TOTAL have taken.
progress_text() {
  local done=$1 total=$2 seconds=$3 left
  printf '%d %%' $((100 * done / total))
  # The first few say little about the others.
  ((seconds >= 5 && done >= 3)) || return 0
  left=$(((total - done) * seconds / done))
  if ((left >= 90)); then
    printf ', about %d min left' $(((left + 30) / 60))
  else
    printf ', about %d s left' "$left"
  fi
}

# watch_progress TEXT OFFSET: while the caller lives, shows how far the command is whose output begins at OFFSET in the log, by
# the command in counter: on a terminal in one line, elsewhere in a line every half a minute (every progress_interval seconds).
watch_progress() {
  local text=$1 offset=$2 start=$SECONDS interval=${progress_interval:-30} next counts line columns
  next=$((SECONDS + interval))
  columns=$(tput cols 2>/dev/null || echo 80)
  while kill -0 $$ 2>/dev/null; do
    sleep 2 >/dev/null 2>&1
    if ! [[ -t 1 ]] && ((SECONDS < next)); then continue; fi
    # shellcheck disable=SC2086 # a command and its argument
    read -ra counts < <(tail -c "+$((offset + 1))" "$log" | $counter) || continue
    line="$program: $text ... $(progress_text "${counts[0]}" "${counts[1]}" $((SECONDS - start)))"
    if [[ -t 1 ]]; then
      printf '\r%s\033[K' "${line:0:columns - 1}"
    else
      printf '%s\n' "$line"
      next=$((SECONDS + interval))
    fi
  done
}

# step TEXT COMMAND...: runs COMMAND with its output in the log and prints "TEXT ... seconds". Returns its status. As with every
# command before a ||, set -e has no effect inside a function that is run so. With counter=COMMAND before it, the progress that
# this command reads from the output is shown.
step() {
  local text=$1 start=$SECONDS status=0 ticker='' head offset
  shift
  head=$(printf '%s: %s ... ' "$program" "$text")
  printf '%s' "$head"
  printf '\n== %s: %s\n' "$text" "$*" >>"$log"
  if [[ -n ${counter:-} ]]; then
    [[ -t 1 ]] || printf '\n'
    offset=$(stat -c %s "$log")
    watch_progress "$text" "$offset" &
    ticker=$!
  elif [[ -t 1 ]]; then
    # A sign of life every ten seconds for somebody who watches.
    (while sleep 10 && kill -0 $$ 2>/dev/null; do printf '.'; done) &
    ticker=$!
  fi
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  if [[ -n $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
  fi
  if [[ -n ${counter:-} ]]; then
    [[ ! -t 1 ]] || printf '\r\033[K'
    printf '%s' "$head"
  fi
  if ((status == 0)); then
    printf '%d s\n' $((SECONDS - start))
  else
    printf 'FAILED after %d s\n' $((SECONDS - start))
  fi
  return "$status"
}

# need_space DIRECTORY MEGABYTES WHAT: fails if the file system of DIRECTORY (or of its first existing parent) has less.
need_space() {
  local directory=$1 megabytes=$2 what=$3 free
  while [[ ! -e $directory ]]; do directory=$(dirname "$directory"); done
  free=$(($(df -Pk "$directory" | awk 'NR == 2 { print $4 }') / 1024))
  ((free >= megabytes)) ||
    fail "no disk space: $what needs $megabytes MB in $directory, and $free MB are free there"
}

# How many compilers to run at once: one per core, and 1.5 GB of available memory for each.
parallel_jobs() {
  local cores available memory
  cores=$(nproc)
  available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
  memory=$((available / 1536000))
  ((memory >= 1)) || memory=1
  echo $((memory < cores ? memory : cores))
}

# The reason that a failed apt-get gives in the log, in words.
apt_reason() {
  if grep -qiE 'could not resolve|temporary failure|failed to fetch|unable to connect|connection (timed out|refused)|network is unreachable|no installation candidate|unable to locate package' "$log"; then
    echo "no network (or the package server does not answer)"
  elif grep -qi 'no space left' "$log"; then
    echo "no disk space"
  elif grep -qi 'could not get lock' "$log"; then
    echo "another apt is running"
  else
    echo "apt-get failed: $(grep -E '^E:' "$log" | tail -n 1)"
  fi
}

# ---- CUDA -------------------------------------------------------------------------------------------------------------
has_gpu() { command -v nvidia-smi >/dev/null && timeout 60 nvidia-smi -L 2>/dev/null | grep '^GPU' >/dev/null; }

# Where CUDA's compiler is; nothing if it is nowhere.
find_nvcc() {
  local candidate
  for candidate in "$(command -v nvcc || true)" "${CUDA_HOME:-/nonexistent}/bin/nvcc" /usr/local/cuda/bin/nvcc; do
    [[ -x $candidate ]] && { echo "$candidate"; return 0; }
  done
  return 0
}

# choose_cuda WISH: whether to build with CUDA. WISH is yes or no, as asked for by --cuda or --no-cuda, or auto: where there are a
# GPU and nvcc. Sets with_cuda (yes or no), nvcc (empty without), why (in words), and the CMake preset and its folder: build/ is
# of what auto chooses here, so that a build of the other kind leaves it alone.
# shellcheck disable=SC2034 # for the caller
choose_cuda() {
  local wish=$1 usual=no
  why="as asked"
  nvcc=$(find_nvcc)
  if ! has_gpu; then
    [[ $wish != auto ]] || why="nvidia-smi lists no GPU here; --cuda builds it all the same"
  elif [[ -z $nvcc ]]; then
    [[ $wish != auto ]] || why="there is a GPU, but no nvcc on PATH, in CUDA_HOME or in /usr/local/cuda"
  else
    usual=yes
    [[ $wish != auto ]] || why="nvidia-smi lists a GPU; --no-cuda leaves it out"
  fi
  [[ $wish != yes || -n $nvcc ]] ||
    fail "--cuda needs CUDA's compiler: no nvcc on PATH, in CUDA_HOME ('${CUDA_HOME:-}') or in /usr/local/cuda"
  with_cuda=$wish
  [[ $wish != auto ]] || with_cuda=$usual
  preset=release build=build
  if [[ $with_cuda == no ]]; then nvcc=; fi
  if [[ $with_cuda != "$usual" ]]; then
    if [[ $with_cuda == yes ]]; then preset=cuda build=build-cuda; else preset=cpu build=build-cpu; fi
  fi
}

say_cuda() {
  if [[ $with_cuda == yes ]]; then note "building with CUDA in $build/ ($why)"; else note "building without CUDA in $build/ ($why)"; fi
}

# setup_tessera OPTION...: tools/setup for this choice of CUDA, with further options.
setup_tessera() {
  local option=--no-cuda
  [[ $with_cuda == no ]] || option=--cuda
  "$root/tools/setup" "$option" ${jobs:+--jobs "$jobs"} "$@"
}

# ---- Tessera ----------------------------------------------------------------------------------------------------------
# was_configured_with NAME=VALUE...: the build folder has these values.
was_configured_with() {
  local choice
  for choice in "$@"; do
    grep -q "^${choice%%=*}:[A-Z]*=${choice#*=}\$" "$build/CMakeCache.txt" 2>/dev/null || return 1
  done
}

# build_tessera TARGET...: configures the preset where needed and builds the targets in its folder. The caller sets root, jobs
# (empty: as many as fit), preset, build (the preset's folder), with_cuda and choices (further NAME=VALUE for CMake, or none).
build_tessera() {
  local count=${jobs:-$(parallel_jobs)} cuda=OFF
  [[ $with_cuda == no ]] || cuda=ON
  local all=("TESSERA_WITH_CUDA=$cuda" ${choices[@]+"${choices[@]}"})
  cd "$root" || fail "cannot enter $root"
  [[ -e $build/build.ninja ]] || need_space "$root" 500 "building Tessera"
  if [[ ! -e $build/build.ninja || CMakePresets.json -nt $build/build.ninja ]] || ! was_configured_with "${all[@]}"; then
    step "configuring Tessera ($preset)" cmake --preset "$preset" "${all[@]/#/-D}" ||
      fail "Tessera could not be configured: $(grep -A 2 -m 1 'CMake Error' "$log" | tr -s ' \n' ' ') (see $log)"
  fi
  counter=ninja_progress NINJA_STATUS='[%f/%t] ' step "building Tessera ($preset), $count at once" \
    cmake --build "$build" -j "$count" --target "$@" ||
    fail "Tessera could not be built: $(grep -m 1 -E 'error:|CMake Error|No space left' "$log") (see $log)"
}
