// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.hpp>
#include <tessera/codelets/block_sparse/symbolic/mirrored_rows.hpp>

namespace tessera::detail {

void run(const HostContext&, const FindMirrored& task) {
  count_chosen(MirroredChoice::of(task), task);
}
TESSERA_DEFINE_TASK(FindMirrored)

void run(const HostContext&, const WriteMirrored& task) {
  write_chosen(MirroredChoice::of(task), task);
}
TESSERA_DEFINE_TASK(WriteMirrored)

}  // namespace tessera::detail
