# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# tessera_dbcsr: what the program and the benchmarks need of DBCSR, which must be installed with its C interface: a static
# library of Fortran, so that a Fortran compiler is needed to know what else to link. Another installation than the system's
# is named in DBCSR_DIR.
include(CheckLanguage)
find_file(TESSERA_DBCSR_CONFIG DBCSRConfig.cmake
  HINTS "${DBCSR_DIR}" PATH_SUFFIXES cmake/dbcsr lib/cmake/dbcsr lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/dbcsr)
mark_as_advanced(TESSERA_DBCSR_CONFIG)
if(NOT TESSERA_DBCSR_CONFIG)
  message(FATAL_ERROR "TESSERA_WITH_DBCSR is on, but there is no DBCSR: install libdbcsr-dev or name one in DBCSR_DIR.")
endif()
check_language(Fortran)
if(NOT CMAKE_Fortran_COMPILER)
  message(FATAL_ERROR "TESSERA_WITH_DBCSR is on, but there is no Fortran compiler, whose run-time library DBCSR needs.")
endif()
enable_language(Fortran)
get_filename_component(dbcsr_directory "${TESSERA_DBCSR_CONFIG}" DIRECTORY)
find_package(DBCSR CONFIG QUIET PATHS "${dbcsr_directory}" NO_DEFAULT_PATH)
if(NOT TARGET DBCSR::dbcsr_c)
  message(FATAL_ERROR "the DBCSR in ${dbcsr_directory} has no C interface")
else()
  # One BLAS in the process, with one pool of threads: the library's.
  get_target_property(dbcsr_libraries DBCSR::dbcsr INTERFACE_LINK_LIBRARIES)
  list(FILTER dbcsr_libraries EXCLUDE REGEX "lib(blas|lapack|openblas)[^/]*$")
  set_target_properties(DBCSR::dbcsr PROPERTIES INTERFACE_LINK_LIBRARIES "${dbcsr_libraries};LAPACK::LAPACK")
  add_library(tessera_dbcsr INTERFACE)
  target_compile_definitions(tessera_dbcsr INTERFACE
    TESSERA_HAVE_DBCSR=1 "TESSERA_DBCSR_VERSION=\"${DBCSR_VERSION}\"")
  target_link_libraries(tessera_dbcsr INTERFACE DBCSR::dbcsr_c OpenMP::OpenMP_CXX)
  message(STATUS "DBCSR ${DBCSR_VERSION} in ${dbcsr_directory}")
endif()
