// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.cuh>
#include <tessera/codelets/block_sparse/symbolic/united_rows.hpp>

namespace tessera::detail {

void run(const DeviceContext& on, const FindUnited& task) {
  device::count_chosen(on, UnitedChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(FindUnited)

void run(const DeviceContext& on, const WriteUnited& task) {
  device::write_chosen(on, UnitedChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(WriteUnited)

}  // namespace tessera::detail
