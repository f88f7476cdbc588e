// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <tessera/algorithms/matgen/shell_model/shell_interaction.hpp>

namespace tessera::detail {

/// Applies c+_to c_from to a determinant in which `from` is occupied and `to` is not. @return its sign, -1 or 1
int move_nucleon(std::uint64_t& mask, int to, int from) noexcept;

/// The operators c+_i c_k of one kind of nucleon, numbered within those that change 2M by the same amount. An
/// amount is counted as `change` = (2m_i - 2m_k) / 2 + (largest 2j), from 0 to changes() - 1.
class OneBodyOperators {
 public:
  explicit OneBodyOperators(const std::vector<ShellState>& states);
  int changes() const noexcept { return 2 * none_ + 1; }
  int no_change() const noexcept { return none_; }
  int opposite(int change) const noexcept { return 2 * none_ - change; }
  int change(int i, int k) const noexcept { return change_[at(i, k)]; }
  int number(int i, int k) const noexcept { return number_[at(i, k)]; }
  int count(int change) const noexcept { return static_cast<int>(members_[change].size()); }
  struct Operator {
    int to, from;
  };
  const std::vector<Operator>& members(int change) const noexcept { return members_[change]; }

 private:
  std::size_t at(int i, int k) const noexcept { return static_cast<std::size_t>(i) * states_ + k; }
  std::size_t states_;
  int none_ = 0;
  std::vector<int> change_, number_;
  std::vector<std::vector<Operator>> members_;
};

/// All Slater determinants of n nucleons of one kind, and what one- and two-body operators make of them.
///
/// Determinants are sorted by configuration (occupation numbers of the orbits), then 2M, then bits. Those of
/// one configuration and one 2M are a class. Moves are listed so that the ones of a class's consecutive
/// determinants to the same class stand together.
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

  /// @throws InvalidArgument (argument `protons` or `neutrons`) for nucleons < 0 or more than there are states,
  ///         and where there would be more than 2^24 determinants
  ShellNucleons(const ShellInteraction& interaction, const OneBodyOperators& operators, Nucleon kind,
                int nucleons);

  int configurations() const noexcept { return static_cast<int>(first_class_.size()) - 1; }
  bool odd_parity(int configuration) const noexcept { return odd_parity_[configuration]; }
  std::uint32_t determinants() const noexcept { return static_cast<std::uint32_t>(masks_.size()); }
  std::uint64_t mask(std::uint32_t determinant) const noexcept { return masks_[determinant]; }
  /// The number of a determinant of as many nucleons.
  std::uint32_t number_of(std::uint64_t mask) const { return number_of_.at(mask); }
  const Class& class_of(std::uint32_t determinant) const noexcept { return classes_[class_of_[determinant]]; }
  const std::vector<ShellState>& states() const noexcept { return states_; }
  /// Nucleons in each orbit.
  const std::vector<int>& occupations(int configuration) const noexcept {
    return occupations_[configuration];
  }
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
    const std::uint64_t* begin =
        &move_begins_[move_offset_[number] +
                      (static_cast<std::uint64_t>(near) * changes_ + change) * (classes_[number].count + 1) +
                      local];
    return {moves_.data() + begin[0], moves_.data() + begin[1]};
  }
  Run<Element> elements(int number, int neighbour, std::uint32_t local) const noexcept {
    const std::uint64_t* begin =
        &element_begins_[element_offset_[number] +
                         static_cast<std::uint64_t>(neighbour) * (classes_[number].count + 1) + local];
    return {elements_.data() + begin[0], elements_.data() + begin[1]};
  }

 private:
  void list_determinants(const ShellInteraction& interaction, int nucleons);
  void list_neighbours();
  void list_moves(const OneBodyOperators& operators);
  struct FoundElement;
  void list_elements(const ShellInteraction& interaction, const OneBodyOperators& operators);
  template <class Add>
  void list_one_body(const ShellInteraction& interaction, const OneBodyOperators& operators,
                     std::uint64_t mask, const Add& add) const;
  template <class Pairs, class Add>
  void list_two_body(const Pairs& pairs, std::uint64_t mask, const Add& add) const;
  void store_elements(const Class& from, std::uint64_t own, const std::vector<FoundElement>& found);

  Nucleon kind_;
  std::vector<ShellState> states_;
  std::uint64_t changes_;
  std::vector<std::vector<int>> occupations_;  ///< of the orbits, per configuration
  std::vector<bool> odd_parity_;
  std::vector<int> first_class_;
  std::vector<Class> classes_;
  std::vector<std::uint64_t> masks_;
  std::vector<int> class_of_;     ///< per determinant
  std::vector<double> energies_;  ///< per determinant
  std::unordered_map<std::uint64_t, std::uint32_t> number_of_;
  std::vector<std::vector<Neighbour>> neighbours_;
  std::vector<std::uint64_t> move_offset_, move_begins_, element_offset_, element_begins_;
  std::vector<Move> moves_;
  std::vector<Element> elements_;
};

}  // namespace tessera::detail
