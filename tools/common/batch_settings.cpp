// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "batch_settings.hpp"

namespace tessera::program {

void add_batch_solver(OptionTable& table, BatchSettings& settings) {
  table.group("Solver");
  table.yes_no("--vectors", settings.vectors, "eigenvectors too");
  table.integer("--chunk", settings.chunk, 1, largest_order, "matrices that one task solves")
      .chosen("from the order, the number and the workers", 0);
}

void add_batch_place(OptionTable& table, BatchSettings& settings) {
  table.word("--keep-on", settings.keep_on, {"host", "gpu"},
             "where the matrices are when the clock starts and the results when it stops, ours and those of "
             "cuSOLVER: in host memory or on the GPU");
}

void add_batch_peer(OptionTable& table, BatchSettings& settings) {
  table.word(
      "--peer", settings.peer, {"none", "lapack", "cusolver"},
      "the same by LAPACK, each matrix on one thread, as many threads as workers, or by cuSOLVER's batched "
      "routines (XsyevBatched, syevjBatched) on the first GPU, alternating run by run; of several "
      "routines the fastest counts");
}

}  // namespace tessera::program
