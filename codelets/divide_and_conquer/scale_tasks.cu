// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/divide_and_conquer/kernels/leaf_cuda.hpp>
#include <tessera/codelets/divide_and_conquer/scale_tasks.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::divide_and_conquer {

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

}  // namespace tessera::divide_and_conquer

namespace tessera {

#define TESSERA_DEFINE(R)                                   \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::ScaleAndCut<R>) \
  TESSERA_DEFINE_ON_GPU(divide_and_conquer::Unscale<R>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera
