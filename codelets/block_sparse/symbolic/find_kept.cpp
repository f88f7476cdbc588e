// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/codelets/block_sparse/symbolic/chosen_panels.hpp>
#include <tessera/codelets/block_sparse/symbolic/kept_rows.hpp>

namespace tessera::detail {

void run(const HostContext&, const FindKept& task) {
  count_chosen(KeptChoice::of(task), task);
}
TESSERA_DEFINE_TASK(FindKept)

void run(const HostContext&, const WriteKept& task) {
  write_chosen(KeptChoice::of(task), task);
}
TESSERA_DEFINE_TASK(WriteKept)

}  // namespace tessera::detail
