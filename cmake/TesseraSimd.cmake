# SPDX-FileCopyrightText: 2026 The Tessera authors
# SPDX-License-Identifier: BSD-3-Clause

# tessera_add_simd_sources(TARGET NAME LIBRARIES SOURCE...): compiles each source once for each instruction set that the
# program chooses from when it runs (codelets/common/dispatch.hpp), with the headers of LIBRARIES, and adds all of them to
# the library TARGET. NAME begins the names of the objects' targets.
function(tessera_add_simd_sources target name libraries)
  set(levels 2)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    list(APPEND levels 3 4)
  endif()
  set(options_2 "")
  set(options_3 -march=x86-64-v3)                                # AVX2, FMA
  set(options_4 -march=x86-64-v4 -mprefer-vector-width=512)      # AVX-512
  foreach(level IN LISTS levels)
    set(objects ${name}_simd_${level})
    add_library(${objects} OBJECT ${ARGN})
    target_compile_options(${objects} PRIVATE ${options_${level}})
    target_compile_definitions(${objects} PRIVATE TESSERA_CPU_LEVEL=${level} TESSERA_CPU_LEVEL_NAMESPACE=level${level})
    target_link_libraries(${objects} PRIVATE ${libraries})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
endfunction()
