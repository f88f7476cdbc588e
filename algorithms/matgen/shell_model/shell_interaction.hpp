// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tessera/algorithms/matgen/shell_model/pair_table.hpp>

/// Interactions of the nuclear shell model: one- and two-body, the same orbits for protons and neutrons;
/// isospin-invariant, or with other elements for two protons, two neutrons, and a proton and a neutron. Source:
/// P. J. Brussaard, P. W. M. Glaudemans, Shell-Model Applications in Nuclear Spectroscopy (1977).
namespace tessera::detail {

/// One orbit n l j; n is a label, the weight is what truncations count.
struct ShellOrbit {
  int n, l, twice_j, weight = 0;
};

enum class Nucleon { proton, neutron };

class ClebschGordanTable;

/// A two-body element <ab;J|V|cd;J>.
struct CoupledElement {
  int a, b, c, d, j;
};

/// A single-particle state: one m of an orbit (its number, from 0).
struct ShellState {
  int orbit, twice_m;
};

/// Every two-body element is multiplied by (reference / A)^exponent, A = core + valence particles.
struct MassDependence {
  double core, reference, exponent;
};

/// @throws InvalidArgument for no orbits, an orbit that cannot be (j = l +- 1/2), one given twice, or more than 768
///         single-particle states
void require_shell_orbits(const std::vector<ShellOrbit>& orbits);

class ShellInteraction {
 public:
  /// No energies, no two-body elements.
  /// @param max_pair_weight  two nucleons in orbits with a larger sum of weights have no elements
  /// @throws InvalidArgument as require_shell_orbits; RuntimeError where the elements do not fit into memory
  explicit ShellInteraction(std::vector<ShellOrbit> orbits, std::optional<int> max_pair_weight = {});

  const std::vector<ShellOrbit>& orbits() const noexcept { return orbits_; }
  /// All states, orbit after orbit, m ascending: the order of the bits of a Slater determinant.
  std::vector<ShellState> states() const;

  std::vector<double> energies;          ///< of one particle in each orbit
  std::vector<double> neutron_energies;  ///< empty: those of protons
  std::optional<MassDependence> mass_dependence;

  double energy(Nucleon kind, int orbit) const noexcept {
    return kind == Nucleon::neutron && !neutron_energies.empty() ? neutron_energies[orbit] : energies[orbit];
  }
  /// Whether protons and neutrons have the same energies and elements.
  bool isospin_invariant() const noexcept { return neutron_energies.empty() && unlike_.empty(); }

  /// Whether angular momentum, isospin, parity and Pauli's principle allow <ab;JT|V|cd;JT>.
  bool allowed(int a, int b, int c, int d, int j, int t) const noexcept;
  /// Calls visit(a, b, c, d, J, T) for each element that is allowed, with a <= b, c <= d and (a, b) not after
  /// (c, d).
  template <class Visit>
  void for_each_element(const Visit& visit) const;
  /// The normalised antisymmetric element V_JT(ab;cd), for any order of the orbits; zero where it is not
  /// allowed.
  double element(int a, int b, int c, int d, int j, int t) const noexcept;
  /// Sets an allowed element and those that follow from it by symmetry.
  void set_element(int a, int b, int c, int d, int j, int t, double value) noexcept;

  /// From here on elements are those of two protons, two neutrons, and a proton and a neutron; all zero at first. Those
  /// with isospin do not count any more.
  void separate_nucleons();
  /// The same, but with the values that the elements with isospin have. Nothing if nucleons are told apart already.
  void tell_nucleons_apart();
  /// Adds to an element of nucleons that are told apart, and to those that follow by symmetry: of two of one kind, or
  /// an element V_JT(ab;cd) of all three kinds of pairs.
  void add_like_element(Nucleon kind, const CoupledElement& at, double value);
  void add_isospin_element(int a, int b, int c, int d, int j, int t, double value);
  /// Whether elements of two nucleons in these orbits can be there.
  bool has_pair(int a, int b) const noexcept { return sorted_.has(std::min(a, b), std::max(a, b)); }
  /// Whether angular momentum, parity and Pauli's principle allow an element of two nucleons of one kind, or (like
  /// = false) of a proton in a and c and a neutron in b and d.
  bool allowed(bool like, const CoupledElement& at) const noexcept;
  /// Two of one kind: normalised and antisymmetric, for any order of the orbits. @return false: it is given twice
  bool set_like_element(Nucleon kind, CoupledElement at, double value);
  /// A proton and a neutron, normalised. @return false: it is given twice
  bool set_unlike_element(const CoupledElement& at, double value);

  /// Multiplies all two-body elements.
  void scale(double factor) noexcept;
  /// The largest magnitude of an energy or a two-body element.
  double magnitude() const noexcept;
  int largest_j() const noexcept { return largest_j_; }

  /// <ij|V|kl> of two protons or two neutrons.
  double like_element(const ShellState& i, const ShellState& j, const ShellState& k, const ShellState& l,
                      Nucleon kind = Nucleon::proton) const noexcept;
  /// <ij|V|kl> with protons i, k and neutrons j, l.
  double unlike_element(const ShellState& i, const ShellState& j, const ShellState& k,
                        const ShellState& l) const noexcept;

