# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Gives the program SLEPc for real scalars in double precision, as pkg-config finds it (PKG_CONFIG_PATH names another
# installation than the system's).
pkg_check_modules(SLEPC QUIET IMPORTED_TARGET slepc>=3.15)
if(NOT SLEPC_FOUND)
  message(FATAL_ERROR "TESSERA_WITH_SLEPC is on, but there is no SLEPc: install libslepc-real3.18-dev or the like.")
endif()
target_compile_definitions(tessera_program_parts PRIVATE TESSERA_HAVE_SLEPC=1)
target_link_libraries(tessera_program_parts PRIVATE PkgConfig::SLEPC MPI::MPI_C)
message(STATUS "SLEPc ${SLEPC_VERSION}")
