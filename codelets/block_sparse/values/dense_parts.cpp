// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/codelets/block_sparse/values/dense_parts.hpp>

namespace tessera::detail {

template <class T>
void run(const HostContext&, const GatherBlocks<T>& task) {
  const MatrixView<T> matrix = *task.matrix;
  if (task.matrix.first())
    for (Index j = 0; j < matrix.cols; ++j) std::fill_n(matrix.data + j * matrix.ld, matrix.rows, T(0));
  const T* const values = task.values.view().data();
  for (const DensePart& part : *task.parts)
    for (Index j = 0; j < part.cols; ++j) {
      const T* const column = values + part.element + j * part.ld;
      if (part.image == PartImage::straight)
        std::copy_n(column, part.rows, &matrix(part.row, part.col + j));
      else
        for (Index i = 0; i < part.rows; ++i)
          matrix(part.row + j, part.col + i) = mirrored(task.symmetry, column[i]);
    }
}

template <class T>
void run(const HostContext&, const ScatterBlocks<T>& task) {
  const MatrixView<const T> matrix = *task.matrix;
  T* const values = task.values.view().data();
  for (const DensePart& part : *task.parts)
    for (Index j = 0; j < part.cols; ++j) {
      T* const column = values + part.element + j * part.ld;
      if (part.image == PartImage::straight)
        std::copy_n(&matrix(part.row, part.col + j), part.rows, column);
      else
        for (Index i = 0; i < part.rows; ++i) {
          const PartPlace place = place_of(part, i, j);
          const T x = matrix(place.row, place.col);
          column[i] = place.mirrored ? mirrored(task.symmetry, x) : x;
        }
    }
}

template <class T>
void run(const HostContext&, const LargestOfParts<T>& task) {
  const MatrixView<const T> matrix = *task.matrix;
  const auto parts = *task.parts;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    double largest = 0;
    for (Index j = parts[p].col; j < parts[p].col + parts[p].cols; ++j)
      for (Index i = parts[p].row; i < parts[p].row + parts[p].rows; ++i) {
        if (!counts(task.counted, i, j)) continue;
        const auto modulus = static_cast<double>(std::abs(matrix(i, j)));
        if (!(modulus <= largest)) largest = std::isnan(largest) ? largest : modulus;
      }
    (*task.largest)[p] = largest;
  }
}

#define TESSERA_DEFINE(T)               \
  TESSERA_DEFINE_TASK(GatherBlocks<T>)  \
  TESSERA_DEFINE_TASK(ScatterBlocks<T>) \
  TESSERA_DEFINE_TASK(LargestOfParts<T>)
TESSERA_FOR_SCALARS(TESSERA_DEFINE)

}  // namespace tessera::detail
