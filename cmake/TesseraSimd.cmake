# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

if(NOT TESSERA_HIGHEST_CPU_LEVEL MATCHES "^[234]$")
  message(FATAL_ERROR "TESSERA_HIGHEST_CPU_LEVEL is '${TESSERA_HIGHEST_CPU_LEVEL}'; expected 2, 3 or 4.")
endif()

# tessera_add_simd_sources(TARGET NAME LIBRARIES SOURCE...): compiles each source once for each instruction set that the
# program chooses from when it runs (codelets/common/dispatch.hpp), up to TESSERA_HIGHEST_CPU_LEVEL, with the headers of
# LIBRARIES, and adds all of them to the library TARGET. NAME begins the names of the objects' targets.
function(tessera_add_simd_sources target name libraries)
  set(options_2 "")
  set(options_3 -march=x86-64-v3)                                # AVX2, FMA
  set(options_4 -march=x86-64-v4 -mprefer-vector-width=512)      # AVX-512
  foreach(level RANGE 2 ${TESSERA_HIGHEST_CPU_LEVEL})
    set(objects ${name}_simd_${level})
    add_library(${objects} OBJECT ${ARGN})
    target_compile_options(${objects} PRIVATE ${options_${level}})
    target_compile_definitions(${objects} PRIVATE TESSERA_CPU_LEVEL=${level} TESSERA_CPU_LEVEL_NAMESPACE=level${level})
    target_link_libraries(${objects} PRIVATE ${libraries})
    if(TESSERA_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # The checks of accesses as calls: written out in every instance of a kernel, they make GCC take minutes for a file.
      target_compile_options(${objects} PRIVATE --param asan-instrumentation-with-call-threshold=0)
    endif()
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
