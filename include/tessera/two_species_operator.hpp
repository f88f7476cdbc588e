// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/operators.hpp>

/// @file
/// Real symmetric operators on the product space of two species that are applied without a stored matrix.
namespace tessera {

/// An element of a species' own Hamiltonian, by states of the species.
struct SpeciesElement {
  std::uint32_t row, column;  ///< states
  double value;               ///< the element itself
};

/// What one operator of a transfer makes of one state: sign |to>. The matrix of an operator has at most one
/// element a column, 1 or -1, as those of c+_i c_k have in the basis of Slater determinants.
struct SpeciesMove {
  std::uint32_t to, from;  ///< states
  std::uint16_t transfer;  ///< of the operator
  std::uint16_t number;    ///< of the operator among those of its transfer
  std::int16_t sign;       ///< 1 or -1
};

/// One of two species: its states, sorted into sectors (states with the same quantum numbers), and operators.
struct Species {
  std::vector<Index> sectors;            ///< first state of each sector and, last, the number of states
  std::vector<SpeciesElement> elements;  ///< of its own Hamiltonian, both triangles, none twice
  /// Of all operators, in any order. All moves of one transfer that lead into a sector come from one sector.
  std::vector<SpeciesMove> moves;
};

/// sum_ab strengths(a, b) P_a N_b, P_a operator number a of a transfer of the first species, N_b of the second
/// one. With a coupling its adjoint belongs to the couplings, too.
struct SpeciesCoupling {
  std::uint16_t first_transfer, second_transfer;  ///< of the two species
  Index first_count, second_count;                ///< operators of the transfers
  std::vector<double> strengths;                  ///< first_count x second_count, row-major
};

/// States of the product space: each of a sector of the first species with each of one of the second.
struct SectorPair {
  Index first_sector, second_sector;  ///< numbers of the sectors
};

/// H = A (x) 1 + 1 (x) B + sum_c sum_ab V_c(a, b) P_a (x) N_b, symmetric, in the space of the pairs of sectors;
/// what leads out of it is left out. A shell model's protons and neutrons, or a Hubbard model's up and down spins.
/// Rows: pair after pair, within a pair state after state of the first species, and for each of these all
/// states of the second one.
struct TwoSpeciesStructure {
  Species first;                           ///< A and P_a
  Species second;                          ///< B and N_b
  std::vector<SectorPair> pairs;           ///< none twice
  std::vector<SpeciesCoupling> couplings;  ///< none of the same transfers twice
  /// Rows of H. @throws InvalidArgument (`pairs`) for sectors that there are not, and more rows than an Index counts
  Index order() const;
};

/// How A and B are applied.
enum class SpeciesStorage {
  automatic,  ///< as dense blocks between large sectors where at least a 16th of the elements is there
  dense,      ///< as dense blocks between sectors, by BLAS
  sparse      ///< element by element
};

/// Of a TwoSpeciesOperator.
struct TwoSpeciesOptions {
  Index segments = 0;  ///< of the rows, each of whole states of the first species; 0: chosen
  /// How A and B are applied.
  SpeciesStorage storage = SpeciesStorage::automatic;
};

/// H of a TwoSpeciesStructure, applied from the lists of both species: its memory grows with the number of
/// states of one species, but for the diagonal (n numbers in double on each rank), and not with the matrix. T: float
/// or double, for vectors and numbers.
///
/// y := H x: dense blocks of A and B by BLAS, and the couplings by loops over the moves into a state of the
/// first species and those into one of the second. Sums have a fixed order on the same kind of worker. Each
/// segment of y needs all of x: with several ranks and GPUs all of it travels to each of them.
/// Source: E. Caurier, F. Nowacki, Acta Phys. Pol. B 30, 705 (1999), for such products in the shell model.
template <class T>
class TwoSpeciesOperator final : public SymmetricOperator<T> {
 public:
  /// Makes the lists. Every rank gives the same structure, and keeps all of it. Whether H is symmetric is not
  /// checked. Collective.
  /// @throws InvalidArgument for states, sectors, transfers and numbers that there are not, what is there twice,
  /// numbers beyond T's range, lists of nearly 2^32 items, moves into one sector from several ones, signs other than 1
  /// and -1, values that are not finite, no rows, and structures that differ from another rank's; RuntimeError where
  /// the lists do not fit into the host's memory
  static TwoSpeciesOperator build(Runtime& runtime, const TwoSpeciesStructure& structure,
                                  const TwoSpeciesOptions& options = {});

  /// Rows of the matrix.
  Index order() const override;
  const std::shared_ptr<const RowSegments>& segments() const override;
  void apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
             Index columns) const override;
  /// The largest sum over a row of the magnitudes of its elements, where parts of A, B and the couplings that
  /// fall on one element off the diagonal count by themselves.
  double norm_bound() const override;
  /// Multiplications and additions for a column: what the couplings have, and A and B as they are stored.
  double products() const;
  /// Bytes of the lists and blocks, on each rank.
  double table_bytes() const;
  /// The diagonal of H, on every rank.
  const std::vector<double>& diagonal() const;

 private:
  struct Detail;
  static TwoSpeciesOperator made_of(Runtime& runtime, const TwoSpeciesStructure& structure,
                                    const TwoSpeciesOptions& options);
  void submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y, Index columns) const;
  explicit TwoSpeciesOperator(std::shared_ptr<const Detail> detail) : detail_(std::move(detail)) {}
  std::shared_ptr<const Detail> detail_;
};

}  // namespace tessera
