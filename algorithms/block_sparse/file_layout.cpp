// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <tessera/algorithms/block_sparse/file_layout.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

std::vector<Index> broadcast_list(const Runtime& runtime, std::vector<Index> list) {
  auto size = static_cast<Index>(list.size());
  runtime.broadcast(&size, sizeof size, 0);
  list.resize(static_cast<std::size_t>(size));
  runtime.broadcast(list.data(), size * static_cast<Index>(sizeof(Index)), 0);
  return list;
}

template <class T>
BlockLayout layout_in_file(const std::string& path, const BlockLayout& layout, Symmetry in_file) {
  const auto equal_to_transpose = [](Symmetry s) {
    return s == Symmetry::symmetric || s == Symmetry::hermitian;
  };
  if (!is_complex<T> && equal_to_transpose(in_file) && equal_to_transpose(layout.symmetry)) return layout;
  if (layout.symmetry != Symmetry::none && layout.symmetry != in_file)
    throw InputError(path, 0,
                     fmt::format("its symmetry is {}, that of the layout to read it into is {}",
                                 static_cast<char>(in_file), static_cast<char>(layout.symmetry)));
  BlockLayout result = layout;
  result.symmetry = in_file;
  if (in_file != Symmetry::none && !layout.rows->same_sizes(*layout.cols))
    throw InputError(path, 0, "half of a square matrix, while rows and columns have other block sizes");
  return result;
}

template <class T>
BlockSparseMatrix<T> in_layout(BlockSparseMatrix<T> a, const BlockLayout& layout) {
  if (a.symmetry() == layout.symmetry) return a;
  Sequence sequence(a.runtime());
  auto image = make_image(sequence, T(1), a, layout);
  finish(sequence);
  return image;
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template BlockLayout layout_in_file<T>(const std::string&, const BlockLayout&, Symmetry); \
  template BlockSparseMatrix<T> in_layout<T>(BlockSparseMatrix<T>, const BlockLayout&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
