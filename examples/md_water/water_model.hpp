// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <tessera/tessera.hpp>

/// A self-consistent-charge tight-binding model of water in a periodic cube, in atomic units (hartree, bohr). It
/// is no parametrisation of real water: it has water's shape, a gap, charges, and exact forces.
///
/// Basis: s and p functions on O, an s function on H, Gaussians of unit norm; their overlaps S, times a smooth
/// cutoff.
///
///   H0_ij = K/2 (e_i + e_j) S_ij (atoms that differ),  e_i delta_ij (one atom)   [Wolfsberg, Helmholz 1952]
///   E = trace(P H0) + 1/2 sum_AB dq_A gamma_AB dq_B + sum_{A<B} a_AB exp(-b_AB r) cutoff(r)
///   dq_A = sum_{i on A} (P S)_ii - Z_A,   V_A = sum_B gamma_AB dq_B
///   H_ij = dE/dP_ij = H0_ij + 1/2 S_ij (V_A + V_B)   [Elstner et al., Phys. Rev. B 58 (1998) 7260]
///   gamma_AB = (r^2 + (1/U_A + 1/U_B)^2 / 4)^{-1/2} exp(-r^2 / l^2) cutoff(r)   [Klopman, Ohno; damped]
namespace water {

using tessera::Index;
using Matrix = tessera::BlockSparseMatrix<double>;
using Vector = std::array<double, 3>;

/// A basis function: l = 0 or 1, and of p functions the axis.
struct Orbital {
  int l, axis;
  double exponent, energy;
};
/// The functions of a molecule: O s, O p, and an s function of each H; a block of a matrix is of two molecules.
inline constexpr Index functions = 6;
inline constexpr std::array<Orbital, functions> orbitals{{{0, 0, 1.00, -0.88},
                                                          {1, 0, 0.75, -0.40},
                                                          {1, 1, 0.75, -0.40},
                                                          {1, 2, 0.75, -0.40},
                                                          {0, 0, 0.55, -0.30},
                                                          {0, 0, 0.55, -0.30}}};
inline constexpr std::array<int, functions> atom_of{0, 0, 0, 0, 1, 2};  ///< of the molecule: O, H, H
inline constexpr double wolfsberg_helmholz = 1.75;
inline constexpr double damping_length = 6;  ///< l
/// By species, 0: O, 1: H.
inline constexpr std::array<double, 2> hubbard{0.50, 0.42}, core_charge{6, 1},
    mass{15.999 * 1822.888, 1.008 * 1822.888};
struct Repulsion {
  double a, b;
};
/// O-O, O-H, H-H
inline constexpr std::array<Repulsion, 3> repulsions{{{60, 1.9}, {1.282, 2.6}, {2.5, 2.0}}};
/// Of a single molecule's least energy.
inline constexpr double bond_length = 1.784, bond_angle = 1.938;

inline int species(Index atom) {
  return atom % 3 == 0 ? 0 : 1;
}

/// A function of a distance, and its derivative.
struct Radial {
  double value = 0, derivative = 0;
};
inline Radial operator*(Radial a, Radial b) {
  return {a.value * b.value, a.derivative * b.value + a.value * b.derivative};
}

/// 1 below 0.7 radius, 0 from the radius on, twice continuously differentiable.
inline Radial cutoff(double r, double radius) {
  const double begin = 0.7 * radius, x = (r - begin) / (radius - begin);
  if (x <= 0) return {1, 0};
  if (x >= 1) return {0, 0};
  return {1 - x * x * x * (10 - x * (15 - 6 * x)), -30 * x * x * (1 - x) * (1 - x) / (radius - begin)};
}

/// <a|b> of Gaussians, b at d from a, without cutoff; with `gradient` also its derivative by d. Of s functions
/// it is g = (2 sqrt(ab) / (a + b))^{3/2} exp(-ab / (a + b) d^2); p functions are derivatives of s functions by
/// their centres.
inline double gaussian_overlap(const Orbital& a, const Orbital& b, const Vector& d, Vector& gradient) {
  const double p = a.exponent, q = b.exponent, mu = p * q / (p + q);
  const double g = std::pow(2 * std::sqrt(p * q) / (p + q), 1.5) *
                   std::exp(-mu * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
  const auto same = [](int i, int j) { return i == j ? 1.0 : 0.0; };
  const auto first = [&](int i) { return -2 * mu * d[i] * g; };
  const auto second = [&](int i, int j) { return (4 * mu * mu * d[i] * d[j] - 2 * mu * same(i, j)) * g; };
  const auto third = [&](int i, int j, int k) {
    return (-8 * mu * mu * mu * d[i] * d[j] * d[k] +
            4 * mu * mu * (same(i, j) * d[k] + same(i, k) * d[j] + same(j, k) * d[i])) *
           g;
  };
  const double factor = (a.l == 1 ? -1 / std::sqrt(p) : 1) * (b.l == 1 ? 1 / std::sqrt(q) : 1);
  const int i = a.axis, j = b.axis;
  for (int k = 0; k < 3; ++k)
    gradient[k] = factor * (a.l + b.l == 0   ? first(k)
                            : a.l + b.l == 2 ? third(i, j, k)
                                             : second(a.l == 1 ? i : j, k));
  return factor * (a.l + b.l == 0 ? g : a.l + b.l == 2 ? second(i, j) : first(a.l == 1 ? i : j));
}

/// Molecules and their matrices. All ranks have the same positions and get the same numbers.
class Box {
 public:
  /// Molecules on a cubic lattice of `spacing`, each one's hydrogen atoms towards neighbours, moved at random by
  /// up to `disorder` along each axis.
  Box(tessera::Runtime& runtime, Index molecules, double spacing = 6, double disorder = 0.1)
      : runtime_(runtime), molecules_(molecules) {
    Index cells = 1;
    while (cells * cells * cells < molecules) ++cells;
    edge_ = spacing * static_cast<double>(cells);
    radius_ = std::min(10.0, edge_ / 2);
    std::mt19937 random(1);
    const auto moved = [&] { return disorder * (2 * static_cast<double>(random()) / 4294967295.0 - 1); };
    for (Index m = 0; m < molecules; ++m) {
      const Index layer = m / (cells * cells);
      const Vector at{spacing * static_cast<double>(m % cells),
                      spacing * static_cast<double>(m / cells % cells), spacing * static_cast<double>(layer)};
      const double sign = layer % 2 == 0 ? 1 : -1;
      const Vector bonds[] = {
          {0, 0, 0},
          {sign * bond_length, 0, 0},
          {sign * bond_length * std::cos(bond_angle), sign * bond_length * std::sin(bond_angle), 0}};
      for (const Vector& bond : bonds)
        positions.push_back(
            {at[0] + bond[0] + moved(), at[1] + bond[1] + moved(), at[2] + bond[2] + moved()});
    }
    update();
  }

  std::vector<Vector> positions;  ///< O, H, H of each molecule; after a change: update()

  Index molecules() const noexcept { return molecules_; }
  Index atoms() const noexcept { return 3 * molecules_; }
  /// Of the periodic cube.
  double edge() const noexcept { return edge_; }
  double electrons() const noexcept { return 8.0 * static_cast<double>(molecules_); }
  /// Of the positions at the last update.
  const Matrix& overlap() const noexcept { return overlap_; }
  const Matrix& core_hamiltonian() const noexcept { return core_; }

  /// Makes the matrices. Collective.
  void update() {
    make_matrices();
    make_pairs();
  }

  /// E and H of a density matrix: what tessera::scf asks for. Collective.
  tessera::ScfFields<double> fields(const Matrix& p) const {
    double band = 0;
    std::vector<double> dq = charges(p, &band);
    const std::vector<double> v = potentials(dq);
    double energy = band + repulsion_;
    for (Index a = 0; a < atoms(); ++a) energy += 0.5 * at(dq, a) * at(v, a);
    tessera::BlockSparseBuilder<double> builder(runtime_, overlap_.layout());
    for (const Block& block : blocks_) {
      Elements h = block.core;
      for (Index c = 0; c < functions; ++c)
        for (Index r = 0; r < functions; ++r)
          h[place(r, c)] +=
              0.5 * block.overlap[place(r, c)] * (at(v, atom(block.row, r)) + at(v, atom(block.col, c)));
      builder.put(block.row, block.col, {h.data(), functions, functions, functions});
    }
    tessera::ScfFields<double> result;
    result.energy = energy;
    result.hamiltonians.push_back(builder.finalize());
    return result;
  }

  /// Mulliken's charges, in electrons beyond the neutral atom. Collective.
  std::vector<double> charges(const Matrix& p) const { return charges(p, nullptr); }

  /// -dE/dR, from self-consistent P and W = P H P / 2. Collective.
  std::vector<Vector> forces(const Matrix& p, const Matrix& w) const {
    const std::vector<double> dq = charges(p, nullptr), v = potentials(dq);
    std::vector<double> f(static_cast<std::size_t>(3 * atoms()), 0.0);
    for (const Block& block : blocks_) add_band_forces(block, p, w, v, f);
    runtime_.all_reduce_sum(f.data(), static_cast<Index>(f.size()));
    for (const Pair& pair : pairs_) {
      const double slope =
          at(dq, pair.a) * at(dq, pair.b) * pair.gamma.derivative + pair.repulsion.derivative;
      for (int k = 0; k < 3; ++k) add_pair(f, pair.a, pair.b, k, slope * pair.d[k] / pair.r);
    }
    std::vector<Vector> result;
    for (std::size_t a = 0; a < positions.size(); ++a)
      result.push_back({f[3 * a], f[3 * a + 1], f[3 * a + 2]});
    return result;
  }

 private:
  using Elements = std::array<double, functions * functions>;
  struct Block {
    Index row, col;
    Elements overlap, core;
  };
  struct Pair {
    Index a, b;
    Vector d;  ///< from a to b
    double r;
    Radial gamma, repulsion;
  };
  static std::size_t place(Index r, Index c) { return static_cast<std::size_t>(r + c * functions); }
  static Index atom(Index molecule, Index function) {
    return 3 * molecule + atom_of[static_cast<std::size_t>(function)];
  }
  static double at(const std::vector<double>& of, Index k) { return of[static_cast<std::size_t>(k)]; }

  /// From atom a to the nearest image of atom b.
  Vector between(Index a, Index b) const {
    Vector d;
    for (int k = 0; k < 3; ++k) {
      d[k] = positions[static_cast<std::size_t>(b)][k] - positions[static_cast<std::size_t>(a)][k];
      d[k] -= edge_ * std::round(d[k] / edge_);
    }
    return d;
  }
  static double length(const Vector& d) { return std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]); }

