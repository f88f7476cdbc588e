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

# step TEXT COMMAND...: runs COMMAND with its output in the log and prints "TEXT ... seconds". Returns its status. As with every
# command before a ||, set -e has no effect inside a function that is run so.
step() {
  local text=$1 start=$SECONDS status=0 ticker=
  shift
  printf '%s: %s ... ' "$program" "$text"
  printf '\n== %s: %s\n' "$text" "$*" >>"$log"
  if [[ -t 1 ]]; then
    # A sign of life every ten seconds for somebody who watches.
    (while sleep 10; do printf '.'; done) &
    ticker=$!
  fi
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  if [[ -n $ticker ]]; then
    kill "$ticker" 2>/dev/null || true
    wait "$ticker" 2>/dev/null || true
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

# build_tessera TARGET...: configures the preset (default: release) where needed and builds the targets in its folder. The
# caller sets root and jobs (empty: as many as fit), and maybe preset and build, the preset's folder.
build_tessera() {
  local count=${jobs:-$(parallel_jobs)} preset=${preset:-release} build=${build:-build}
  [[ -e $build/build.ninja ]] || need_space "$root" 500 "building Tessera"
  cd "$root" || fail "cannot enter $root"
  if [[ ! -e $build/build.ninja || CMakePresets.json -nt $build/build.ninja ]]; then
    step "configuring Tessera ($preset)" cmake --preset "$preset" ||
      fail "Tessera could not be configured: $(grep -A 2 -m 1 'CMake Error' "$log" | tr -s ' \n' ' ') (see $log)"
  fi
  step "building Tessera ($preset) with $count at once" cmake --build "$build" -j "$count" --target "$@" ||
    fail "Tessera could not be built: $(grep -m 1 -E 'error:|CMake Error|No space left' "$log") (see $log)"
}
