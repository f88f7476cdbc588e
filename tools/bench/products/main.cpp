// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "products_options.hpp"

int main(int argc, char** argv) {
  using namespace tessera::program;
  return bench_main(argc, argv, products_bench_text(), add_products_bench_options, run_products_bench);
}