 private:
  std::size_t position(int a, int b, int c, int d, int j, int t) const noexcept;
  /// (-1)^(ja + jb + J + T), the sign of V_JT(ba;cd) against V_JT(ab;cd).
  double exchange_sign(int a, int b, int j, int t) const noexcept;
  /// Sum over J of element(a, b, c, d, J) times the coupling coefficients.
  void set_like(Nucleon kind, const CoupledElement& at, double value);
  void set_unlike(const CoupledElement& at, double value);
  template <class Element>
  double coupled_sum(const ShellState& i, const ShellState& j, const ShellState& k, const ShellState& l,
                     const Element& element) const noexcept;

  std::vector<ShellOrbit> orbits_;
  std::optional<int> max_pair_weight_;
  PairTable sorted_;   ///< of elements_
  PairTable ordered_;  ///< of like_ and unlike_
  std::shared_ptr<const ClebschGordanTable> couplings_;
  int largest_j_ = 0;             ///< of two particles
  std::vector<double> elements_;  ///< V_JT(ab;cd) for a <= b and c <= d: all of T = 0, then all of T = 1
  /// Of nucleons that are told apart, for any a, b, c, d, NaN where none is given; else empty.
  std::vector<double> like_[2], unlike_;
};

template <class Visit>
void ShellInteraction::for_each_element(const Visit& visit) const {
  const int orbits = static_cast<int>(orbits_.size());
  for (int a = 0; a < orbits; ++a)
    for (int b = a; b < orbits; ++b) {
      if (!has_pair(a, b)) continue;
      for (int c = a; c < orbits; ++c)
        for (int d = c == a ? b : c; d < orbits; ++d) {
          if (!has_pair(c, d)) continue;
          for (int j = 0; j <= largest_j(); ++j)
            for (int t = 0; t < 2; ++t)
              if (allowed(a, b, c, d, j, t)) visit(a, b, c, d, j, t);
        }
    }
}

/// The sd shell (0d5/2, 1s1/2, 0d3/2) and the pf shell (0f7/2, 1p3/2, 0f5/2, 1p1/2).
std::vector<ShellOrbit> sd_shell_orbits();
std::vector<ShellOrbit> pf_shell_orbits();

/// The two-body random ensemble: V_JT(ab;cd) uniform in [-1, 1], times sqrt(2) where ab = cd; a function of
/// the seed and the orbits' numbers. No energies. Source: J. B. French, S. S. M. Wong, Phys. Lett. B 33, 449
/// (1970).
ShellInteraction random_interaction(std::vector<ShellOrbit> orbits, std::uint64_t seed,
                                    std::optional<int> max_pair_weight = {});

/// -G P+ . P with the isovector pairs P+ = sum of c+ c+ over time-reversed states, J = 0 and T = 1, in
/// degenerate orbits: V_01(aa;cc) = -G sqrt((ja + 1/2)(jc + 1/2)).
ShellInteraction pairing_interaction(std::vector<ShellOrbit> orbits, double strength = 1);

/// Pairing as above, minus chi times the two-body part of Q . Q, Q = the spherical harmonics of order two
/// with radial integrals of one; and the energies -xi l.s.
ShellInteraction pairing_quadrupole_interaction(std::vector<ShellOrbit> orbits, double pairing = 0.5,
                                                double chi = 1, double spin_orbit = 1);

/// The reduced element <j || Y2 || j'> (Edmonds' convention: <jm|Y2q|j'm'> = (-1)^(j-m) (3j symbol)
/// <j||Y2||j'>).
double reduced_quadrupole(const ShellOrbit& a, const ShellOrbit& b) noexcept;

/// Reads the orbits (`.sps`, "iso") and the interaction (`.int`) in the format of OXBASH and BIGSTICK.
/// Elements that are not in the file are zero. The last line must end with a newline, so that a file that was
/// cut within its last number is noticed.
/// @throws InputError that names the file and the line
std::vector<ShellOrbit> read_shell_orbits(const std::string& path);
ShellInteraction read_shell_interaction(const std::string& path, std::vector<ShellOrbit> orbits);
/// Reads orbits and interaction (`.snt`) in the format of KSHELL: the same orbits of protons and neutrons, energies,
/// elements of two protons, two neutrons and a proton and a neutron, and perhaps a mass dependence. An orbit's
/// weight is 2 n + l.
/// @throws InputError that names the file and the line, also for one-body elements between different orbits
ShellInteraction read_kshell_interaction(const std::string& path);

/// The same of a file's text, if it is there; then the path is a name only.
using FileText = std::optional<std::string>;
std::vector<ShellOrbit> shell_orbits_of(const std::string& path, const FileText& text);
ShellInteraction shell_interaction_of(const std::string& path, const FileText& text,
                                      std::vector<ShellOrbit> orbits);
ShellInteraction kshell_interaction_of(const std::string& path, const FileText& text);

}  // namespace tessera::detail