  /// S_ij of two functions of different atoms at d, and its derivative by d.
  double overlap_of(const Orbital& i, const Orbital& j, const Vector& d, Vector& gradient) const {
    const double r = length(d);
    const Radial smooth = cutoff(r, radius_);
    if (smooth.value == 0) {
      gradient = {0, 0, 0};
      return 0;
    }
    const double s = gaussian_overlap(i, j, d, gradient);
    for (int k = 0; k < 3; ++k) gradient[k] = smooth.value * gradient[k] + smooth.derivative * s * d[k] / r;
    return smooth.value * s;
  }
  static double mean_energy(Index r, Index c) {
    return wolfsberg_helmholz / 2 *
           (orbitals[static_cast<std::size_t>(r)].energy + orbitals[static_cast<std::size_t>(c)].energy);
  }

  /// The block of two molecules; false if all of it is zero.
  bool fill(Block& block) const {
    bool any = false;
    for (Index c = 0; c < functions; ++c)
      for (Index r = 0; r < functions; ++r) {
        const Orbital &i = orbitals[static_cast<std::size_t>(r)], &j = orbitals[static_cast<std::size_t>(c)];
        const Index a = atom(block.row, r), b = atom(block.col, c);
        double s = r == c ? 1 : 0, h = r == c ? i.energy : 0;
        if (a != b) {
          Vector gradient;
          s = overlap_of(i, j, between(a, b), gradient);
          h = mean_energy(r, c) * s;
        }
        block.overlap[place(r, c)] = s;
        block.core[place(r, c)] = h;
        any = any || s != 0;
      }
    return any;
  }

