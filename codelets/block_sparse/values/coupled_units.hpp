// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include <tessera/codelets/block_sparse/values/random_blocks.hpp>
#include <tessera/runtime/matrix/panel_block.hpp>
#include <tessera/runtime/task.hpp>

/// Values of a model of an overlap matrix S and a Hamiltonian H of units (molecules) with a band gap.
namespace tessera::detail {

/// double, or complex<double>: what a model of matrices of T is computed in.
template <class T>
using InDouble = std::conditional_t<is_complex<T>, std::complex<double>, double>;

/// S = V (1 + E) V^H and H = middle * S + V (D + K/2 (D E + E D)) V^H. V is block-diagonal, one square block
/// a unit; D is diagonal, the units' levels. E couples different units I > J by norm(I, J) times a matrix of
/// norm 1 that pairs levels of the one with levels of the other, at random, each with a random sign (phase).
/// Source of the Hamiltonian's coupling: M. Wolfsberg, L. Helmholz, J. Chem. Phys. 20, 837 (1952).
template <class W>
struct UnitModel {
  PeriodicSites sites;          ///< of the units
  std::vector<double> scale;    ///< of each unit
  double spacing_squared = 1;   ///< the weight of two units at this squared distance is 1
  double middle = 0;            ///< of the gap: the levels count from there
  double wolfsberg_helmholz{};  ///< K
  std::uint64_t seed = 0;       ///< of the pairs of levels

  std::vector<Index> unit_of_block;
  std::vector<Index> first_function;  ///< of each unit, and the end
  std::vector<double> levels;         ///< D, of each function
  std::vector<Index> first_value;     ///< in `basis`, of each unit, and the end
  std::vector<W> basis;               ///< V, column-major, unit after unit

  Index functions(Index unit) const noexcept {
    return first_function[static_cast<std::size_t>(unit + 1)] -
           first_function[static_cast<std::size_t>(unit)];
  }
  /// Decays with the distance as a Gaussian.
  double weight(double distance_squared) const noexcept {
    return std::exp((spacing_squared - distance_squared) / (2 * sites.decay_length * sites.decay_length));
  }
  /// Of the coupling of two units.
  double norm(Index a, Index b) const noexcept {
    return scale[static_cast<std::size_t>(a)] * scale[static_cast<std::size_t>(b)] *
           weight(sites.distance_squared(a, b));
  }
};

/// One term of a block of two units: a level of each.
template <class W>
struct LevelPair {
  Index first, second;  ///< levels of the row's and of the column's unit
  W overlap;            ///< E
  double energy;        ///< H / S of the pair
};

/// Bytes of work space for blocks of up to `largest_block` rows of units of up to `largest_unit` functions.
template <class W>
constexpr std::size_t coupled_units_work_bytes(Index largest_block, Index largest_unit) noexcept {
  return static_cast<std::size_t>(largest_block * (2 * largest_unit + largest_block)) * sizeof(W) +
         static_cast<std::size_t>(largest_unit) * sizeof(LevelPair<W>);
}

/// The blocks of one panel of S and H of a model, on and below the diagonal, computed in double precision and
/// rounded. A block follows from the model and its numbers alone. Diagonal blocks of S are the unit matrix,
/// those of H are Hermitian exactly. No flops counted. On CPUs alone; StarPU predicts the time from earlier
/// tasks.
/// | operand     | mode    | shape                           | what             |
/// |-------------|---------|---------------------------------|------------------|
/// | blocks      | read    | array of PanelBlock             | the panel's      |
/// | overlap     | write   | array                           | the panel's of S |
/// | hamiltonian | write   | array                           | the panel's of H |
/// | work        | scratch | bytes: coupled_units_work_bytes |                  |
template <class T>
struct CoupledUnits {
  static constexpr const char* name = "coupled_units";
  Read<Array<PanelBlock>> blocks;
  Write<Array<T>> overlap;
  Write<Array<T>> hamiltonian;
  Scratch<Array<char>> work;
  const UnitModel<InDouble<T>>* units;  ///< must live until the sequence has ended
  Index largest_block, largest_unit;
};

}  // namespace tessera::detail
