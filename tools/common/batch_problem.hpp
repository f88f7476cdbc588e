// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/eigensolve_batch.hpp>
#include <tessera/runtime.hpp>

#include "report.hpp"

/// The matrices of a batch, and the check of their eigenpairs.
namespace tessera::program {

/// Matrices of order n, one directly after the other, with what the checks need of each.
template <class T>
struct BatchMatrices {
  Index n = 0, count = 0;
  std::vector<T> a;           ///< both triangles
  std::vector<double> norms;  ///< one-norms
  std::vector<double> traces;
};

/// Matrices of order n, count of them, with both triangles in `a`. NaN and infinity are infinite norms.
template <class T>
BatchMatrices<T> measured_batch(Runtime& runtime, Index n, Index count, std::vector<T> a);

/// Matrix number k is generated with seed `seed` + k.
template <class T>
BatchMatrices<T> generate_batch(Runtime& runtime, const std::string& kind, Index n, Index count,
                                std::uint64_t seed);

/// What a solve of a batch has found, in host memory.
template <class T>
struct BatchResults {
  std::vector<RealOf<T>> values;       ///< n of each matrix
  std::vector<T> vectors;              ///< n x n of each matrix; empty: no vectors
  std::vector<BatchFailure> failures;  ///< by ascending matrix
};

/// Which matrices are checked: every `step`-th from the first on.
struct BatchSample {
  Index step = 1, number = 0;
};
/// All matrices if that takes few operations, else some, but not only the first.
BatchSample batch_sample(Index n, Index count, double flop_factor);

/// The largest |A Z - Z W|_1 / (n |A|_1 eps) and |I - Z^H Z|_1 / (n eps) of a sample, and the largest
/// |trace of A - sum of W| / (n |A|_1 eps) of all matrices, but for those that have failed.
template <class T>
CheckRecord check_batch(Runtime& runtime, const BatchMatrices<T>& matrices, const BatchResults<T>& results,
                        const BatchSample& sample);

/// Adds the largest difference of the values of all matrices, absolute and in units of n |A|_1 eps.
template <class T>
void compare_batch_values(CheckRecord& check, const BatchMatrices<T>& matrices,
                          const std::vector<RealOf<T>>& values, const std::vector<RealOf<T>>& reference,
                          const std::string& name);

}  // namespace tessera::program
