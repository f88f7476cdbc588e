// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "dense_options.hpp"

int main(int argc, char** argv) {
  using namespace tessera::program;
  return bench_main(argc, argv, dense_bench_text(), add_dense_bench_options, run_dense_bench);
}
