// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/function_rows.hpp>

namespace tessera::detail {

namespace {

constexpr Index largest_order = Index{1} << 50;

double squared_sine(double x) {
  const double s = std::sin(x);
  return s * s;
}

/// Sizes of a grid: the first is required, a direction that is not given is as long as the one before.
std::array<Index, 3> grid_sizes(const KindArguments& arguments, int directions) {
  arguments.require_count(1, directions);
  std::array<Index, 3> n{1, 1, 1};
  Index order = 1;
  for (int d = 0; d < directions; ++d) {
    n[d] = arguments.integer(d + 1, "the number of points", d > 0 ? n[d - 1] : 0, 1, largest_order / order);
    order *= n[d];
  }
  return n;
}

}  // namespace

SparseGenerator laplacian_generator(const KindArguments& arguments, int directions) {
  const std::array<Index, 3> n = grid_sizes(arguments, directions);
  std::vector<AscendingList> lists;
  for (int d = 0; d < directions; ++d)
    lists.push_back({n[d], [length = static_cast<double>(n[d])](Index k) {
                       return 4 * squared_sine(static_cast<double>(k + 1) * std::numbers::pi /
                                               (2 * (length + 1)));
                     }});
  const auto row = [=](Index i, auto&& store) {
    store(i, 2.0 * directions);
    const Index x = i % n[0], y = i / n[0] % n[1], z = i / (n[0] * n[1]);
    if (x > 0) store(i - 1, -1.0);
    if (y > 0) store(i - n[0], -1.0);
    if (z > 0) store(i - n[0] * n[1], -1.0);
  };
  return {function_rows(n[0] * n[1] * n[2], row), nullptr,
          spectrum_of_sums(
              "All eigenvalues: sums over the directions of 4 sin^2(k pi / (2 (n + 1))), k = 1, ..., n.",
              std::move(lists))};
}

SparseGenerator graph_ring_generator(const KindArguments& arguments) {
  arguments.require_count(1, 1);
  const Index n = arguments.integer(1, "vertices", 0, 3, largest_order);
  const auto row = [=](Index i, auto&& store) {
    store(i, 2.0);
    if (i > 0) store(i - 1, -1.0);
    if (i == n - 1) store(0, -1.0);
  };
  const auto value = [length = static_cast<double>(n)](Index k) {
    return 4 * squared_sine(static_cast<double>((k + 1) / 2) * std::numbers::pi / length);
  };
  return {function_rows(n, row), nullptr,
          spectrum_of_sums(
              "All eigenvalues: 4 sin^2(k pi / n), k = 0, ..., n - 1; that of the constant vector is 0.",
              {{n, value}})};
}

SparseGenerator graph_grid_generator(const KindArguments& arguments) {
  const std::array<Index, 3> n = grid_sizes(arguments, 2);
  std::vector<AscendingList> lists;
  for (int d = 0; d < 2; ++d)
    lists.push_back({n[d], [length = static_cast<double>(n[d])](Index k) {
                       return 4 * squared_sine(static_cast<double>(k) * std::numbers::pi / (2 * length));
                     }});
  const auto row = [=](Index i, auto&& store) {
    const Index x = i % n[0], y = i / n[0];
    store(i, static_cast<double>((x > 0) + (x < n[0] - 1) + (y > 0) + (y < n[1] - 1)));
    if (x > 0) store(i - 1, -1.0);
    if (y > 0) store(i - n[0], -1.0);
  };
  return {function_rows(n[0] * n[1], row), nullptr,
          spectrum_of_sums(
              "All eigenvalues: sums over both directions of 4 sin^2(k pi / (2 n)), k = 0, ..., n - 1; "
              "that of the constant vector is 0.",
              std::move(lists))};
}

}  // namespace tessera::detail
