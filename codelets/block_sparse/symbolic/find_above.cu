// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/above_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.cuh>

namespace tessera::detail {

void run(const DeviceContext& on, const FindAbove& task) {
  device::count_chosen(on, AboveChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(FindAbove)

void run(const DeviceContext& on, const WriteAbove& task) {
  device::write_chosen(on, AboveChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(WriteAbove)

}  // namespace tessera::detail
