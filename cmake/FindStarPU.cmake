# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause
#
# Finds StarPU 1.4 through pkg-config.
#
#   find_package(StarPU REQUIRED [COMPONENTS MPI])
#
# Imported targets: StarPU::StarPU, and StarPU::MPI with the component MPI (it carries StarPU::StarPU).
# Results: StarPU_VERSION, StarPU_PREFIX, StarPU_HAS_CUDA, StarPU_HAS_FXT, StarPU_IS_SIMGRID.
#
# Searched, in this order: TESSERA_STARPU_PREFIX (CMake variable, then environment variable), PKG_CONFIG_PATH,
# ~/.local/opt/starpu, /opt/starpu, the system.
find_package(PkgConfig QUIET)

set(_starpu_path "$ENV{PKG_CONFIG_PATH}")
set(_starpu_saved_path "${_starpu_path}")
foreach(_prefix IN ITEMS "$ENV{HOME}/.local/opt/starpu" /opt/starpu)
  set(_starpu_path "${_starpu_path}:${_prefix}/lib/pkgconfig")
endforeach()
foreach(_prefix IN ITEMS "$ENV{TESSERA_STARPU_PREFIX}" "${TESSERA_STARPU_PREFIX}")
  if(_prefix)
    set(_starpu_path "${_prefix}/lib/pkgconfig:${_starpu_path}")
  endif()
endforeach()

if(PKG_CONFIG_FOUND)
  # Another prefix than the last time must not be answered from the cache.
  if(NOT "${_starpu_path}" STREQUAL "${_StarPU_SEARCHED}")
    foreach(_name IN ITEMS StarPU_PC StarPU_MPI_PC)
      unset(${_name}_FOUND CACHE)
      unset(__pkg_config_checked_${_name} CACHE)
      get_cmake_property(_cached CACHE_VARIABLES)
      foreach(_variable IN LISTS _cached)
        if(_variable MATCHES "^pkgcfg_lib_${_name}_")
          unset(${_variable} CACHE)
        endif()
      endforeach()
    endforeach()
    set(_StarPU_SEARCHED "${_starpu_path}" CACHE INTERNAL "")
  endif()
  set(ENV{PKG_CONFIG_PATH} "${_starpu_path}")
  pkg_check_modules(StarPU_PC QUIET IMPORTED_TARGET GLOBAL starpu-1.4)
  if("MPI" IN_LIST StarPU_FIND_COMPONENTS)
    pkg_check_modules(StarPU_MPI_PC QUIET IMPORTED_TARGET GLOBAL starpumpi-1.4)
    set(StarPU_MPI_FOUND ${StarPU_MPI_PC_FOUND})
  endif()
  set(ENV{PKG_CONFIG_PATH} "${_starpu_saved_path}")
endif()

set(StarPU_VERSION "${StarPU_PC_VERSION}")
set(StarPU_PREFIX "${StarPU_PC_PREFIX}")
foreach(_directory IN LISTS StarPU_PC_INCLUDE_DIRS)
  if(EXISTS "${_directory}/starpu_config.h")
    file(STRINGS "${_directory}/starpu_config.h" _defines REGEX "^#define STARPU_(USE_CUDA|USE_FXT|SIMGRID) ")
    string(FIND "${_defines}" "STARPU_USE_CUDA" _cuda)
    string(FIND "${_defines}" "STARPU_USE_FXT" _fxt)
    string(FIND "${_defines}" "STARPU_SIMGRID" _simgrid)
  endif()
endforeach()
foreach(_pair IN ITEMS "HAS_CUDA:_cuda" "HAS_FXT:_fxt" "IS_SIMGRID:_simgrid")
  string(REPLACE ":" ";" _pair "${_pair}")
  list(GET _pair 0 _name)
  list(GET _pair 1 _position)
  if(DEFINED ${_position} AND ${_position} GREATER_EQUAL 0)
    set(StarPU_${_name} TRUE)
  else()
    set(StarPU_${_name} FALSE)
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  StarPU
  REQUIRED_VARS StarPU_PC_LINK_LIBRARIES
  VERSION_VAR StarPU_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "StarPU 1.4 is needed: run tools/setup, or name its prefix in TESSERA_STARPU_PREFIX.")

if(StarPU_FOUND AND NOT TARGET StarPU::StarPU)
  add_library(StarPU::StarPU INTERFACE IMPORTED GLOBAL)
  target_link_libraries(StarPU::StarPU INTERFACE PkgConfig::StarPU_PC)
endif()
if(StarPU_MPI_FOUND AND NOT TARGET StarPU::MPI)
  add_library(StarPU::MPI INTERFACE IMPORTED GLOBAL)
  target_link_libraries(StarPU::MPI INTERFACE PkgConfig::StarPU_MPI_PC StarPU::StarPU)
endif()
