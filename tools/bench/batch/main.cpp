// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench_mains.hpp"

int main(int argc, char** argv) {
  return tessera::program::batch_bench_main(argc, argv);
}
