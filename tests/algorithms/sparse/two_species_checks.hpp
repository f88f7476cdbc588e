// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tests/algorithms/sparse/csb_checks.hpp>

#include <tessera/two_species_operator.hpp>

namespace tessera::test {

/// Small integers from -`most` to `most`.
class SmallIntegers {
 public:
  explicit SmallIntegers(std::uint64_t seed) : seed_(seed) {}
  int next(int most) {
    return static_cast<int>(
               std::floor((random_uniform(seed_, 3, count_++, 0) + 1) / 2 * (2 * most + 1) * 0.999999)) -
           most;
  }
  bool chance(double p) { return (random_uniform(seed_, 4, count_++, 0) + 1) / 2 < p; }

 private:
  std::uint64_t seed_;
  Index count_ = 0;
};

/// A species with random elements and moves; a transfer c leads from sector s to sector s + c (in a circle).
inline Species random_species(const std::vector<Index>& sizes, int transfers, int operators, double filled,
                              SmallIntegers& random) {
  Species species;
  species.sectors.push_back(0);
  for (const Index size : sizes) species.sectors.push_back(species.sectors.back() + size);
  const auto sectors = static_cast<Index>(sizes.size()), states = species.sectors.back();
  for (Index i = 0; i < states; ++i)
    for (Index j = 0; j < states; ++j)
      if (random.chance(filled))
        species.elements.push_back({std::uint32_t(i), std::uint32_t(j), double(random.next(3))});
  for (Index s = 0; s < sectors; ++s)
    for (int c = 0; c < transfers; ++c)
      for (int a = 0; a < operators; ++a)
        for (Index k = species.sectors[s]; k < species.sectors[s + 1]; ++k) {
          const Index to = (s + c) % sectors, size = sizes[std::size_t(to)];
          if (size == 0 || !random.chance(0.6)) continue;
          const Index state = species.sectors[to] + (std::abs(random.next(1000)) % size);
          species.moves.push_back({std::uint32_t(state), std::uint32_t(k), std::uint16_t(c), std::uint16_t(a),
                                   std::int16_t(random.chance(0.5) ? 1 : -1)});
        }
  return species;
}

/// Random, not symmetric: what is applied is what the definition says.
inline TwoSpeciesStructure random_structure(const std::vector<Index>& first, const std::vector<Index>& second,
                                            std::uint64_t seed, double filled = 0.3, double pairs = 0.7) {
  SmallIntegers random(seed);
  TwoSpeciesStructure structure;
  structure.first = random_species(first, 3, 4, filled, random);
  structure.second = random_species(second, 2, 5, filled, random);
  for (Index p = 0; p < static_cast<Index>(first.size()); ++p)
    for (Index n = 0; n < static_cast<Index>(second.size()); ++n)
      if (random.chance(pairs)) structure.pairs.push_back({p, n});
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 2; ++d) {
      if (c == 1 && d == 0) continue;
      SpeciesCoupling coupling{std::uint16_t(c), std::uint16_t(d), 4, 5, {}};
      for (int k = 0; k < 20; ++k) coupling.strengths.push_back(random.next(4));
      structure.couplings.push_back(std::move(coupling));
    }
  return structure;
}

/// H by its definition, dense and row-major.
inline std::vector<double> dense(const TwoSpeciesStructure& structure) {
  const Index n = structure.order();
  std::vector<double> h(static_cast<std::size_t>(n * n));
  const auto sector_of = [](const Species& species, Index state) {
    return std::upper_bound(species.sectors.begin(), species.sectors.end(), state) - species.sectors.begin() -
           1;
  };
  // Row of two states; -1 where they are in no pair.
  const auto row_of = [&](Index p, Index q) {
    const Index sp = sector_of(structure.first, p), sq = sector_of(structure.second, q);
    Index begin = 0;
    for (const SectorPair& pair : structure.pairs) {
      const auto& first = structure.first.sectors;
      const auto& second = structure.second.sectors;
      const Index lines = first[pair.first_sector + 1] - first[pair.first_sector],
                  rows = second[pair.second_sector + 1] - second[pair.second_sector];
      if (pair.first_sector == sp && pair.second_sector == sq)
        return begin + (p - first[sp]) * rows + q - second[sq];
      begin += lines * rows;
    }
    return Index(-1);
  };
  const auto add = [&](Index p, Index q, Index from_p, Index from_q, double value) {
    const Index row = row_of(p, q), column = row_of(from_p, from_q);
    if (row >= 0 && column >= 0) h[static_cast<std::size_t>(row * n + column)] += value;
  };
  for (const SpeciesElement& e : structure.first.elements)
    for (Index q = 0; q < structure.second.sectors.back(); ++q) add(e.row, q, e.column, q, e.value);
  for (const SpeciesElement& e : structure.second.elements)
    for (Index p = 0; p < structure.first.sectors.back(); ++p) add(p, e.row, p, e.column, e.value);
  for (const SpeciesCoupling& coupling : structure.couplings)
    for (const SpeciesMove& a : structure.first.moves)
      for (const SpeciesMove& b : structure.second.moves)
        if (a.transfer == coupling.first_transfer && b.transfer == coupling.second_transfer)
          add(a.to, b.to, a.from, b.from,
              a.sign * b.sign * coupling.strengths[a.number * std::size_t(coupling.second_count) + b.number]);
  return h;
}

/// Products to the bit (integers), the diagonal, and the bound of the norm.
template <class T>
void check_two_species(Runtime& runtime, const TwoSpeciesStructure& structure,
                       const TwoSpeciesOptions& options, const std::vector<Index>& columns = {1, 2, 5, 8}) {
  const auto a = TwoSpeciesOperator<T>::build(runtime, structure, options);
  const std::vector<double> h = dense(structure);
  const Index n = structure.order();
  ASSERT_EQ(a.order(), n);
  double largest = 0;
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) sum += std::abs(h[static_cast<std::size_t>(i * n + j)]);
    largest = std::max(largest, sum);
    EXPECT_EQ(a.diagonal()[static_cast<std::size_t>(i)], h[static_cast<std::size_t>(i * n + i)]);
  }
  EXPECT_GE(a.norm_bound(), largest);
  for (const Index m : columns)
    for (const Index wider : {0, 1, 9}) {
      const std::vector<double> x = whole_block(n, m, 5);
      const std::vector<T> y = product<T>(runtime, a, x, m, wider);
      for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < m; ++k) {
          double expected = 0;
          for (Index j = 0; j < n; ++j)
            expected += h[static_cast<std::size_t>(i * n + j)] * x[static_cast<std::size_t>(j * m + k)];
          ASSERT_EQ(y[static_cast<std::size_t>(i * m + k)], T(expected))
              << i << " " << k << " " << m << " " << wider;
        }
    }
}

}  // namespace tessera::test
