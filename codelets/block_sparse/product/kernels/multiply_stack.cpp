// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstddef>

#include <tessera/codelets/block_sparse/product/multiply_stack.hpp>
#include <tessera/codelets/common/dispatch.hpp>
#include <tessera/codelets/linalg/block_kernel.hpp>

namespace tessera::kernels {

template <class T>
void small_products(Index m, Index n, Index k, const T* a, const T* b, const StackEntry* entries, Index count,
                    T* c) noexcept {
#if defined(__x86_64__)
  const int level = cpu_level();
  if (level >= 4) return level4::small_products<T>(m, n, k, a, b, entries, count, c);
  if (level == 3) return level3::small_products<T>(m, n, k, a, b, entries, count, c);
#endif
  level2::small_products<T>(m, n, k, a, b, entries, count, c);
}

namespace {

/// What comes next: blocks of C and B lie apart, and are too small for the processor to guess. Of larger ones
/// the beginning is enough.
inline void prefetch(const void* block, std::ptrdiff_t bytes) noexcept {
  constexpr std::ptrdiff_t line = 64, most = 4608;
  const char* const at = static_cast<const char*>(block);
  for (std::ptrdiff_t i = 0; i < std::min(bytes, most); i += line) __builtin_prefetch(at + i);
}

/// Computes the class with a kernel that libxsmm compiles for its shape; false if it declines.
template <class T>
bool multiply_by_kernel(const StackClass& shape, const StackEntry* entries, const StackRun* runs, const T* a,
                        const T* b, T* c) noexcept {
  const BlockKernel<T> multiply = find_block_kernel<T>(shape.m, shape.n, shape.k);
  if (!multiply) return false;
  const auto size_b = static_cast<std::ptrdiff_t>(sizeof(T)) * shape.k * shape.n,
             size_c = static_cast<std::ptrdiff_t>(sizeof(T)) * shape.m * shape.n;
  const std::int32_t last = shape.first_entry + shape.products - 1;
  for (std::int32_t r = 0; r < shape.runs; ++r) {
    T* const block = c + runs[r].c;
    prefetch(c + runs[std::min(r + 2, shape.runs - 1)].c, size_c);
    for (std::int32_t e = runs[r].first, end = e + runs[r].count; e < end; ++e) {
      prefetch(b + entries[std::min(e + 2, last)].b, size_b);
      multiply(a + entries[e].a, b + entries[e].b, block);
    }
  }
  return true;
}

}  // namespace

template <class T>
void multiply_stack(std::span<const StackClass> classes, const StackEntry* entries, const StackRun* runs,
                    const T* a, const T* b, T* c) noexcept {
  for (const StackClass& shape : classes) {
    const StackRun* const first = runs + shape.first_run;
    const bool small = double(shape.m) * shape.n * shape.k <= small_block_limit;
    if (multiply_by_kernel<T>(shape, entries, first, a, b, c)) continue;
    for (std::int32_t r = 0; r < shape.runs; ++r) {
      const StackRun& run = first[r];
      if (small) {
        small_products<T>(shape.m, shape.n, shape.k, a, b, entries + run.first, run.count, c + run.c);
        continue;
      }
      for (std::int32_t e = run.first; e < run.first + run.count; ++e)
        multiply_blocks<T>(shape.m, shape.n, shape.k, a + entries[e].a, b + entries[e].b, c + run.c);
    }
  }
}

#define TESSERA_INSTANTIATE(T)                                                                               \
  template void small_products<T>(Index, Index, Index, const T*, const T*, const StackEntry*, Index,         \
                                  T*) noexcept;                                                              \
  template void multiply_stack<T>(std::span<const StackClass>, const StackEntry*, const StackRun*, const T*, \
                                  const T*, T*) noexcept;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::kernels