  void make_matrices() {
    const std::vector<Index> sizes(static_cast<std::size_t>(molecules_), functions);
    const auto layout = tessera::make_block_layout(runtime_, sizes, sizes, tessera::Symmetry::symmetric);
    tessera::BlockSparseBuilder<double> of_overlap(runtime_, layout), of_core(runtime_, layout);
    blocks_.clear();
    for (Index c = 0; c < molecules_; ++c)
      for (Index r = c; r < molecules_; ++r) {
        Block block{.row = r, .col = c, .overlap = {}, .core = {}};
        if (of_overlap.owner(r, c) != runtime_.rank() || !fill(block)) continue;
        of_overlap.put(r, c, {block.overlap.data(), functions, functions, functions});
        of_core.put(r, c, {block.core.data(), functions, functions, functions});
        blocks_.push_back(block);
      }
    overlap_ = of_overlap.finalize();
    core_ = of_core.finalize();
  }

  void make_pairs() {
    pairs_.clear();
    repulsion_ = 0;
    for (Index a = 0; a < atoms(); ++a)
      for (Index b = a + 1; b < atoms(); ++b) {
        const Vector d = between(a, b);
        const double r = length(d);
        if (r >= radius_) continue;
        const Radial smooth = cutoff(r, radius_);
        const double width = 0.5 * (1 / hubbard[species(a)] + 1 / hubbard[species(b)]),
                     coulomb = 1 / std::sqrt(r * r + width * width),
                     damping = std::exp(-r * r / (damping_length * damping_length));
        const Repulsion law = repulsions[static_cast<std::size_t>(species(a) + species(b))];
        const double core = law.a * std::exp(-law.b * r);
        pairs_.push_back({a, b, d, r,
                          Radial{coulomb, -r * coulomb * coulomb * coulomb} *
                              Radial{damping, -2 * r / (damping_length * damping_length) * damping} * smooth,
                          Radial{core, -law.b * core} * smooth});
        repulsion_ += pairs_.back().repulsion.value;
      }
  }

