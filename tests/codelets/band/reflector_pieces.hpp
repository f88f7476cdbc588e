// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <tessera/codelets/band/kernels/chase_blocks.hpp>

#include "random_scalar.hpp"

/// Random reflectors in the layout of a chase on a GPU, and their direct application. Shared by the
/// tests of the back-transform.
namespace tessera::testing {
using namespace detail;

using kernels::DeviceReflectors;

/// The tau for which I - tau v v^H is unitary: (1 + phase) / |v|^2.
template <class T>
T unitary_tau(double square, std::mt19937& generator) {
  if constexpr (is_complex<T>) {
    const double angle = std::uniform_real_distribution<double>(-2, 2)(generator);
    return T(static_cast<RealOf<T>>((1 + std::cos(angle)) / square),
             static_cast<RealOf<T>>(std::sin(angle) / square));
  } else {
    return static_cast<T>(2 / square);
  }
}

template <class T>
std::vector<T> random_reflectors(const DeviceReflectors& piece, std::mt19937& generator) {
  std::vector<T> data(static_cast<std::size_t>(piece.size()), T(0));
  const Index b = piece.bandwidth, tau = piece.blocks() * piece.group * b;
  Index block = 0;
  for (Index group = 0; group < piece.groups(); ++group)
    for (Index hop = 0; hop < piece.hops(group); ++hop, ++block)
      for (Index j = 0; j < piece.group; ++j) {
        const Index k = group * piece.group + j, first = piece.first_sweep + k + 1 + hop * b;
        if (k >= piece.sweeps || first >= piece.n) continue;
        if ((k + hop) % 7 == 3) continue;  // identity
        T* const v = &data[piece.vector_offset(block, j)];
        double square = 0;
        for (Index i = 0; i < std::min(b, piece.n - first); ++i) {
          v[i] = i == 0 ? T(1) : random_scalar<T>(generator) * RealOf<T>(0.5);
          square += std::norm(v[i]);
        }
        data[tau + block * piece.group + j] = unitary_tau<T>(square, generator);
      }
  return data;
}

/// Applies the reflectors one by one in double precision, from the last sweep to the first.
template <class T, class D>
void apply_one_by_one(const DeviceReflectors& piece, const std::vector<T>& data, std::vector<D>& c,
                      Index columns, Index ldc) {
  const Index b = piece.bandwidth, tau = piece.blocks() * piece.group * b;
  for (Index k = piece.sweeps - 1; k >= 0; --k) {
    const Index first_block = piece.first_block(k / piece.group), sweep = piece.first_sweep + k;
    for (Index hop = 0; hop < kernels::hop_count(piece.n, b, sweep); ++hop) {
      const Index place = (first_block + hop) * piece.group + k % piece.group, first = sweep + 1 + hop * b;
      const T* const v = &data[place * b];
      for (Index column = 0; column < columns; ++column) {
        D* const x = &c[first + column * ldc];
        D dot(0);
        const Index rows = std::min(b, piece.n - first);
        for (Index i = 0; i < rows; ++i) dot += conjugate(D(v[i])) * x[i];
        dot *= D(data[tau + place]);
        for (Index i = 0; i < rows; ++i) x[i] -= dot * D(v[i]);
      }
    }
  }
}

struct PieceShape {
  Index n, b, group, columns, pieces, ld;
};

inline const PieceShape piece_shapes[] = {
    {2, 1, 1, 1, 1, 2},          {2, 2, 2, 3, 1, 5},           {3, 64, 32, 16, 1, 3},
    {9, 2, 4, 3, 2, 10},         {40, 5, 5, 16, 3, 41},        {65, 16, 16, 65, 1, 65},
    {97, 33, 32, 17, 2, 97},     {130, 64, 32, 200, 1, 131},   {200, 128, 32, 65, 2, 200},
    {131, 1, 1, 3, 1, 133},      {257, 32, 32, 16, 3, 257},    {300, 64, 16, 65, 1, 300},
    {519, 64, 32, 200, 3, 520},  {400, 100, 32, 129, 1, 401},  {513, 32, 32, 65, 1, 514},
    {640, 128, 16, 128, 1, 640}, {701, 64, 8, 1, 1, 702},      {900, 16, 16, 65, 2, 900},
    {1500, 64, 32, 65, 4, 1501}, {1024, 128, 32, 16, 3, 1024},
};

/// Sweeps of piece p. The pieces are unequal, and all but the last are multiples of the group.
inline std::vector<DeviceReflectors> cut(const PieceShape& s) {
  std::vector<DeviceReflectors> pieces;
  const Index sweeps = s.n - 1;
  for (Index p = 0, first = 0; p < s.pieces && first < sweeps; ++p) {
    Index count = ceil_div(sweeps * (p + 1) / (s.pieces * (s.pieces + 1) / 2), s.group) * s.group;
    if (p + 1 == s.pieces || first + count > sweeps) count = sweeps - first;
    pieces.push_back({s.n, s.b, first, std::max<Index>(count, 1), s.group});
    first += std::max<Index>(count, 1);
  }
  return pieces;
}

template <class T, class D>
double largest_difference(const std::vector<T>& x, const std::vector<D>& y) {
  double difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = std::abs(D(x[i]) - y[i]);
    difference = d <= difference ? difference : d;  // keeps a NaN
  }
  return difference;
}

}  // namespace tessera::testing
