// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/values/panel_grid.cuh>
#include <tessera/codelets/block_sparse/values/scale_window.hpp>
#include <tessera/codelets/block_sparse/values/unfused.cuh>
#include <tessera/runtime/device_task.hpp>

namespace tessera {
namespace device {
namespace {

template <class S>
struct ScaleWithin {
  S factor;
  bool zero;
  ScaledWindow window;
  S* values;
  __device__ void operator()(const PanelBlock& block, Index i, Index j) const {
    const Index row = block.first_row + i, col = block.first_col + j;
    if (row < window.first_row || row >= window.end_row || col < window.first_col || col >= window.end_col)
      return;
    S& value = values[block.offset + i + j * block.rows];
    value = zero ? S(0) : times(factor, value);
  }
};

}  // namespace
}  // namespace device

template <class T>
void run(const DeviceContext& on, const ScaleWindow<T>& task) {
  using namespace device;
  for_elements(on.stream, *task.blocks,
               ScaleWithin<DeviceScalar<T>>{device_scalar(task.factor), task.factor == T(0), task.window,
                                            device_cast(task.values.view().data())});
}

#define TESSERA_DEFINE(T) TESSERA_DEFINE_ON_GPU(ScaleWindow<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera
