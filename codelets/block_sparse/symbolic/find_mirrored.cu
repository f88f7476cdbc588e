// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.cuh>
#include <tessera/codelets/block_sparse/symbolic/mirrored_rows.hpp>

namespace tessera::detail {

void run(const DeviceContext& on, const FindMirrored& task) {
  device::count_chosen(on, MirroredChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(FindMirrored)

void run(const DeviceContext& on, const WriteMirrored& task) {
  device::write_chosen(on, MirroredChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(WriteMirrored)

}  // namespace tessera::detail
