// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/leaf_tasks.hpp>

namespace tessera::detail::divide_and_conquer {

template <class R>
void run(const HostContext& on, const ScaleAndCut<R>& task) {
  const ScaledTridiagonal scaled = scaled_of(*task.scaled, task.n);
  int exponent = 0;
  const Index bad = kernels::scale_and_cut(task.n, task.d.view().data(), task.e.view().data(), task.leaf,
                                           scaled.d, scaled.e, &exponent);
  *scaled.exponent = exponent;
  if (bad != 0) on.fail(StatusCode::not_finite, bad);
}

template <class R>
void run(const HostContext&, const Unscale<R>& task) {
  kernels::unscale_values(spectrum_of(*task.spectrum, task.n).value, 0, task.n,
                          static_cast<int>(*scaled_of(*task.scaled, task.n).exponent),
                          task.values.view().data());
}

std::size_t leaf_scratch_bytes(const Forest& forest, bool on_gpu) noexcept {
  const Index m = std::min(forest.leaf, forest.rows);
  const std::size_t on_host = static_cast<std::size_t>(kernels::leaf_real_scratch(m)) * sizeof(double) +
                              static_cast<std::size_t>(kernels::leaf_integer_scratch(m)) * sizeof(int);
  return on_gpu ? std::max(on_host, forest_scratch_bytes(forest, true)) : on_host;
}

std::size_t subtree_scratch_bytes(Index m, bool on_gpu) noexcept {
  const std::size_t on_host = kernels::subtree_scratch_bytes(m);
  return on_gpu ? std::max(on_host, forest_scratch_bytes({m, m, m}, false)) : on_host;
}

template <class R>
void run(const HostContext& on, const LeafVectors<R>& task) {
  const ScaledTridiagonal scaled = scaled_of(*task.scaled, task.n);
  double* reals = task.work.view().data();
  for (Index tree = 0; tree < task.forest.trees(); ++tree) {
    const Index m = task.forest.tree_rows(tree), start = task.start + tree * task.forest.stride;
    const auto [q, spectrum] = task.leaves[static_cast<int>(tree)];
    int* integers = reinterpret_cast<int*>(reals + kernels::leaf_real_scratch(m));
    const int info = kernels::leaf_eigenvectors(m, scaled.d + start, scaled.e + start,
                                                spectrum_of(spectrum, m), q.data, q.ld, reals, integers);
    if (info != 0) on.fail(StatusCode::no_convergence, start + 1);
  }
}

void run(const HostContext& on, const SubtreeValues& task) {
  const auto& [n, start, m] = task.rows;
  const ScaledTridiagonal scaled = scaled_of(*task.scaled, n);
  const int info =
      kernels::subtree_values(m, scaled.d + start, scaled.e + start, task.epsilon, task.boundary_rows,
                              spectrum_of(*task.spectrum, m), task.work.view().data());
  if (info != 0) on.fail(StatusCode::no_convergence, start + 1);
}

}  // namespace tessera::detail::divide_and_conquer

namespace tessera::detail {

#define TESSERA_DEFINE(R)                                 \
  TESSERA_DEFINE_TASK(divide_and_conquer::ScaleAndCut<R>) \
  TESSERA_DEFINE_TASK(divide_and_conquer::LeafVectors<R>) \
  TESSERA_DEFINE_TASK(divide_and_conquer::Unscale<R>)
TESSERA_FOR_REALS(TESSERA_DEFINE)
TESSERA_DEFINE_TASK(divide_and_conquer::SubtreeValues)

}  // namespace tessera::detail
