// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/codelets/block_sparse/symbolic/above_rows.hpp>
#include <tessera/codelets/block_sparse/symbolic/chosen_panels.hpp>

namespace tessera::detail {

void run(const HostContext&, const FindAbove& task) {
  count_chosen(AboveChoice::of(task), task);
}
TESSERA_DEFINE_TASK(FindAbove)

void run(const HostContext&, const WriteAbove& task) {
  write_chosen(AboveChoice::of(task), task);
}
TESSERA_DEFINE_TASK(WriteAbove)

}  // namespace tessera::detail
