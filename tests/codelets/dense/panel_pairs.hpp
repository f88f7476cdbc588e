// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/support/matrix.hpp>

#include <tessera/codelets/dense/two_sided.hpp>

namespace tessera::test {

/// VZ panel by panel, b columns of V and b of Z, from [V Z].
template <class T>
Matrix<T> in_pairs(const Matrix<T>& v_z, Index b) {
  Matrix<T> result(v_z.rows(), v_z.cols());
  const Index rows = v_z.rows(), kb = v_z.cols() / 2;
  for (Index p = 0; p < kb; p += b) {
    result.set_block(0, detail::v_column(p), v_z.block(0, p, rows, b));
    result.set_block(0, detail::z_column(p, b), v_z.block(0, kb + p, rows, b));
  }
  return result;
}

/// The other way round.
template <class T>
Matrix<T> without_pairs(const Matrix<T>& pairs, Index b) {
  Matrix<T> result(pairs.rows(), pairs.cols());
  const Index rows = pairs.rows(), kb = pairs.cols() / 2;
  for (Index p = 0; p < kb; p += b) {
    result.set_block(0, p, pairs.block(0, detail::v_column(p), rows, b));
    result.set_block(0, kb + p, pairs.block(0, detail::z_column(p, b), rows, b));
  }
  return result;
}

}  // namespace tessera::test