  /// @param band  becomes trace(P H0), unless it is null
  std::vector<double> charges(const Matrix& p, double* band) const {
    std::vector<double> sums(static_cast<std::size_t>(atoms() + 1), 0.0);
    for (const Block& block : blocks_) {
      const auto values = p.get_block(block.row, block.col);
      if (!values) continue;
      for (Index c = 0; c < functions; ++c)
        for (Index r = 0; r < functions; ++r) {
          const double x = (*values)[place(r, c)], q = x * block.overlap[place(r, c)];
          sums[static_cast<std::size_t>(atom(block.row, r))] += q;
          if (block.row != block.col) sums[static_cast<std::size_t>(atom(block.col, c))] += q;
          sums.back() += (block.row == block.col ? 1 : 2) * x * block.core[place(r, c)];
        }
    }
    runtime_.all_reduce_sum(sums.data(), static_cast<Index>(sums.size()));
    if (band) *band = sums.back();
    sums.pop_back();
    for (Index a = 0; a < atoms(); ++a) sums[static_cast<std::size_t>(a)] -= core_charge[species(a)];
    return sums;
  }

  std::vector<double> potentials(const std::vector<double>& dq) const {
    std::vector<double> v(dq.size());
    for (Index a = 0; a < atoms(); ++a) v[static_cast<std::size_t>(a)] = hubbard[species(a)] * at(dq, a);
    for (const Pair& pair : pairs_) {
      v[static_cast<std::size_t>(pair.a)] += pair.gamma.value * at(dq, pair.b);
      v[static_cast<std::size_t>(pair.b)] += pair.gamma.value * at(dq, pair.a);
    }
    return v;
  }

  /// The energy rises by `slope` along axis k for b, and falls by it for a.
  static void add_pair(std::vector<double>& f, Index a, Index b, int k, double slope) {
    f[static_cast<std::size_t>(3 * a + k)] += slope;
    f[static_cast<std::size_t>(3 * b + k)] -= slope;
  }

  /// -sum_ij (P_ij (K/2 (e_i + e_j) + (V_A + V_B) / 2) - W_ij) dS_ij/dR
  void add_band_forces(const Block& block, const Matrix& p, const Matrix& w, const std::vector<double>& v,
                       std::vector<double>& f) const {
    const auto of_p = p.get_block(block.row, block.col), of_w = w.get_block(block.row, block.col);
    const double times = block.row == block.col ? 1 : 2;
    for (Index c = 0; c < functions; ++c)
      for (Index r = 0; r < functions; ++r) {
        const Index a = atom(block.row, r), b = atom(block.col, c);
        if (a == b) continue;
        Vector gradient;
        (void)overlap_of(orbitals[static_cast<std::size_t>(r)], orbitals[static_cast<std::size_t>(c)],
                         between(a, b), gradient);
        const double density = of_p ? (*of_p)[place(r, c)] : 0, weighted = of_w ? (*of_w)[place(r, c)] : 0;
        const double factor =
            times * (density * (mean_energy(r, c) + 0.5 * (at(v, a) + at(v, b))) - weighted);
        for (int k = 0; k < 3; ++k) add_pair(f, a, b, k, factor * gradient[static_cast<std::size_t>(k)]);
      }
  }

  tessera::Runtime& runtime_;
  const Index molecules_;
  double edge_ = 0, radius_ = 0, repulsion_ = 0;
  std::vector<Block> blocks_;  ///< of this rank
  std::vector<Pair> pairs_;    ///< of all ranks
  Matrix overlap_, core_;
};

}  // namespace water
