// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/block_sparse_files.hpp>

/// What the readers of files share.
namespace tessera::detail {

/// A vector of rank 0, everywhere. Collective.
std::vector<Index> broadcast_list(const Runtime& runtime, std::vector<Index> list);

/// The layout with the file's symmetry in place of its own: what is read first. Among real matrices a
/// Hermitian one is a symmetric one.
/// @throws InputError if the layout is half-stored and the file has another symmetry.
template <class T>
BlockLayout layout_in_file(const std::string& path, const BlockLayout& layout, Symmetry in_file);

/// The matrix that was read, in the requested layout; only the symmetry may differ.
template <class T>
BlockSparseMatrix<T> in_layout(BlockSparseMatrix<T> a, const BlockLayout& layout);

}  // namespace tessera::detail
