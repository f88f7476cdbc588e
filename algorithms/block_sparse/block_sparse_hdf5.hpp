// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/runtime/io/hdf5_file.hpp>

/// Block-sparse matrices as parts of HDF5 files: the arrays and the attribute `symmetry` that write_hdf5 lists,
/// with names that begin with a prefix. Collective; the file is open on rank 0 alone, null elsewhere.
namespace tessera::detail {

/// Adds a matrix to a file that is being written.
template <class T>
void write_block_sparse(Hdf5File* file, const std::string& prefix, const BlockSparseMatrix<T>& a);

/// Reads one in default layout, half-stored or not as it was written.
/// @throws InputError, on every rank
template <class T>
BlockSparseMatrix<T> read_block_sparse(Runtime& runtime, const std::string& path, Hdf5File* file,
                                       const std::string& prefix);

}  // namespace tessera::detail
