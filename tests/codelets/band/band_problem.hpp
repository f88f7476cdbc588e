// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include <tessera/codelets/band/kernels/chase.hpp>
#include <tessera/codelets/band/kernels/wy_blocks.hpp>
#include <tessera/codelets/linalg/blas.hpp>

#include "random_scalar.hpp"

/// A random band matrix in segments, chased tile by tile. Shared by the tests of the band kernels.
namespace tessera::testing {
using namespace detail;

template <class T>
struct BandProblem {
  using Layout = kernels::BandLayout<T>;
  Index n, b, group, width;
  std::vector<std::vector<T>> segments;
  std::vector<std::vector<T>> storage;
  std::vector<kernels::Reflectors<T>> reflectors;

  BandProblem(Index n_, Index b_, Index group_, unsigned seed = 1)
      : n(n_), b(b_), group(group_), width(2 * b_ * group_) {
    segments.assign(ceil_div(n, width), std::vector<T>(Layout::size(b, width), T(0)));
    std::mt19937 generator(seed);
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < std::min(n, j + b + 1); ++i)
        at(i, j) = i == j ? T(real_part(random_scalar<T>(generator))) : random_scalar<T>(generator);
  }

  T& at(Index i, Index j) {
    return segments[j / width][Layout::front() + (j % width) * Layout::leading_dimension(b) + (i - j)];
  }

  /// The whole n x n matrix, both triangles.
  std::vector<T> dense() {
    std::vector<T> a(n * n, T(0));
    for (Index j = 0; j < n; ++j)
      for (Index i = j; i < std::min(n, j + b + 1); ++i) {
        a[i + j * n] = at(i, j);
        a[j + i * n] = conjugate(at(i, j));
      }
    return a;
  }

  /// Chases all tiles in order, divided as the documentation of chase_tile describes.
  void chase(int level, bool keep = true) {
    std::vector<RealOf<T>> workspace(kernels::chase_workspace<T>(b));
    std::vector<T*> pointers;
    for (auto& segment : segments) pointers.push_back(segment.data());
    for (Index first = 0; first + 1 < n; first += group) {
      // Two pieces divided at a tile border, filled with NaN because values that were not written
      // must not be read.
      const Index cut = width * (1 + Index(segments.size()) / 2) - 2 * b;
      kernels::Reflectors<T> pieces[] = {
          kernels::Reflectors<T>::of_tiles(n, b, first, group, -n, cut),
          kernels::Reflectors<T>::of_tiles(n, b, first, group, cut, 2 * n + cut)};
      if (keep)
        for (auto& piece : pieces) {
          storage.emplace_back(piece.size() + 1, T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
          piece.data = storage.back().data();
          reflectors.push_back(piece);
        }
      for (Index tile = 0; tile * width - 2 * b * group < n; ++tile) {
        const Index seen = std::max<Index>(tile - 1, 0);
        const kernels::BandView<T> view{n, b, seen * width, width, pointers.data() + seen};
        const Index begin = tile == 0 ? -n : tile * width - 2 * b;
        kernels::chase_tile_at_level<T>(level, view, first, group, begin, (tile + 1) * width - 2 * b,
                                        pieces[begin < cut ? 0 : 1], workspace.data());
      }
    }
  }

  /// Q C by form_wy and apply_wy, with WY groups of `per_wy` chase groups, `together` of which
  /// advance in one wavefront.
  void apply_q(int level, Index per_wy, Index together, T* c, Index columns, Index ldc) {
    std::vector<kernels::WyGroup<T>> groups;
    std::vector<std::vector<T>> storage;
    const Index sweeps_total = std::max<Index>(n - 1, 0);
    std::vector<RealOf<T>> workspace(kernels::wy_workspace<T>(b, per_wy * group));
    for (Index first = 0; first < sweeps_total; first += per_wy * group) {
      const Index sweeps = std::min(per_wy * group, sweeps_total - first);
      storage.emplace_back(kernels::WyLayout<T>::size(n, b, first, sweeps),
                           T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
      groups.push_back({storage.back().data(), first, sweeps});
      kernels::form_wy_at_level<T>(level, n, b, reflectors.data(), Index(reflectors.size()), groups.back(), 0,
                                   kernels::hop_count(n, b, first), workspace.data());
    }
    for (Index last = Index(groups.size()); last > 0; last -= together) {
      const Index begin = std::max<Index>(0, last - together);
      const Index hops = kernels::hop_count(n, b, groups[begin].first_sweep);
      kernels::apply_wy_at_level<T>(level, n, b, groups.data() + begin, last - begin, 0, hops / 2, c, columns,
                                    ldc, workspace.data());
      kernels::apply_wy_at_level<T>(level, n, b, groups.data() + begin, last - begin, hops / 2, hops, c,
                                    columns, ldc, workspace.data());
    }
  }
};

}  // namespace tessera::testing
