// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

#include <tessera/block_sparse_matrix.hpp>
#include <tessera/runtime/agreement.hpp>

/// What the operations on block-sparse matrices ask of their arguments.
namespace tessera::detail {

/// The symmetry in effect: real hermitian matrices are symmetric.
template <class T>
constexpr Symmetry kind_of(Symmetry symmetry) noexcept {
  return symmetry == Symmetry::hermitian && !is_complex<T> ? Symmetry::symmetric : symmetry;
}

inline std::string text_of(Symmetry symmetry) {
  return std::string(1, static_cast<char>(symmetry));
}

template <class T>
std::string text_of(T x) {
  return is_complex<T> ? fmt::format("({}, {})", real_part(x), imag_part(x))
                       : fmt::format("{}", real_part(x));
}

/// Both parts are.
template <class T>
bool finite(T x) noexcept {
  return std::isfinite(real_part(x)) && std::isfinite(imag_part(x));
}

template <class T>
void require_made(const char* name, const BlockSparseMatrix<T>& a) {
  if (!a.valid()) throw InvalidArgument(name, "an empty object", "a matrix");
}

/// Of what tells the matrices of a call from others, cheaply: must be equal on all ranks.
template <class T>
std::uint64_t shape_hash(const BlockSparseMatrix<T>& a) {
  if (!a.valid()) return 0;
  return argument_hash(a.rows(), a.cols(), a.block_rows(), a.block_cols(), a.symmetry(), a.pattern().blocks(),
                       a.pattern().elements());
}

/// The Runtime of a call that waits. Without a matrix there is no Runtime through which to reach other ranks.
template <class T>
Runtime& runtime_of(const char* name, const BlockSparseMatrix<T>& a) {
  require_made(name, a);
  return a.runtime();
}

inline std::string text_of(const BlockDimension& dimension) {
  return fmt::format("{} blocks, {} elements", dimension.blocks(), dimension.elements());
}

/// Of one dimension, `given` for `name`: the block sizes of `like`, which is called `of`.
inline void require_blocks(const char* name, const BlockDimension& given, const char* of,
                           const BlockDimension& like) {
  if (!given.same_sizes(like))
    throw InvalidArgument(name, text_of(given), fmt::format("the block sizes of {}: {}", of, text_of(like)));
}

/// Of the layout of `name`: the block sizes of `like`.
inline void require_sizes(const char* name, const BlockLayout& layout, const BlockLayout& like) {
  if (!layout.rows->same_sizes(*like.rows) || !layout.cols->same_sizes(*like.cols))
    throw InvalidArgument(
        name, fmt::format("rows of {}; columns of {}", text_of(*layout.rows), text_of(*layout.cols)),
        fmt::format("the block sizes of the other matrix: rows of {}; columns of {}", text_of(*like.rows),
                    text_of(*like.cols)));
}

/// A half-stored matrix (`to`) can take the values of `name` (symmetry `from`); with `any`, also those of a
/// matrix without symmetry.
template <class T>
void require_symmetry(const char* name, Symmetry from, Symmetry to, bool any) {
  if (to == Symmetry::none || kind_of<T>(from) == kind_of<T>(to) || (any && from == Symmetry::none)) return;
  throw InvalidArgument(name, "of symmetry " + text_of(from),
                        "of symmetry " + text_of(to) + (any ? " or N" : ""));
}

/// A matrix that may be Hermitian. Of one without symmetry the values are the caller's word.
template <class T>
void require_hermitian(const BlockSparseMatrix<T>& a) {
  if (a.symmetry() == Symmetry::antisymmetric || (is_complex<T> && a.symmetry() == Symmetry::symmetric))
    throw InvalidArgument("a", "of symmetry " + text_of(a.symmetry()), "a Hermitian matrix");
  require_blocks("a", *a.layout().cols, "its rows", *a.layout().rows);
}

/// A number that a matrix of the symmetry can be multiplied by.
template <class T>
void require_factor(const char* name, T factor, Symmetry symmetry) {
  if (symmetry == Symmetry::hermitian && imag_part(factor) != 0)
    throw InvalidArgument(name, text_of(factor), "a real number for a hermitian matrix");
}

}  // namespace tessera::detail
