// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <tessera/algorithms/density_matrix/chebyshev.hpp>
#include <tessera/spectral_bounds.hpp>

/// The Fermi function in levels of falling temperature, for numbers.
///
/// T = tanh((H - mu) / (2 kT)) = I - 2 f. At a high temperature it is a polynomial of low degree of H; from one
/// level to the next, colder by a whole factor k, it is tanh(k artanh(T)), a rational function of T whose poles
/// stay away from the spectrum however cold it is; and mu moves by the addition theorem of tanh.
namespace tessera::detail {

/// Of a state of energy e: y = (e - mu) / (2 kT). The share of electrons is (1 - tanh y) / 2.
double entropy_of(double y) noexcept;  ///< -(f ln f + (1 - f) ln(1 - f))

/// The function that one level applies to its matrix A, spectrum in [-1, 1], for a chemical potential. A is H,
/// moved and scaled, on the first level, and T of the level before, over `stretch`, on the others.
struct FermiLevel {
  double temperature = 0;         ///< kT of this level
  double former_temperature = 0;  ///< of the one before; 0: this is the first
  int factor = 1;                 ///< former_temperature / temperature: 1, or even
  double former_potential = 0;    ///< mu of the level before
  SpectralInterval spectrum{};    ///< of H
  double stretch = 1;
  double tolerance = 0;  ///< of the polynomial
  ChebyshevSplit split{};

  bool first() const noexcept { return former_temperature == 0; }
  /// T of this level.
  double tanh_at(double a, double mu) const noexcept;
  /// The entropy of a state at this level.
  double entropy_at(double a, double mu) const noexcept;
  /// Where mu may be: on later levels near enough to the former for a polynomial of moderate degree.
  SpectralInterval potentials() const noexcept;
  /// mu is at an end of these: it should be beyond.
  bool reaches(double mu) const noexcept;
  /// Coefficients of the polynomial for this mu, as many as the tolerance needs.
  std::vector<double> coefficients(double mu) const;

 private:
  double moved(double a, double mu) const noexcept;
};

/// The levels from the first to this temperature with the fewest products.
/// @param spectrum of H  @param tolerance error of T at the end  @param rounding of the scalar type
std::vector<FermiLevel> fermi_levels(SpectralInterval spectrum, double temperature, double tolerance,
                                     double rounding, double stretch);
/// A level of this temperature as the one before, that only moves mu.
FermiLevel moving_level(double temperature, SpectralInterval spectrum, double tolerance, double stretch);

/// The mu in `within` at which a function that rises with mu has this value; an end where it is not reached. Of
/// those where it is nearer than `tolerance` the one next to `former`, or without it that in their middle.
double chemical_potential_of(const std::function<double(double)>& electrons, double wanted, double tolerance,
                             SpectralInterval within, std::optional<double> former = std::nullopt);

}  // namespace tessera::detail
