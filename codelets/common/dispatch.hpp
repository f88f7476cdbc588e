// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

/// Run-time choice of the instruction set for the few kernels that a BLAS does not provide.
///
/// Such a kernel is one file `<name>.simd.cpp`, which CMake compiles several times
/// (tessera_add_simd_sources): for the compiler's default (baseline x86-64), for x86-64-v3 (AVX2, FMA) and
/// for x86-64-v4 (AVX-512), with TESSERA_CPU_LEVEL = 2, 3 or 4 and TESSERA_CPU_LEVEL_NAMESPACE = level2,
/// level3 or level4, up to TESSERA_HIGHEST_CPU_LEVEL. It must not call functions of the standard library that
/// the compiler might not inline, because the linker could then pick a weak symbol compiled for AVX-512 for
/// the whole program.
namespace tessera::detail::kernels {

/// The highest level that kernels are compiled for: at most 4, and 2 on architectures other than x86-64. The
/// kernels of the levels above are declared, but not there.
inline constexpr int highest_cpu_level = TESSERA_HIGHEST_CPU_LEVEL;

/// The highest level (2, 3, 4 as in the x86-64 psABI) that is compiled and that this processor supports.
inline int cpu_level() noexcept {
#if defined(__x86_64__)
  static const int level = [] {
    __builtin_cpu_init();
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")))
      return 2;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
    return std::min(avx512 ? 4 : 3, highest_cpu_level);
  }();
  return level;
#else
  return 2;
#endif
}

/// Returns from the function that it ends with the call (or name) after the level, in that level's namespace.
#define TESSERA_DISPATCH(LEVEL, ...)                                \
  [[maybe_unused]] const int tessera_level = LEVEL;                 \
  if constexpr (::tessera::detail::kernels::highest_cpu_level >= 4) \
    if (tessera_level >= 4) return level4::__VA_ARGS__;             \
  if constexpr (::tessera::detail::kernels::highest_cpu_level >= 3) \
    if (tessera_level == 3) return level3::__VA_ARGS__;             \
  return level2::__VA_ARGS__

}  // namespace tessera::detail::kernels
