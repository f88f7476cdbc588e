# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# tessera_add_simd_sources(TARGET SOURCE...): compiles each source once for each instruction set that the program chooses
# from when it runs (codelets/dispatch.hpp), and adds all of them to the library TARGET.
function(tessera_add_simd_sources target)
  set(levels 2)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(APPEND levels 3 4)
  endif()
  set(options_2 "")
  set(options_3 -march=x86-64-v3)                                # AVX2, FMA
  set(options_4 -march=x86-64-v4 -mprefer-vector-width=512)      # AVX-512
  foreach(level IN LISTS levels)
    set(objects ${target}_simd_${level})
    add_library(${objects} OBJECT ${ARGN})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_features(${objects} PRIVATE cxx_std_20)
    target_compile_options(${objects} PRIVATE ${options_${level}})
    target_compile_definitions(${objects} PRIVATE
      TESSERA_CPU_LEVEL=${level} TESSERA_CPU_LEVEL_NAMESPACE=level${level}
      $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
    target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
    target_link_libraries(${objects} PRIVATE tessera_flags)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
