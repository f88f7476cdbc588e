// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "products_options.hpp"
#include "program_main.hpp"

int main(int argc, char** argv) {
  using namespace tessera::program;
  return bench_main(argc, argv, run_products_bench);
}
