# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# tessera_scalapack and tessera_elpa: what the program needs of ScaLAPACK and of ELPA, its peers over MPI. Both
# are taken where they are found, unless sanitizers are wanted, which know nothing of what these libraries
# write. ELPA is what pkg-config finds (PKG_CONFIG_PATH names another installation than the system's), and
# needs the same ScaLAPACK.
set(scalapack_names scalapack-openmpi scalapack)
if("${MPI_C_LIBRARIES}" MATCHES "mpich")
  set(scalapack_names scalapack-mpich scalapack)
endif()
find_library(TESSERA_SCALAPACK NAMES ${scalapack_names})
mark_as_advanced(TESSERA_SCALAPACK)
pkg_search_module(SCALAPACK QUIET ${scalapack_names})
pkg_search_module(ELPA QUIET elpa elpa_openmp)

set(scalapack_default OFF)
if(TESSERA_SCALAPACK AND NOT TESSERA_SANITIZE)
  set(scalapack_default ON)
endif()
option(TESSERA_WITH_SCALAPACK "Let the program compare with an installed ScaLAPACK" ${scalapack_default})
set(elpa_default OFF)
if(ELPA_FOUND AND TESSERA_WITH_SCALAPACK)
  set(elpa_default ON)
endif()
option(TESSERA_WITH_ELPA "Let the program compare with an installed ELPA" ${elpa_default})

if(TESSERA_WITH_ELPA AND NOT TESSERA_WITH_SCALAPACK)
  message(FATAL_ERROR "TESSERA_WITH_ELPA needs TESSERA_WITH_SCALAPACK: ELPA's matrices are ScaLAPACK's.")
endif()
if(TESSERA_WITH_SCALAPACK)
  if(NOT TESSERA_SCALAPACK)
    message(FATAL_ERROR "TESSERA_WITH_SCALAPACK is on, but there is no ScaLAPACK: install libscalapack-openmpi-dev or name the "
      "library in TESSERA_SCALAPACK.")
  endif()
  set(scalapack_version "")
  if(TESSERA_SCALAPACK IN_LIST SCALAPACK_LINK_LIBRARIES)
    set(scalapack_version "${SCALAPACK_VERSION}")
  endif()
  add_library(tessera_scalapack INTERFACE)
  target_compile_definitions(tessera_scalapack INTERFACE
    TESSERA_HAVE_SCALAPACK=1 "TESSERA_SCALAPACK_VERSION=\"${scalapack_version}\"")
  target_link_libraries(tessera_scalapack INTERFACE "${TESSERA_SCALAPACK}" MPI::MPI_C)
  message(STATUS "ScaLAPACK ${scalapack_version} in ${TESSERA_SCALAPACK}")
endif()
if(TESSERA_WITH_ELPA)
  if(NOT ELPA_FOUND)
    message(FATAL_ERROR "TESSERA_WITH_ELPA is on, but there is no ELPA: install libelpa-dev or the like.")
  endif()
  # The BLAS is the program's: another one beside it has threads of its own.
  set(elpa_libraries ${ELPA_LINK_LIBRARIES})
  list(FILTER elpa_libraries EXCLUDE REGEX "lib(blas|lapack|openblas)[^/]*$")
  # Single precision is an option of ELPA's build that its headers do not tell of. A library without has this message.
  set(elpa_single 1)
  list(GET elpa_libraries 0 elpa_library)
  if(EXISTS "${elpa_library}")
    file(STRINGS "${elpa_library}" without_single LIMIT_COUNT 1 REGEX "not compiled with single-precision support")
    if(without_single)
      set(elpa_single 0)
    endif()
  endif()
  add_library(tessera_elpa INTERFACE)
  target_compile_definitions(tessera_elpa INTERFACE
    TESSERA_HAVE_ELPA=1 TESSERA_ELPA_SINGLE=${elpa_single} "TESSERA_ELPA_VERSION=\"${ELPA_VERSION}\"")
  target_include_directories(tessera_elpa SYSTEM INTERFACE ${ELPA_INCLUDE_DIRS})
  target_link_libraries(tessera_elpa INTERFACE ${elpa_libraries} tessera_scalapack)
  message(STATUS "ELPA ${ELPA_VERSION}")
endif()
