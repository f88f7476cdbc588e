# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# tessera_slepc: what the program needs of SLEPc, for real scalars in double precision, as pkg-config finds it
# (PKG_CONFIG_PATH names another installation than the system's).
pkg_check_modules(SLEPC QUIET IMPORTED_TARGET slepc>=3.15)
if(NOT SLEPC_FOUND)
  message(FATAL_ERROR "TESSERA_WITH_SLEPC is on, but there is no SLEPc: install libslepc-real3.18-dev or the like.")
endif()
add_library(tessera_slepc INTERFACE)
target_compile_definitions(tessera_slepc INTERFACE TESSERA_HAVE_SLEPC=1)
target_link_libraries(tessera_slepc INTERFACE PkgConfig::SLEPC MPI::MPI_C)
message(STATUS "SLEPc ${SLEPC_VERSION}")
