// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/scale_tasks.hpp>

namespace tessera::divide_and_conquer {

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

}  // namespace tessera::divide_and_conquer

namespace tessera {

#define TESSERA_DEFINE(R)                                 \
  TESSERA_DEFINE_TASK(divide_and_conquer::ScaleAndCut<R>) \
  TESSERA_DEFINE_TASK(divide_and_conquer::Unscale<R>)
TESSERA_FOR_REALS(TESSERA_DEFINE)

}  // namespace tessera
