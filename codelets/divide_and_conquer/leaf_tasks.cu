// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>

#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/leaf_tasks.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::detail::divide_and_conquer {

template <class R>
void run(const DeviceContext& on, const ScaleAndCut<R>& task) {
  const ScaledTridiagonal scaled = scaled_of(*task.scaled, task.n);
  DeviceFailure failure(on, StatusCode::not_finite);
  kernels::launch_scale_and_cut(on.stream, task.n, task.d.view().data(), task.e.view().data(), task.leaf,
                                scaled.d, scaled.e, scaled.exponent, failure.index());
  failure.report();
}

template <class R>
void run(const DeviceContext& on, const Unscale<R>& task) {
  kernels::launch_unscale(on.stream, task.n, task.spectrum.view().data(),
                          scaled_of(*task.scaled, task.n).exponent, task.values.view().data());
}

template <class R>
void run(const DeviceContext& on, const LeafVectors<R>& task) {
  const ScaledTridiagonal scaled = scaled_of(*task.scaled, task.n);
  std::array<double*, kernels::max_leaves> spectra;
  std::array<R*, kernels::max_leaves> vectors;
  std::array<Index, kernels::max_leaves> ld;
  for (Index tree = 0; tree < task.forest.trees(); ++tree) {
    const auto i = static_cast<std::size_t>(tree);
    const auto [q, spectrum] = task.leaves[static_cast<int>(tree)];
    vectors[i] = q.data;
    ld[i] = q.ld;
    spectra[i] = spectrum.data();
  }
  DeviceFailure failure(on, StatusCode::no_convergence);
  kernels::launch_leaf_vectors(
      on.stream, {task.forest, scaled.d + task.start, scaled.e + task.start, task.epsilon, failure.index()},
      spectra.data(), vectors.data(), ld.data(), task.work.view().data());
  failure.report(task.start);
}

void run(const DeviceContext& on, const SubtreeValues& task) {
  const auto& [n, start, m] = task.rows;
  const ScaledTridiagonal scaled = scaled_of(*task.scaled, n);
  DeviceFailure failure(on, StatusCode::no_convergence);
  kernels::launch_leaf_values(on.stream,
                              {{m, m, m}, scaled.d + start, scaled.e + start, task.epsilon, failure.index()},
                              task.boundary_rows, task.spectrum.view().data(), task.work.view().data());
  failure.report(start);
}

}  // namespace tessera::detail::divide_and_conquer

namespace tessera::detail {

#define TESSERA_DEFINE(R)                                   \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::ScaleAndCut<R>) \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::LeafVectors<R>) \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::Unscale<R>)
TESSERA_FOR_REALS(TESSERA_DEFINE)
TESSERA_DEFINE_ON_GPU(divide_and_conquer::SubtreeValues)

}  // namespace tessera::detail
