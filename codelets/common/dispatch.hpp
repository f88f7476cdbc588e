// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Run-time choice of the instruction set for the few kernels that a BLAS does not provide.
///
/// Such a kernel is one file `<name>.simd.cpp`, which CMake compiles several times
/// (tessera_add_simd_sources): for the compiler's default (baseline x86-64), for x86-64-v3 (AVX2, FMA) and
/// for x86-64-v4 (AVX-512), with TESSERA_CPU_LEVEL = 2, 3 or 4 and TESSERA_CPU_LEVEL_NAMESPACE = level2,
/// level3 or level4. It must not call functions of the standard library that the compiler might not inline,
/// because the linker could then pick a weak symbol compiled for AVX-512 for the whole program.
namespace tessera::detail::kernels {

/// The highest level (2, 3, 4 as in the x86-64 psABI) that this processor supports; 2 on other architectures.
inline int cpu_level() noexcept {
#if defined(__x86_64__)
  static const int level = [] {
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")))
      return 2;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return avx512 ? 4 : 3;
  }();
  return level;
#else
  return 2;
#endif
}

/// Returns from the function that it ends with the call (or name) after the level, in that level's namespace.
#if defined(__x86_64__)
#define TESSERA_DISPATCH(LEVEL, ...)                  \
  const int tessera_level = LEVEL;                    \
  if (tessera_level >= 4) return level4::__VA_ARGS__; \
  if (tessera_level == 3) return level3::__VA_ARGS__; \
  return level2::__VA_ARGS__
#else
#define TESSERA_DISPATCH(LEVEL, ...) \
  static_cast<void>(LEVEL);          \
  return level2::__VA_ARGS__
#endif

}  // namespace tessera::detail::kernels
