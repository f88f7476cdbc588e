# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# A room is a folder of the tree whose sources are compiled with its own headers and those of the rooms below it, and with
# no others: a header of a room above does not exist for the compiler. <tessera/FOLDER/name.hpp> is FOLDER/name.hpp.
# Each public header <tessera/name.hpp> (include/tessera/name.hpp) belongs to one room.

# tessera_precompile_headers(TARGET): the headers of the standard library and fmt, which nearly all sources include, are read
# once for all targets that are compiled alike. No header of a room's: its rooms above alone may see it.
function(tessera_precompile_headers target)
  get_target_property(options ${target} COMPILE_OPTIONS)
  string(MAKE_C_IDENTIFIER "TESSERA_PRECOMPILED_HEADERS_${options}" property)
  get_property(first GLOBAL PROPERTY ${property})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <atomic> <chrono> <complex> <condition_variable> <filesystem>
    <functional> <map> <memory> <mutex> <numeric> <optional> <span> <string> <thread> <variant> <vector> <fmt/format.h>)
  set_property(GLOBAL PROPERTY ${property} ${target})
endfunction()

# What only submits tasks or calls other functions, in all types, is not worth all of the compiler's time: rooms that Release
# builds compile with -Og. For a Python wheel, which users compile themselves, that is all but the kernels; but not with
# GPUs, which wait for the host's submission.
set(TESSERA_LITTLE_OPTIMIZED scf interfaces)
# The Python package shows only part of the library: rooms whose sources it does without.
set(TESSERA_LEFT_OUT "")
if(SKBUILD)
  set(TESSERA_LEFT_OUT scf interfaces)
  if(NOT TESSERA_WITH_CUDA)
    list(APPEND TESSERA_LITTLE_OPTIMIZED runtime matrix io dense block_sparse density_matrix sparse lobpcg matgen)
  endif()
endif()

# tessera_room(NAME FOLDERS FOLDER... HEADERS HEADER... USES ROOM...): the room NAME with the files of the FOLDERs (not of
# their subfolders) and the public HEADERs (names without .hpp). All its objects go into the library `tessera` (LIBRARY NAME:
# into another one).
function(tessera_room name)
  cmake_parse_arguments(room "" "LIBRARY" "FOLDERS;HEADERS;USES" ${ARGN})
  if(NOT room_LIBRARY)
    set(room_LIBRARY tessera)
  endif()
  set(include_directory "${PROJECT_BINARY_DIR}/rooms/${name}")
  file(REMOVE_RECURSE "${include_directory}")
  set(sources "")
  file(MAKE_DIRECTORY "${include_directory}/tessera")
  foreach(header IN LISTS room_HEADERS)
    set(source "${PROJECT_SOURCE_DIR}/include/tessera/${header}.hpp")
    if(NOT EXISTS "${source}")
      message(FATAL_ERROR "The room ${name} has no public header ${source}.")
    endif()
    file(CREATE_LINK "${source}" "${include_directory}/tessera/${header}.hpp" SYMBOLIC)
    set_property(GLOBAL APPEND PROPERTY TESSERA_PUBLIC_HEADERS ${header})
  endforeach()
  foreach(folder IN LISTS room_FOLDERS)
    file(MAKE_DIRECTORY "${include_directory}/tessera/${folder}")
    file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
      ${folder}/*.hpp ${folder}/*.inl ${folder}/*.cuh)
    foreach(header IN LISTS headers)
      file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${header}" "${include_directory}/tessera/${header}" SYMBOLIC)
    endforeach()
    file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cpp)
    list(APPEND sources ${found})
    if(TESSERA_WITH_CUDA)
      file(GLOB found CONFIGURE_DEPENDS ${folder}/*.cu)
      list(APPEND sources ${found})
    endif()
  endforeach()
  set(simd_sources ${sources})
  list(FILTER simd_sources INCLUDE REGEX "\\.simd\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "\\.simd\\.cpp$")

  # What users of the room see: its headers and those of the rooms that it uses.
  add_library(room_${name}_headers INTERFACE)
  target_include_directories(room_${name}_headers INTERFACE "${include_directory}")
  target_link_libraries(room_${name}_headers INTERFACE tessera_base)
  foreach(used IN LISTS room_USES)
    target_link_libraries(room_${name}_headers INTERFACE room_${used}_headers)
  endforeach()
  if(name IN_LIST TESSERA_LEFT_OUT)
    return()
  endif()
  if(sources)
    add_library(room_${name} OBJECT ${sources})
    if(name IN_LIST TESSERA_LITTLE_OPTIMIZED)
      target_compile_options(room_${name} PRIVATE
        $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
    endif()
    target_link_libraries(room_${name} PRIVATE room_${name}_headers tessera_inside)
    add_dependencies(room_${name} tessera_version)
    tessera_unity_build(room_${name})
    tessera_precompile_headers(room_${name})
    target_sources(${room_LIBRARY} PRIVATE $<TARGET_OBJECTS:room_${name}>)
  endif()
  if(simd_sources)
    tessera_add_simd_sources(${room_LIBRARY} room_${name} "room_${name}_headers;tessera_inside" ${simd_sources})
  endif()
  set_property(GLOBAL APPEND PROPERTY TESSERA_ROOM_HEADERS_${room_LIBRARY} room_${name}_headers)
endfunction()
