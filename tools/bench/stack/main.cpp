// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stack_options.hpp"

int main(int argc, char** argv) {
  using namespace tessera::program;
  return bench_main(argc, argv, stack_bench_text(), add_stack_bench_options, run_stack_bench);
}
