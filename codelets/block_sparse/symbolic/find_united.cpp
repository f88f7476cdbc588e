// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.hpp>
#include <tessera/codelets/block_sparse/symbolic/united_rows.hpp>

namespace tessera::detail {

void run(const HostContext&, const FindUnited& task) {
  count_chosen(UnitedChoice::of(task), task);
}
TESSERA_DEFINE_TASK(FindUnited)

void run(const HostContext&, const WriteUnited& task) {
  write_chosen(UnitedChoice::of(task), task);
}
TESSERA_DEFINE_TASK(WriteUnited)

}  // namespace tessera::detail
