// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/divide_and_conquer/kernels/merge_batch.hpp>
#include <tessera/codelets/divide_and_conquer/merge_tasks.hpp>
#include <tessera/runtime/device_task.hpp>

namespace tessera::divide_and_conquer {

void run(const DeviceContext& on, const Merge& task) {
  const MergeShape& shape = task.shape;
  const Index m = shape.order();
  DeviceFailure failure(on, StatusCode::no_convergence);
  const MergeBatch batch{.forest = {m, m, m},
                         .cut = shape.left,
                         .e = scaled_of(*task.scaled, shape.n).e + shape.cut - shape.left,
                         .left = task.left.view().data(),
                         .right = task.right.view().data() - 3 * shape.left,
                         .merged = task.merged.view().data(),
                         .records = task.record.view().data(),
                         .scratch = task.work.view().data(),
                         .epsilon = shape.epsilon,
                         .failure = failure.index()};
  kernels::launch_merge(on.stream, batch, shape.weights, shape.rows);
  failure.report(shape.cut);
}

}  // namespace tessera::divide_and_conquer

namespace tessera {

TESSERA_DEFINE_ON_GPU(divide_and_conquer::Merge)

}  // namespace tessera
