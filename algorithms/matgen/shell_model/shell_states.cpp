// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/shell_model/shell_model.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/shell_model.hpp>

namespace tessera {
using namespace detail;

namespace {

/// What J_+ (or J_-) makes of each determinant of one kind: another one, with a positive factor, because it moves
/// a nucleon to the next state.
class Ladder {
 public:
  struct Step {
    std::uint32_t to;
    double factor;
  };
  Ladder(const ShellNucleons& nucleons, const std::vector<ShellOrbit>& orbits, bool up) {
    const std::vector<ShellState>& states = nucleons.states();
    begins_.push_back(0);
    for (std::uint32_t k = 0; k < nucleons.determinants(); ++k) {
      const Determinant& mask = nucleons.mask(k);
      for (const int from : nucleons.occupied(k)) {
        const int to = up ? from + 1 : from - 1;
        if (to < 0 || to == static_cast<int>(states.size()) || states[from].orbit != states[to].orbit ||
            mask.has(to))
          continue;
        Determinant reached = mask;
        reached.flip(from);
        reached.flip(to);
        const double j = orbits[static_cast<std::size_t>(states[from].orbit)].twice_j / 2.,
                     m = std::min(states[from].twice_m, states[to].twice_m) / 2.;
        steps_.push_back({nucleons.number_of(reached), std::sqrt(j * (j + 1) - m * (m + 1))});
      }
      begins_.push_back(steps_.size());
    }
  }
  std::span<const Step> of(std::uint32_t determinant) const noexcept {
    return {steps_.data() + begins_[determinant], steps_.data() + begins_[determinant + 1]};
  }

 private:
  std::vector<std::size_t> begins_;
  std::vector<Step> steps_;
};

/// <x|J_- J_+|x> and <x|T_- T_+|x> of `count` vectors, by rows, where T_+ makes a proton a neutron.
class Squares {
 public:
  Squares(const ShellModelRows& rows, const double* x, Index count)
      : rows_(rows),
        x_(x),
        count_(count),
        proton_up_(rows.protons(), rows.orbits(), true),
        proton_down_(rows.protons(), rows.orbits(), false),
        neutron_up_(rows.neutrons(), rows.orbits(), true),
        neutron_down_(rows.neutrons(), rows.orbits(), false) {}

  /// Adds the part of one row; sums: count numbers each.
  void add(Index row, std::uint32_t proton, std::uint32_t neutron, double* j_sums, double* t_sums) const {
    const auto add_to = [&](double* sums, Index column, double value) {
      for (Index k = 0; k < count_; ++k) sums[k] += value * x_[row * count_ + k] * x_[column * count_ + k];
    };
    for (const Ladder::Step& up : proton_up_.of(proton)) {
      for (const Ladder::Step& down : proton_down_.of(up.to))
        add_to(j_sums, rows_.row_of(down.to, neutron), up.factor * down.factor);
      // Protons up and neutrons down, and the adjoint.
      for (const Ladder::Step& down : neutron_down_.of(neutron))
        add_to(j_sums, rows_.row_of(up.to, down.to), 2 * up.factor * down.factor);
    }
    for (const Ladder::Step& up : neutron_up_.of(neutron))
      for (const Ladder::Step& down : neutron_down_.of(up.to))
        add_to(j_sums, rows_.row_of(proton, down.to), up.factor * down.factor);
    const Determinant &p = rows_.protons().mask(proton), &n = rows_.neutrons().mask(neutron);
    const Determinant protons_alone = p.without(n), neutrons_alone = n.without(p);
    add_to(t_sums, row, protons_alone.count());
    // c+_pa c_na c+_nb c_pb = - (c+_pa c_pb) (c+_nb c_na).
    protons_alone.for_each([&](int b) {
      neutrons_alone.for_each([&](int a) {
        Determinant protons = p, neutrons = n;
        const int sign = -move_nucleon(protons, a, b) * move_nucleon(neutrons, b, a);
        add_to(t_sums, rows_.row_of(rows_.protons().number_of(protons), rows_.neutrons().number_of(neutrons)),
               sign);
      });
    });
  }

