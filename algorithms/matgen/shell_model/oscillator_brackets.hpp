// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace tessera::detail {

/// Two oscillators with n1 l1 and n2 l2, coupled to L.
struct OscillatorPair {
  int n1, l1, n2, l2;
  int quanta() const noexcept { return 2 * (n1 + n2) + l1 + l2; }
  friend bool operator==(const OscillatorPair&, const OscillatorPair&) = default;
};

/// The brackets of Talmi and Moshinsky for two particles of one mass, <n1 l1 n2 l2; L | n l N Lambda; L>, between the
/// states of particles at r1 and r2 and those of their relative motion n l in (r1 - r2) / sqrt(2) and of their centre
/// of mass N Lambda in (r1 + r2) / sqrt(2). Angular momenta couple in this order, radial functions are positive near
/// the origin, and spherical harmonics have the Condon-Shortley phases. Both sides have the same number of quanta Q.
///
/// For each Q and L they are the orthogonal matrix exp(pi / 4 (a1+ . a2 - a2+ . a1)). Sources: M. Moshinsky, Nucl.
/// Phys. 13, 104 (1959); T. A. Brody, M. Moshinsky, Tables of Transformation Brackets (1960), whose brackets these are
/// but for the order of the coupling.
class OscillatorBrackets {
 public:
  explicit OscillatorBrackets(int max_quanta);

  int max_quanta() const noexcept { return max_quanta_; }
  /// All pairs with Q quanta that couple to L: the rows and the columns.
  const std::vector<OscillatorPair>& pairs(int quanta, int l) const noexcept {
    return block(quanta, l).pairs;
  }
  /// By the numbers of both states in pairs(Q, L).
  double operator()(int quanta, int l, std::size_t particles, std::size_t relative) const noexcept {
    const Block& of = block(quanta, l);
    return of.values[particles * of.pairs.size() + relative];
  }

 private:
  struct Block {
    std::vector<OscillatorPair> pairs;
    std::vector<double> values;  ///< row-major
  };
  const Block& block(int quanta, int l) const noexcept {
    return blocks_[static_cast<std::size_t>(quanta) * static_cast<std::size_t>(max_quanta_ + 1) +
                   static_cast<std::size_t>(l)];
  }
  int max_quanta_;
  std::vector<Block> blocks_;  ///< by Q and L
};

}  // namespace tessera::detail
