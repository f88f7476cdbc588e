// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

/// Coupling coefficients of angular momenta, with the Condon-Shortley phases. All arguments are twice the
/// angular momenta, so that they are integers; the sums of three coupled ones are at most 150. Source: D. A.
/// Varshalovich, A. N. Moskalev, V. K. Khersonskii, Quantum Theory of Angular Momentum (1988), Eqs. 8.2.1 (3)
/// and 9.2.1 (1).
namespace tessera::detail {

/// <j1 m1 j2 m2 | j m>; zero where angular momentum forbids it.
double clebsch_gordan(int twice_j1, int twice_m1, int twice_j2, int twice_m2, int twice_j,
                      int twice_m) noexcept;

/// The coefficients <j1 m1 j2 m2 | j m> of some half-integer j1 and j2.
class ClebschGordanTable {
 public:
  /// @param twice_j  2 j of all j1 and j2, odd
  explicit ClebschGordanTable(const std::vector<int>& twice_j);
  /// @pre j1 and j2 are among them, and j is an integer up to their sum
  double operator()(int twice_j1, int twice_m1, int twice_j2, int twice_m2, int twice_j) const noexcept {
    return values_[(state(twice_j1, twice_m1) * states_ + state(twice_j2, twice_m2)) * j_values_ +
                   static_cast<std::size_t>(twice_j / 2)];
  }

 private:
  std::size_t state(int twice_j, int twice_m) const noexcept {
    return first_state_[static_cast<std::size_t>(twice_j)] +
           static_cast<std::size_t>((twice_j + twice_m) / 2);
  }
  std::vector<std::size_t> first_state_;  ///< by 2 j
  std::size_t states_ = 0, j_values_ = 0;
  std::vector<double> values_;
};

/// {a b c; d e f}; zero where one of the four triangles does not close.
double six_j(int twice_a, int twice_b, int twice_c, int twice_d, int twice_e, int twice_f) noexcept;

}  // namespace tessera::detail