 private:
  const ShellModelRows& rows_;
  const double* x_;
  Index count_;
  Ladder proton_up_, proton_down_, neutron_up_, neutron_down_;
};

/// Rows of one group with the proton determinants [first, end) of its class.
struct Part {
  std::size_t group;
  std::uint32_t first, end;
};
std::vector<Part> parts_of(const ShellModelRows& rows, const std::vector<ShellModelRows::Group>& groups) {
  constexpr Index rows_at_once = 2048;
  std::vector<Part> parts;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::uint32_t protons = rows.protons().at(groups[g].proton_class).count,
                        neutrons = rows.neutrons().at(groups[g].neutron_class).count;
    const auto at_once = static_cast<std::uint32_t>(std::max<Index>(1, rows_at_once / neutrons));
    for (std::uint32_t first = 0; first < protons; first += at_once)
      parts.push_back({g, first, std::min(first + at_once, protons)});
  }
  return parts;
}

/// The number q with q (q + 1) = square.
double of_square(double square) noexcept {
  return (std::sqrt(std::max(0., 1 + 4 * square)) - 1) / 2;
}

std::string name_of(const ShellOrbit& orbit) {
  constexpr std::string_view letters = "spdfghiklmnoqrtuvwxyz";
  const auto l = static_cast<std::size_t>(orbit.l);
  return l < letters.size() ? fmt::format("{}{}{}/2", orbit.n, letters[l], orbit.twice_j)
                            : fmt::format("{}[l={}]{}/2", orbit.n, orbit.l, orbit.twice_j);
}

/// The numbers of each part: the squared length of each vector, what Squares adds, and the squared lengths of those
/// rows that have a proton (neutron) in an orbit, times their number.
class PartSums {
 public:
  PartSums(std::size_t parts, std::size_t vectors, std::size_t orbits)
      : vectors_(vectors), size_((3 + 2 * orbits) * vectors), orbits_(orbits), sums_(parts * size_, 0.0) {}
  double* lengths(std::size_t part) noexcept { return sums_.data() + part * size_; }
  double* j_squares(std::size_t part) noexcept { return lengths(part) + vectors_; }
  double* t_squares(std::size_t part) noexcept { return lengths(part) + 2 * vectors_; }
  double* protons(std::size_t part, std::size_t orbit) noexcept {
    return lengths(part) + (3 + orbit) * vectors_;
  }
  double* neutrons(std::size_t part, std::size_t orbit) noexcept { return protons(part, orbits_ + orbit); }
  std::vector<double>& all() noexcept { return sums_; }

