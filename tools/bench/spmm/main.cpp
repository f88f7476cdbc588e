// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "spmm_options.hpp"

int main(int argc, char** argv) {
  using namespace tessera::program;
  return bench_main(argc, argv, spmm_bench_text(), add_spmm_bench_options, run_spmm_bench);
}
