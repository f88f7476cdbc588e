// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/generator_families.hpp>
#include <tessera/algorithms/matgen/known_spectrum.hpp>
#include <tessera/algorithms/sparse/function_rows.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/error.hpp>

namespace tessera::detail {

namespace {

constexpr Index largest_lattice = Index{1} << 50;
constexpr Index largest_denominator = Index{1} << 31;  // products of two numbers below it fit
using Number = std::complex<double>;

/// exp(2 pi i numerator / denominator), the same bits for equal fractions of a turn.
Number root_of_unity(Index numerator, Index denominator) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(numerator % denominator) /
                             static_cast<double>(denominator));
}

/// A square lattice on a torus with the flux p / q through each plaquette, p and q without a common divisor.
struct MagneticLattice {
  Index nx, ny, p, q;

  /// The phase of a step upwards in column x.
  Number phase(Index x) const { return root_of_unity(x % q * p, q); }
  std::vector<double> eigenvalues() const;
};

/// Those of Harper's equation, a matrix of order q for each wave vector: the translations by q columns and by a row
/// leave the lattice as it is.
std::vector<double> MagneticLattice::eigenvalues() const {
  std::vector<double> all, values(static_cast<std::size_t>(q));
  std::vector<Number> h(static_cast<std::size_t>(q * q)), work(static_cast<std::size_t>(2 * q + q * q));
  std::vector<double> real_work(static_cast<std::size_t>(1 + 5 * q + 2 * q * q));
  std::vector<int> integers(static_cast<std::size_t>(3 + 5 * q));
  for (Index kx = 0; kx < nx / q; ++kx)
    for (Index ky = 0; ky < ny; ++ky) {
      std::fill(h.begin(), h.end(), Number(0));
      const auto add = [&](Index i, Index j, Number value) {
        h[static_cast<std::size_t>(i + j * q)] += value;
      };
      for (Index x = 0; x < q; ++x) {
        add(x, x, 4 - 2 * (phase(x) * std::conj(root_of_unity(ky, ny))).real());
        const Number step = -(x > 0 ? Number(1) : std::conj(root_of_unity(kx * q, nx)));
        add(x, x > 0 ? x - 1 : q - 1, step);
        add(x > 0 ? x - 1 : q - 1, x, std::conj(step));
      }
      if (blas::heevd<Number>('N', Uplo::lower, q, h.data(), q, values.data(), work.data(),
                              static_cast<Index>(work.size()), real_work.data(),
                              static_cast<Index>(real_work.size()), integers.data(),
                              static_cast<Index>(integers.size())) != 0)
        throw RuntimeError("LAPACK's zheevd fails for Harper's equation");
      all.insert(all.end(), values.begin(), values.end());
    }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

SparseGenerator magnetic_ring_generator(const KindArguments& arguments) {
  arguments.require_count(1, 2);
  const Index n = arguments.integer(1, "sites", 0, 3, largest_lattice);
  const double given = arguments.real(2, "the flux in radians", std::numbers::pi / 2);
  if (!std::isfinite(given)) arguments.fail("a finite flux");
  const auto length = static_cast<double>(n);
  const Number step = -std::polar(1.0, given / length);
  const auto row = [=](Index i, auto&& store) {
    store(i, Number(2));
    if (i > 0) store(i - 1, step);
    if (i == n - 1) store(0, std::conj(step));
  };
  // Angles by distance from 0: those of whole turns more or less.
  const double rest = std::abs(std::remainder(given, 2 * std::numbers::pi));
  const auto value = [=](Index k) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>((k + 1) / 2) + (k % 2 == 0 ? rest : -rest);
    const double s = std::sin(angle / (2 * length));
    return 4 * s * s;
  };
  return {
      hermitian_function_rows(n, row), nullptr,
      spectrum_of_sums("All eigenvalues: 2 - 2 cos((2 pi k + PHI) / n), k = 0, ..., n - 1.", {{n, value}})};
}

SparseGenerator hofstadter_generator(const KindArguments& arguments) {
  arguments.require_count(1, 4);
  MagneticLattice lattice{};
  lattice.nx = arguments.integer(1, "the number of columns", 0, 3, largest_lattice);
  lattice.ny = arguments.integer(2, "the number of rows", lattice.nx, 3, largest_lattice / lattice.nx);
  lattice.p = arguments.integer(3, "the flux's numerator", 1, -largest_lattice, largest_lattice);
  lattice.q = arguments.integer(4, "the flux's denominator", lattice.nx, 1, lattice.nx);
  if (lattice.nx % lattice.q != 0)
    arguments.fail("a denominator of the flux that divides the number of columns");
  lattice.p = (lattice.p % lattice.q + lattice.q) % lattice.q;
  const Index common = std::gcd(lattice.p, lattice.q);
  lattice.p /= common;
  lattice.q /= common;
  if (lattice.q > largest_denominator)
    arguments.fail(fmt::format("a flux whose denominator is at most {}", largest_denominator));
  const auto row = [lattice](Index i, auto&& store) {
    const auto& [nx, ny, p, q] = lattice;
    const Index x = i % nx, y = i / nx;
    const Number up = -lattice.phase(x);
    store(i, Number(4));
    if (x > 0) store(i - 1, Number(-1));
    if (x == nx - 1) store(i - x, Number(-1));
    if (y > 0) store(i - nx, up);
    if (y == ny - 1) store(x, std::conj(up));
  };
  // Matrices of order Q, as many as there are rows divided by Q: within a few seconds.
  constexpr Index most_known = Index{1} << 20, most_work = Index{1} << 31;
  const Index order = lattice.nx * lattice.ny;
  KnownSpectrum spectrum{
      "All eigenvalues: those of Harper's equation, of order Q, for each wave vector.", {}, {}};
  if (order <= most_known && order * lattice.q * lattice.q <= most_work) {
    const auto first = [](std::vector<double> all, Index count) {
      all.resize(std::min(all.size(), static_cast<std::size_t>(count)));
      return all;
    };
    spectrum.lowest = [=](Index count) { return first(lattice.eigenvalues(), count); };
    spectrum.largest = [=](Index count) {
      std::vector<double> all = lattice.eigenvalues();
      std::reverse(all.begin(), all.end());
      return first(std::move(all), count);
    };
  }
  return {hermitian_function_rows(order, row), nullptr, std::move(spectrum)};
}

}  // namespace tessera::detail
