# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# tessera_unity_build(TARGET): with TESSERA_UNITY_BUILD the C++ sources of a folder are compiled as one (as two in a large
# folder): each header is read once, and what the files instantiate alike is compiled once. Files in one folder must not give
# two things in their anonymous namespaces one name; those listed here do and stand alone.
option(TESSERA_UNITY_BUILD "Compile the sources of a folder as one" ON)
set(TESSERA_UNITY_ALONE
  temporary_files multiply_stack                                               # runtime, codelets
  one_stage reduce_to_band tridiagonal_eigen              # algorithms
  dense_products matrix_market_file model_matrices sparse_generators
  stack_command trace_summary dbcsr_peer slepc_peer scalapack_peer elpa_peer block_cyclic)  # the program and the benchmarks

function(tessera_unity_build target)
  if(NOT TESSERA_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
    UNITY_BUILD_CODE_AFTER_INCLUDE "#undef TESSERA_DEFINE\n#undef TESSERA_INSTANTIATE\n")
  # An anonymous namespace of an included file is no longer one of the main file, which is all that GCC warns of.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    if(NOT source MATCHES "[.]cpp$" OR name IN_LIST TESSERA_UNITY_ALONE)
      continue()
    endif()
    get_filename_component(folder "${source}" DIRECTORY)
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    if((folder STREQUAL "runtime" AND name MATCHES "^[m-z]") OR (folder STREQUAL "tools/common" AND name MATCHES "^[p-z]") OR
       (folder STREQUAL "algorithms/block_sparse" AND name MATCHES "^[m-z]") OR
       (folder STREQUAL "algorithms/density_matrix" AND name MATCHES "^[h-z]"))
      string(APPEND group "_2")  # the large ones
    endif()
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${group}")
  endforeach()
endfunction()
