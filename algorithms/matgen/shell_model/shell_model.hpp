// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_nucleons.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

struct ShellModelSpace {
  int protons, neutrons;  ///< valence particles
  int twice_m;            ///< 2M of all states
  int parity = 0;         ///< 1 or -1; 0: both
  /// By how much the sum of the weights of all nucleons' orbits may exceed its least; none: no truncation.
  std::optional<int> excitation = std::nullopt;
  /// Tiles are pairs of occupations of the major shells (all orbits of one weight, which have one parity), and not of
  /// the orbits: for spaces of many orbits.
  bool by_shells = false;
};

/// The Hamiltonian of the nuclear shell model in the m-scheme: all ways to put the nucleons into the orbits'
/// states with the given M and parity, tiles by proton and neutron configuration.
///
///   H = sum e_i c+_i c_i + sum_{i<j, k<l} <ij|V|kl> c+_i c+_j c_l c_k
///
/// A state is a proton and a neutron determinant, so an element is one of three: protons alone move (proton
/// interaction, and the field of the neutrons that stay), neutrons alone, or one nucleon of each kind with
/// opposite changes of M. Rows are made from lists of what one- and two-body operators do to determinants of
/// one kind. Elements that cancel to 1e-12 of the interaction's largest are not stored. Source: E. Caurier,
/// G. Martinez-Pinedo, F. Nowacki, A. Poves, A. P. Zuker, Rev. Mod. Phys. 77, 427 (2005), Sec. IV.
class ShellModelRows final : public SymmetricRows {
 public:
  /// A mass dependence is applied.
  /// @throws InvalidArgument for numbers of particles that the orbits do not hold, a 2M that is odd for an
  /// even number
  ///         of particles (or even for an odd one), and where there is no such state
  ShellModelRows(ShellInteraction interaction, const ShellModelSpace& space);

  Index order() const override { return tile_begins_.back(); }
  std::span<const Index> tiles() const override { return tile_begins_; }
  /// The numbers of the proton and of the neutron determinant.
  std::optional<RowFamilies> families(Index row) const override;
  void entries(Index first_row, Index end_row, Index first_column, Index end_column,
               std::vector<SparseEntry>& out) const override;

  const std::vector<ShellOrbit>& orbits() const noexcept { return orbits_; }
  const ShellModelSpace& space() const noexcept { return space_; }
  const ShellNucleons& protons() const noexcept { return *protons_; }
  const ShellNucleons& neutrons() const noexcept { return *neutrons_; }
  const OneBodyOperators& operators() const noexcept { return operators_; }
  /// <ij|V|kl> by the numbers of c+_i c_k (protons) and c+_j c_l (neutrons), for a change of the protons' M.
  double strength(int change, int protons, int neutrons) const noexcept {
    return strengths_[static_cast<std::size_t>(change)].at(protons, neutrons);
  }
  /// The row of a proton and a neutron determinant, whose 2M and parity are those of the space.
  Index row_of(std::uint32_t proton, std::uint32_t neutron) const noexcept;
  /// Rows with the protons of one class, and the neutrons of another one, by proton and neutron determinant.
  struct Group {
    Index begin;
    int proton_class, neutron_class;
  };
  /// All of them, ascending.
  std::vector<Group> groups() const;

 private:
  struct Tile {
    int protons, neutrons;     ///< configurations
    std::size_t group_offset;  ///< in groups_, by the class of protons
  };
  struct Window;
  struct RowGroup;
  /// The strengths of one change. In a truncated space blocks of operators that no pair of nucleons needs are zero.
  struct Strengths {
    int blocks = 1;
    const std::uint16_t* block_of = nullptr;  ///< of each operator of neutrons
    /// By operator of protons and block of operators of neutrons: where number 0 of the row would be.
    std::vector<std::size_t> begins;
    std::vector<double> values;
    const std::size_t* row(int protons) const noexcept {
      return &begins[static_cast<std::size_t>(protons) * static_cast<std::size_t>(blocks)];
    }
    double at(int protons, int neutrons) const noexcept {
      return values[row(protons)[block_of[neutrons]] + static_cast<std::size_t>(neutrons)];
    }
  };

  void list_tiles();
  void require_room_for_strengths() const;
  /// Whether a proton and a neutron can be in these states together.
  bool possible(int proton, int neutron) const noexcept;
  Strengths strengths_of(const ShellInteraction& interaction, int change) const;
  /// What a move of a proton that keeps M meets in the field of the neutrons, and the other way round.
  double neutron_field(int proton_number, std::uint32_t neutron) const noexcept;
  double proton_field(int neutron_number, std::uint32_t proton) const noexcept;
  template <bool inside>
  void add_tile(const Window& window, const ShellNucleons::Neighbour& proton_move, int proton_number,
                const ShellNucleons::Neighbour& neutron_move, int neutron_number, const Tile& to,
                std::vector<SparseEntry>& out) const;
  template <bool inside>
  void add_both(const Window& window, const RowGroup& group, int proton_near, int neutron_near,
                const Tile& to, std::vector<SparseEntry>& out) const;
  template <bool inside>
  void add_protons(const Window& window, const RowGroup& group, int proton_number, const Tile& to,
                   std::vector<SparseEntry>& out) const;
  template <bool inside>
  void add_neutrons(const Window& window, const RowGroup& group, int neutron_number, const Tile& to,
                    std::vector<SparseEntry>& out) const;
  void add_diagonal(const Window& window, const RowGroup& group, std::vector<SparseEntry>& out) const;
  /// First row of the states of a tile with protons of class `proton_class`.
  Index group_begin(const Tile& tile, int proton_class) const noexcept {
    return groups_[tile.group_offset +
                   static_cast<std::size_t>(proton_class - protons().first_class(tile.protons))];
  }

  std::vector<ShellOrbit> orbits_;
  ShellModelSpace space_;
  OneBodyOperators operators_;
  std::shared_ptr<const ShellNucleons> protons_, neutrons_;
  std::vector<Tile> tiles_;
  std::vector<Index> tile_begins_, groups_;
  std::vector<int> tile_of_;  ///< by proton and neutron configuration; -1: empty
  double negligible_ = 0;
  std::optional<int> pair_limit_;     ///< the largest sum of two nucleons' weights
  std::vector<Strengths> strengths_;  ///< by change
  std::vector<int> stays_;            ///< the numbers of c+_s c_s
};

}  // namespace tessera::detail
