# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian packages: `cpack -G DEB` in a build folder, best in that of the preset `package`, whose libraries go where Debian has
# them. One package with all but the benchmarks. It brings the StarPU of its build along in a folder of its own, if that is not
# the system's (cmake/TesseraPackageContents.cmake.in); dpkg-shlibdeps finds the other dependencies.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tessera)
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
# Who builds the package answers for it, as Debian's tools have it.
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@localhost>")
if(NOT "$ENV{DEBEMAIL}" STREQUAL "")
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_THREADS 0)

get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
list(REMOVE_ITEM CPACK_COMPONENTS_ALL benchmarks python)  # Debian's Python looks elsewhere
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
  "Eigenproblems and block-sparse matrices as task graphs
 Large dense Hermitian eigenproblems, a few eigenpairs of huge sparse matrices, and products of block-sparse matrices with
 density matrices from them, on CPU cores, NVIDIA GPUs and, with MPI, many nodes: a program, and a library for C and C++.")
if(TESSERA_WITH_MPI)
  # The launcher of the MPI that the libraries are linked with, for more than one process: no dependency tells of it.
  if("${MPI_C_LIBRARIES}" MATCHES "openmpi")
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)
  else()
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS mpich)
  endif()
endif()
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, cmake, pkg-config")

configure_file(cmake/TesseraPackageContents.cmake.in "${PROJECT_BINARY_DIR}/cmake/TesseraPackageContents.cmake" @ONLY)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_BINARY_DIR}/cmake/TesseraPackageContents.cmake")
include(CPack)