 private:
  std::size_t vectors_, size_, orbits_;
  std::vector<double> sums_;
};

/// Adds the rows of one part.
void add_part(PartSums& sums, std::size_t number, const Part& part, const ShellModelRows::Group& group,
              const ShellModelRows& rows, const Squares& squares, const double* x, Index count) {
  const ShellNucleons::Class &protons = rows.protons().at(group.proton_class),
                             &neutrons = rows.neutrons().at(group.neutron_class);
  const auto vectors = static_cast<std::size_t>(count);
  std::vector<double> of_proton(vectors), of_neutrons(neutrons.count * vectors, 0.0);
  const auto add_orbits = [&](const ShellNucleons& nucleons, std::uint32_t determinant, const double* lengths,
                              bool proton) {
    for (const int s : nucleons.occupied(determinant)) {
      const auto orbit = static_cast<std::size_t>(nucleons.states()[static_cast<std::size_t>(s)].orbit);
      double* const to = proton ? sums.protons(number, orbit) : sums.neutrons(number, orbit);
      for (std::size_t k = 0; k < vectors; ++k) to[k] += lengths[k];
    }
  };
  double* const lengths = sums.lengths(number);
  for (std::uint32_t p = part.first; p < part.end; ++p) {
    std::fill(of_proton.begin(), of_proton.end(), 0.0);
    for (std::uint32_t n = 0; n < neutrons.count; ++n) {
      const Index row = group.begin + static_cast<Index>(p) * neutrons.count + n;
      for (std::size_t k = 0; k < vectors; ++k) {
        const double value = x[static_cast<std::size_t>(row) * vectors + k], square = value * value;
        lengths[k] += square;
        of_proton[k] += square;
        of_neutrons[n * vectors + k] += square;
      }
      squares.add(row, protons.begin + p, neutrons.begin + n, sums.j_squares(number), sums.t_squares(number));
    }
    add_orbits(rows.protons(), protons.begin + p, of_proton.data(), true);
  }
  for (std::uint32_t n = 0; n < neutrons.count; ++n)
    add_orbits(rows.neutrons(), neutrons.begin + n, &of_neutrons[n * vectors], false);
}

PartSums sums_of_parts(const Runtime& runtime, const ShellModelRows& rows,
                       const std::vector<ShellModelRows::Group>& groups, const std::vector<Part>& parts,
                       const double* x, Index count) {
  PartSums sums(parts.size(), static_cast<std::size_t>(count), rows.orbits().size());
  const Squares squares(rows, x, count);
  const auto all = static_cast<Index>(parts.size()), ranks = static_cast<Index>(runtime.size());
  parallel_for(host_threads(runtime), (all - runtime.rank() + ranks - 1) / ranks, [&](Index i, int) {
    const auto number = static_cast<std::size_t>(runtime.rank() + i * ranks);
    add_part(sums, number, parts[number], groups[parts[number].group], rows, squares, x, count);
  });
  runtime.all_reduce_sum(sums.all().data(), static_cast<Index>(sums.all().size()));
  return sums;
}

ShellModelStates states_of(const Runtime& runtime, const ShellModelRows& rows, const double* x, Index count) {
  const std::vector<ShellModelRows::Group> groups = rows.groups();
  const std::vector<Part> parts = parts_of(rows, groups);
  PartSums sums = sums_of_parts(runtime, rows, groups, parts, x, count);
  const std::size_t orbits = rows.orbits().size();
  ShellModelStates result;
  for (const ShellOrbit& orbit : rows.orbits()) result.orbits.push_back(name_of(orbit));
  const double m = rows.space().twice_m / 2., t = (rows.space().neutrons - rows.space().protons) / 2.;
  for (Index k = 0; k < count; ++k) {
    ShellModelState state;
    state.protons.assign(orbits, 0.0);
    state.neutrons.assign(orbits, 0.0);
    double length = 0, odd = 0, j_square = 0, t_square = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const ShellModelRows::Group& group = groups[parts[i].group];
      const int p = rows.protons().at(group.proton_class).configuration,
                n = rows.neutrons().at(group.neutron_class).configuration;
      length += sums.lengths(i)[k];
      j_square += sums.j_squares(i)[k];
      t_square += sums.t_squares(i)[k];
      if (rows.protons().odd_parity(p) != rows.neutrons().odd_parity(n)) odd += sums.lengths(i)[k];
      for (std::size_t a = 0; a < orbits; ++a) {
        state.protons[a] += sums.protons(i, a)[k];
        state.neutrons[a] += sums.neutrons(i, a)[k];
      }
    }
    state.j = of_square(m * (m + 1) + j_square / length);
    state.t = of_square(t * (t + 1) + t_square / length);
    constexpr double mixed = 1e-3;
    state.parity = odd <= mixed * length ? 1 : odd >= (1 - mixed) * length ? -1 : 0;
    for (std::vector<double>* of_kind : {&state.protons, &state.neutrons})
      for (double& number : *of_kind) number /= length;
    result.states.push_back(std::move(state));
  }
  return result;
}

}  // namespace

bool is_shell_model(const SparseGenerator& generator) noexcept {
  return dynamic_cast<const ShellModelRows*>(generator.a.get()) != nullptr;
}

template <class T>
ShellModelStates shell_model_states(Runtime& runtime, const SparseGenerator& generator,
                                    const BlockVectors<T>& vectors, Index count) {
  const auto* const rows = dynamic_cast<const ShellModelRows*>(generator.a.get());
  const auto check = [&] {
    if (rows == nullptr)
      throw InvalidArgument("generator", "a matrix of another kind", "a matrix of the kind 'shell'");
    if (count < 0 || count > vectors.width())
      throw InvalidArgument("count", fmt::format("{}", count), fmt::format("0 to {}", vectors.width()));
    if (vectors.rows() != rows->order())
      throw InvalidArgument("vectors", fmt::format("{} rows", vectors.rows()),
                            fmt::format("{} rows", rows->order()));
  };
  const std::uint64_t arguments = argument_hash(sizeof(T), count, vectors.width(), vectors.rows());
  return collectively(runtime, "shell_model_states", arguments, check, [&] {
    std::vector<T> given(static_cast<std::size_t>(vectors.rows() * count));
    vectors.get(given.data(), count, count);
    if constexpr (std::is_same_v<T, double>) {
      return states_of(runtime, *rows, given.data(), count);
    } else {
      const std::vector<double> x(given.begin(), given.end());
      return states_of(runtime, *rows, x.data(), count);
    }
  });
}

template ShellModelStates shell_model_states(Runtime&, const SparseGenerator&, const BlockVectors<float>&,
                                             Index);
template ShellModelStates shell_model_states(Runtime&, const SparseGenerator&, const BlockVectors<double>&,
                                             Index);

}  // namespace tessera
