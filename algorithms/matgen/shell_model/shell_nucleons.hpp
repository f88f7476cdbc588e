// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <tessera/algorithms/matgen/shell_model/determinant.hpp>
#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>

namespace tessera::detail {

/// Applies c+_to c_from to a determinant in which `from` is occupied and `to` is not. @return its sign, -1 or 1
int move_nucleon(Determinant& mask, int to, int from) noexcept;

/// What a truncation by weights keeps.
struct WeightLimits {
  /// By how much the sum of one kind's weights may exceed its least.
  int excitation;
  /// The largest sum of two nucleons' weights in the space, at least that of every pair that an element takes to
  /// another.
  int pair;
};

/// The operators c+_i c_k of one kind of nucleon, numbered within those that change 2M by the same amount. An
/// amount is counted as `change` = (2m_i - 2m_k) / 2 + (largest 2j), from 0 to changes() - 1. In a truncated space
/// those between the same two weights have consecutive numbers: a block.
class OneBodyOperators {
 public:
  OneBodyOperators(const ShellInteraction& interaction, bool truncated);
  int changes() const noexcept { return 2 * none_ + 1; }
  int no_change() const noexcept { return none_; }
  int opposite(int change) const noexcept { return 2 * none_ - change; }
  int change(int i, int k) const noexcept { return change_[at(i, k)]; }
  int number(int i, int k) const noexcept { return number_[at(i, k)]; }
  int count(int change) const noexcept { return static_cast<int>(members_[change].size()); }
  /// Blocks of one change; those without operators are counted, too.
  int blocks() const noexcept { return blocks_; }
  const std::vector<std::uint16_t>& block_of(int change) const noexcept { return block_of_[change]; }
  struct Operator {
    int to, from;
  };
  const std::vector<Operator>& members(int change) const noexcept { return members_[change]; }

 private:
  std::size_t at(int i, int k) const noexcept { return static_cast<std::size_t>(i) * states_ + k; }
  std::size_t states_;
  int none_ = 0, blocks_ = 1;
  std::vector<int> change_, number_;
  std::vector<std::vector<Operator>> members_;
  std::vector<std::vector<std::uint16_t>> block_of_;  ///< of each operator of a change
};

/// All Slater determinants of n nucleons of one kind, and what one- and two-body operators make of them.
///
/// Determinants are sorted by configuration (occupation numbers of the orbits, or of the major shells, which are all
/// orbits of one weight), then 2M, then bits. Those of one configuration and one 2M are a class. Moves are listed so
/// that the ones of a class's consecutive determinants to the same class stand together.
class ShellNucleons {
 public:
  struct Class {
    int configuration, twice_m;
    std::uint32_t begin, count;  ///< of its determinants
  };
  /// A configuration that differs by at most two nucleons.
  struct Neighbour {
    int configuration, distance;
    int near;  ///< number among the neighbours with distance <= 1, or -1
  };
  /// c+_i c_k, i != k: the determinant it leads to, counted in its class, with the sign.
  struct Move {
    std::uint32_t to;
    std::uint16_t number;  ///< of the operator among those of its change
    std::int16_t sign;
  };
  /// An element of this kind's own Hamiltonian. Where one nucleon alone moves, number and sign are those of
  /// the move (the other kind's field acts on it too); otherwise the sign is zero.
  struct Element {
    std::uint32_t to;
    std::uint16_t number;
    std::int16_t sign;
    double value;
  };
  template <class Item>
  struct Run {
    const Item *first, *last;
    const Item* begin() const noexcept { return first; }
    const Item* end() const noexcept { return last; }
    bool empty() const noexcept { return first == last; }
  };

  /// @param limits     none: all determinants
  /// @param by_shells  configurations count the nucleons in major shells
  /// @throws InvalidArgument (argument `protons` or `neutrons`) for nucleons < 0 or more than there are states,
  ///         and where there would be more than 2^24 determinants; RuntimeError where the lists do not fit into memory
  ShellNucleons(const ShellInteraction& interaction, const OneBodyOperators& operators, Nucleon kind,
                int nucleons, const std::optional<WeightLimits>& limits = {}, bool by_shells = false);

