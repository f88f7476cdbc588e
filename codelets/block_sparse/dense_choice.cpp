// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/block_sparse/dense_choice.hpp>

namespace tessera {
bool choose_dense(const DenseRule& rule, std::span<const StackClass> classes, Index m, Index n,
                  Index k) noexcept {
  if (rule.use != UseDense::automatic) return rule.use == UseDense::always && !classes.empty();
  return m * n * k < 0;
}
double dense_seconds(WorkerKind kind, double flops, int real_bytes) noexcept {
  return flops / 3e10 * (kind == WorkerKind::gpu ? 1 : real_bytes);
}
}  // namespace tessera
