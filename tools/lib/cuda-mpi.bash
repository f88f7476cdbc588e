# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# For tools/setup --cuda-mpi: Open MPI in the version of Debian's package, but with CUDA. Debian's sends only from and to host
# memory; this one's messages between ranks of one node go from GPU to GPU (CUDA IPC, component smcuda). The libraries have the
# same binary interface: what was built with Debian's runs with either, as mpirun says.
# shellcheck disable=SC2154 # root, jobs, force, nvcc, log and fetch_source are the caller's

cuda_mpi_prefix=
cuda_mpi_version=

# What is left out serves networks, schedulers and languages that nobody needs between the ranks of one node.
cuda_mpi_options() {
  printf '%s\n' "--prefix=$cuda_mpi_prefix" "--with-cuda=$(cd "$(dirname "$nvcc")/.." && pwd)" --with-hwloc=external \
    --with-libevent=internal --with-pmix=internal --with-cma --enable-mpi-cxx --enable-mpi-fortran=no --disable-mpi-java \
    --disable-oshmem --disable-io-romio --disable-man-pages --disable-static --disable-debug --disable-dependency-tracking \
    --without-verbs --without-ucx --without-psm --without-psm2 --without-ofi --without-slurm --without-sge --without-tm \
    --without-lsf --without-knem --enable-mca-no-build=btl-uct,btl-usnic,btl-openib,btl-ofi,btl-portals4,mtl,vprotocol,crs,snapc
}

cuda_mpi_configuration() {
  echo "openmpi $cuda_mpi_version"
  cuda_mpi_options
  "$nvcc" --version | grep release
}

cuda_mpi_is_ready() {
  [[ -x $cuda_mpi_prefix/bin/mpirun && -e $cuda_mpi_prefix/.tessera-setup &&
    $(<"$cuda_mpi_prefix/.tessera-setup") == "$(cuda_mpi_configuration)" ]]
}

choose_cuda_mpi_prefix() {
  cuda_mpi_prefix=${TESSERA_CUDA_MPI_PREFIX:-/opt/openmpi-cuda}
  if [[ -z ${TESSERA_CUDA_MPI_PREFIX:-} ]] && ((EUID != 0)) && ! cuda_mpi_is_ready; then
    cuda_mpi_prefix=${HOME:?}/.local/opt/openmpi-cuda
  fi
}

unpack_cuda_mpi() { mkdir -p "$work/openmpi" "$work/mpi-build" && tar -xf "$(<"$work/archive")" -C "$work/openmpi" --strip-components=1; }
configure_cuda_mpi() {
  local options
  mapfile -t options < <(cuda_mpi_options)
  cd "$work/mpi-build" && "$work/openmpi/configure" "${options[@]}"
}
build_cuda_mpi() { make -C "$work/mpi-build" -j "$jobs"; }
install_cuda_mpi() {
  echo incomplete >"$cuda_mpi_prefix/.tessera-setup" && make -C "$work/mpi-build" install &&
    cuda_mpi_configuration >"$cuda_mpi_prefix/.tessera-setup"
}
# A library that was asked for CUDA and did not find it is built all the same.
has_cuda_component() { [[ $("$cuda_mpi_prefix/bin/ompi_info" --parsable --all) == *mpi_built_with_cuda_support:value:true* ]]; }

# What stands against it is said before anything is built.
check_cuda_mpi() {
  [[ -n $nvcc ]] || fail "--cuda-mpi needs CUDA; leave out --no-cuda"
  cuda_mpi_version=$(dpkg-query -W -f='${source:Upstream-Version}' libopenmpi-dev 2>/dev/null || true)
  [[ $cuda_mpi_version == 4.1.* ]] ||
    fail "--cuda-mpi knows Open MPI 4.1 (Debian 12); this machine's libopenmpi-dev has version '${cuda_mpi_version:-none}'"
  [[ -z ${TESSERA_OPENMPI_SOURCE:-} || -r $TESSERA_OPENMPI_SOURCE ]] ||
    fail "TESSERA_OPENMPI_SOURCE: cannot read '$TESSERA_OPENMPI_SOURCE'"
  choose_cuda_mpi_prefix
}

install_cuda_mpi_if_needed() {
  if [[ $force == no ]] && cuda_mpi_is_ready; then return 0; fi
  mkdir -p "$cuda_mpi_prefix" 2>/dev/null || true
  [[ -w $cuda_mpi_prefix ]] || fail "cannot write $cuda_mpi_prefix; name another place in TESSERA_CUDA_MPI_PREFIX"
  local temporary=${TMPDIR:-/tmp} suite
  need_space "$temporary" 900 "building Open MPI"
  need_space "$cuda_mpi_prefix" 100 "installing Open MPI"
  [[ -n ${work:-} ]] || make_work_directory "$temporary"
  if [[ -n ${TESSERA_OPENMPI_SOURCE:-} ]]; then
    realpath "$TESSERA_OPENMPI_SOURCE" >"$work/archive"
  else
    suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
    step "fetching Open MPI's source" fetch_source openmpi "^${cuda_mpi_version//./\\.}-" "$suite" ||
      fail "Open MPI's source could not be fetched: $(apt_reason) (see $log)"
  fi
  step "unpacking Open MPI" unpack_cuda_mpi || fail "Open MPI's source could not be unpacked (see $log)"
  step "configuring Open MPI with CUDA" configure_cuda_mpi || fail "Open MPI could not be configured (see $log)"
  [[ -n $jobs ]] || jobs=$(parallel_jobs)
  step "building Open MPI with $jobs at once" build_cuda_mpi || fail "Open MPI could not be built (see $log)"
  step "installing Open MPI in $cuda_mpi_prefix" install_cuda_mpi ||
    fail "Open MPI could not be installed in $cuda_mpi_prefix (see $log)"
  has_cuda_component || fail "Open MPI in $cuda_mpi_prefix does not support CUDA (see $log)"
}
