# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Source packages from the Debian server that this machine uses.
# shellcheck disable=SC2154 # work is the caller's

# fetch_source PACKAGE PATTERN SUITE...: fetches the original source archive of the newest version that matches the regular
# expression into $work/source, and writes its path to $work/archive, with an apt configuration of its own: the system's
# sources and lists stay as they are. The server may be a mirror that lags, so a list whose date has passed is taken all the same
# (the signatures of list and archive are checked as always), and one suite that has the package is enough.
fetch_source() {
  local package=$1 pattern=$2 uri suite version keyring
  shift 2
  # shellcheck disable=SC2016 # apt-get expands these
  uri=$(apt-get indextargets --format '$(ORIGIN) $(CREATED_BY) $(REPO_URI)' |
    awk '$1 == "Debian" && $2 == "Packages" && $3 !~ /security/ { print $3; exit }')
  [[ -n $uri ]] || uri=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
    awk '$1 == "URIs:" { print $2; exit } $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\//) { print $i; exit } }')
  [[ -n $uri ]] || { echo "E: no Debian server in this machine's apt configuration"; return 1; }
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$work"/apt/{parts,lists/partial,cache/archives/partial} "$work/source" || return 1
  for suite in "$@"; do
    printf 'Types: deb-src\nURIs: %s\nSuites: %s\nComponents: main\n' "$uri" "$suite"
    [[ ! -r $keyring ]] || printf 'Signed-By: %s\n' "$keyring"
    echo
  done >"$work/apt/parts/$package.sources"
  local apt=(-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/apt/parts"
    -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o APT::Sandbox::User=root
    -o Acquire::Check-Valid-Until=false)
  apt-get "${apt[@]}" update || echo "W: not all lists could be fetched; going on with those that are there"
  version=$(apt-cache "${apt[@]}" showsrc "$package" |
    awk -v pattern="$pattern" '$1 == "Version:" && $2 ~ pattern { print $2 }' | sort -V | tail -n 1)
  [[ -n $version ]] || { echo "E: the Debian server has no source package of $package that matches $pattern"; return 1; }
  echo "$package $version from $uri"
  cd "$work/source" && apt-get "${apt[@]}" source --download-only "$package=$version" &&
    realpath "$work/source/$package"_*.orig.tar.?z >"$work/archive"
}
