// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "batch_problem.hpp"

/// The files that `tessera batch` reads and writes.
namespace tessera::program {

/// The data set of an HDF5 file without a name behind it.
inline constexpr const char* usual_batch_set = "matrices";

/// A file with matrices of a batch.
struct BatchFile {
  std::string path;
  std::string set;  ///< in HDF5; empty: Matrix Market
  bool hdf5() const { return !set.empty(); }
};
/// `A.mtx`, `A.h5` or `A.h5:SET`. A file of that whole name comes first.
/// @throws UsageError
BatchFile batch_file(const std::string& text);

struct BatchShape {
  Index n = 0, count = 0;
  char type = 'd';      ///< that holds all elements of the files
  bool single = false;  ///< of numbers that float holds
};
/// Looks at the heads of the files: one HDF5 file, or Matrix Market files of one order.
/// @throws InputError
BatchShape look_at_batch(const std::vector<BatchFile>& files);

/// Both triangles of all matrices, one directly after the other. Matrices of an HDF5 file may have NaN and
/// infinities, which then are in the lower triangle.
/// @throws InputError, also for a matrix that is not Hermitian
template <class T>
std::vector<T> read_batch(Runtime& runtime, const std::vector<BatchFile>& files, const BatchShape& shape);

/// Writes an HDF5 file with `values` (count x n) and, if there are vectors, `vectors` (count x n x n; row j
/// of matrix k belongs to value j of it). Those of matrices that have failed are NaN.
/// @throws InputError
template <class T>
void write_batch(const std::string& path, Index n, Index count, const BatchResults<T>& results);

}  // namespace tessera::program
