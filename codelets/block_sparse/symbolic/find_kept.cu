// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.cuh>
#include <tessera/codelets/block_sparse/symbolic/kept_rows.hpp>

namespace tessera::detail {

void run(const DeviceContext& on, const FindKept& task) {
  device::count_chosen(on, KeptChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(FindKept)

void run(const DeviceContext& on, const WriteKept& task) {
  device::write_chosen(on, KeptChoice::of(task), task);
}
TESSERA_DEFINE_ON_GPU(WriteKept)

}  // namespace tessera::detail
