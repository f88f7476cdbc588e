// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// The main functions of the benchmarks, without the headers of their options, which compile slowly.
/// Each returns the exit code.
namespace tessera::program {

int dense_bench_main(int argc, char** argv);
int stack_bench_main(int argc, char** argv);
int spmm_bench_main(int argc, char** argv);
int products_bench_main(int argc, char** argv);
int density_bench_main(int argc, char** argv);
int batch_bench_main(int argc, char** argv);

}  // namespace tessera::program
