// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

namespace tessera::test {

/// Types of the values of a sparse matrix and of vectors.
template <class Value, class Vector>
struct TypePair {
  using V = Value;
  using T = Vector;
};
using TypePairs = ::testing::Types<TypePair<double, double>, TypePair<float, double>, TypePair<float, float>>;

}  // namespace tessera::test