  int configurations() const noexcept { return static_cast<int>(first_class_.size()) - 1; }
  bool odd_parity(int configuration) const noexcept { return odd_parity_[configuration]; }
  std::uint32_t determinants() const noexcept { return static_cast<std::uint32_t>(masks_.size()); }
  const Determinant& mask(std::uint32_t determinant) const noexcept { return masks_[determinant]; }
  /// The states that are occupied in a determinant, ascending.
  std::span<const std::uint16_t> occupied(std::uint32_t determinant) const noexcept {
    return {occupied_.data() + static_cast<std::size_t>(determinant) * nucleons_, nucleons_};
  }
  /// The number of a determinant of as many nucleons, which the space has.
  std::uint32_t number_of(const Determinant& mask) const { return number_of_.at(mask); }
  const Class& class_of(std::uint32_t determinant) const noexcept { return classes_[class_of_[determinant]]; }
  const std::vector<ShellState>& states() const noexcept { return states_; }
  /// By how much the sum of weights exceeds its least, in a truncated space; else 0.
  int excitation(int configuration) const noexcept { return excitations_[configuration]; }
  /// Its diagonal element of this kind's own Hamiltonian.
  double energy(std::uint32_t determinant) const noexcept { return energies_[determinant]; }
  const std::vector<Neighbour>& neighbours(int configuration) const noexcept {
    return neighbours_[configuration];
  }
  /// The classes of a configuration are numbered first_class(c) to first_class(c + 1) - 1, 2M ascending.
  int first_class(int configuration) const noexcept { return first_class_[configuration]; }
  const Class& at(int number) const noexcept { return classes_[number]; }
  int number(const Class& of_these) const noexcept { return static_cast<int>(&of_these - classes_.data()); }
  /// -1 where there is none.
  int find(int configuration, int twice_m) const noexcept;

  /// Of the determinant number `local` of a class, to the neighbour number `neighbour` of its configuration.
  Run<Move> moves(int number, int near, int change, std::uint32_t local) const noexcept {
    const std::uint64_t row =
        move_rows_[move_offset_[number] + static_cast<std::uint64_t>(near) * changes_ + change];
    if (row == no_moves) return {nullptr, nullptr};
    const std::uint64_t* begin = &move_begins_[row + local];
    return {moves_.data() + begin[0], moves_.data() + begin[1]};
  }
  Run<Element> elements(int number, int neighbour, std::uint32_t local) const noexcept {
    const std::uint64_t* begin =
        &element_begins_[element_offset_[number] +
                         static_cast<std::uint64_t>(neighbour) * (classes_[number].count + 1) + local];
    return {elements_.data() + begin[0], elements_.data() + begin[1]};
  }

 private:
  static constexpr std::uint64_t no_moves = ~std::uint64_t{0};
  void list_determinants(const ShellInteraction& interaction, bool by_shells);
  void list_neighbours();
  /// Whether a determinant of this excitation stays in the space.
  bool keeps(int excitation) const noexcept { return !limits_ || excitation <= limits_->excitation; }
  template <class Found>
  void store_moves(const Class& from, std::uint64_t nears, std::vector<Found>& found);
  void list_moves(const OneBodyOperators& operators);
  struct FoundElement;
  struct PairElement;
  std::vector<std::vector<PairElement>> pair_elements(const ShellInteraction& interaction) const;
  void require_room(const std::vector<std::vector<PairElement>>& pairs) const;
  void list_elements(const ShellInteraction& interaction, const OneBodyOperators& operators,
                     const std::vector<std::vector<PairElement>>& pairs);
  template <class Visit>
  void for_moves(std::uint32_t determinant, const Visit& visit) const;
  template <class Add>
  void list_one_body(const ShellInteraction& interaction, const OneBodyOperators& operators,
                     std::uint32_t determinant, const Add& add) const;
  template <class Add>
  void list_two_body(const std::vector<std::vector<PairElement>>& pairs, std::uint32_t determinant,
                     const Add& add) const;
  void store_elements(const Class& from, std::uint64_t own, const std::vector<FoundElement>& found);

  Nucleon kind_;
  std::size_t nucleons_;
  std::optional<WeightLimits> limits_;
  std::vector<ShellState> states_;
  std::vector<int> weights_;  ///< of the states; 0 without a truncation
  std::vector<bool> odd_;     ///< of the states: l is odd
  std::uint64_t changes_;
  std::vector<std::vector<int>> occupations_;  ///< of the orbits or shells, per configuration
  std::vector<bool> odd_parity_;
  std::vector<int> excitations_;  ///< per configuration
  std::vector<int> first_class_;
  std::vector<Class> classes_;
  std::vector<Determinant> masks_;
  std::vector<std::uint16_t> occupied_;
  std::vector<int> class_of_;     ///< per determinant
  std::vector<double> energies_;  ///< per determinant
  std::unordered_map<Determinant, std::uint32_t, Determinant::Hash> number_of_;
  std::vector<std::vector<Neighbour>> neighbours_;
  /// Where the moves of a class to a neighbour with one change begin: by class, neighbour and change the place in
  /// move_begins_ of its first determinant, or no_moves.
  std::vector<std::uint64_t> move_offset_, move_rows_, move_begins_, element_offset_, element_begins_;
  std::vector<Move> moves_;
  std::vector<Element> elements_;
};

}  // namespace tessera::detail
