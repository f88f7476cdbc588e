// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/function_rows.hpp>

namespace tessera::detail {

namespace {

constexpr Index largest_order = Index{1} << 50;

/// The diagonal matrix with value(i) in ascending order.
SparseGenerator diagonal_matrix(Index n, std::function<double(Index)> value, std::string text) {
  const auto row = [value](Index i, auto&& store) { store(i, value(i)); };
  return {function_rows(n, row), nullptr, spectrum_of_sums(std::move(text), {{n, value}})};
}

}  // namespace

SparseGenerator sakurai_generator(const KindArguments& arguments) {
  arguments.require_count(1, 1);
  const Index n = arguments.integer(1, "the order", 0, 2, largest_order);
  const auto row = [=](Index i, auto&& store) {
    store(i, i == 0 || i == n - 1 ? 5.0 : 6.0);
    if (i > 0) store(i - 1, -4.0);
    if (i > 1) store(i - 2, 1.0);
  };
  const auto value = [=](Index k) {
    return 16 * std::pow(std::sin(static_cast<double>(k + 1) * std::numbers::pi /
                                  (2.0 * static_cast<double>(n + 1))),
                         4);
  };
  return {function_rows(n, row), nullptr,
          spectrum_of_sums("All eigenvalues: 16 cos^4(k pi / (2 (n + 1))), k = 1, ..., n.", {{n, value}})};
}

SparseGenerator mikota_generator(const KindArguments& arguments) {
  arguments.require_count(1, 1);
  const Index n = arguments.integer(1, "the order", 0, 1, Index{1} << 26);
  const auto stiffness = [=](Index i, auto&& store) {
    store(i, static_cast<double>(2 * (n - i) - 1));
    if (i > 0) store(i - 1, static_cast<double>(i - n));
  };
  const auto mass = [](Index i, auto&& store) { store(i, 1 / static_cast<double>(i + 1)); };
  const auto value = [](Index k) { return static_cast<double>((k + 1) * (k + 1)); };
  return {function_rows(n, stiffness), function_rows(n, mass),
          spectrum_of_sums("All eigenvalues: k^2, k = 1, ..., n.", {{n, value}})};
}

SparseGenerator elastic_rod_generator(const KindArguments& arguments) {
  arguments.require_count(1, 1);
  const Index n = arguments.integer(1, "the order", 0, 1, Index{1} << 26);
  constexpr double density = 7.85e3, section = 1e-4, elasticity = 2.1e11;  // kg/m^3, m^2, Pa; one metre long
  const double spring = elasticity * section * static_cast<double>(n),
               mass = density * section / (6 * static_cast<double>(n));
  const auto stiffness_row = [=](Index i, auto&& store) {
    store(i, i == n - 1 ? spring : 2 * spring);
    if (i > 0) store(i - 1, -spring);
  };
  const auto mass_row = [=](Index i, auto&& store) {
    store(i, i == n - 1 ? 2 * mass : 4 * mass);
    if (i > 0) store(i - 1, mass);
  };
  const auto value = [=](Index k) {
    const double s =
        std::sin(static_cast<double>(2 * k + 1) * std::numbers::pi / (4 * static_cast<double>(n)));
    return spring / mass * 4 * s * s / (6 - 4 * s * s);
  };
  return {function_rows(n, stiffness_row), function_rows(n, mass_row),
          spectrum_of_sums(
              "All eigenvalues: c 4 s^2 / (6 - 4 s^2), s = sin((2 k - 1) pi / (4 n)), k = 1, ..., n, "
              "c = 6 n^2 elasticity / density.",
              {{n, value}})};
}

SparseGenerator clusters_generator(const KindArguments& arguments) {
  arguments.require_count(1, 2);
  const Index n = arguments.integer(1, "the order", 0, 1, largest_order),
              width = arguments.integer(2, "the number of eigenvalues of a cluster", 4, 1, 1000000);
  return diagonal_matrix(
      n, [=](Index i) { return static_cast<double>(i / width + 1) + 1e-8 * static_cast<double>(i % width); },
      "All eigenvalues: clusters j + i 1e-8, j = 1, 2, ..., i = 0, ..., width - 1.");
}

SparseGenerator hard_diagonal_generator(const KindArguments& arguments) {
  arguments.require_count(1, 2);
  const Index n = arguments.integer(1, "the order", 0, 1, largest_order);
  const double decades = arguments.real(2, "of powers of ten", 8);
  if (decades <= 0 || decades > 30) arguments.fail("more than 0 and at most 30 powers of ten");
  const double last = static_cast<double>(n > 1 ? n - 1 : 1);
  return diagonal_matrix(
      n, [=](Index i) { return std::pow(10.0, decades * static_cast<double>(i) / last); },
      "All eigenvalues: 10^(d i / (n - 1)), i = 0, ..., n - 1, d the powers of ten.");
}

}  // namespace tessera::detail
