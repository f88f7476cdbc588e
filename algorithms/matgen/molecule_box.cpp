// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/matgen/molecule_box.hpp>
#include <tessera/codelets/common/splitmix.hpp>

namespace tessera::detail {

namespace {

/// Bits of three coordinates interleaved: the number of a cell along the Morton curve.
std::uint64_t morton(std::array<Index, 3> cell) noexcept {
  std::uint64_t key = 0;
  for (int bit = 0; bit < 20; ++bit)
    for (std::size_t d = 0; d < 3; ++d)
      key |= static_cast<std::uint64_t>(cell[d] >> bit & 1) << (3 * bit + static_cast<int>(d));
  return key;
}

}  // namespace

MoleculeBox::MoleculeBox(Index molecules, double volume, double jitter, std::uint64_t seed) {
  while (cells_ * cells_ * cells_ < molecules) ++cells_;
  sites_.side = static_cast<double>(cells_);
  cells_per_angstrom_ = sites_.side / std::cbrt(volume * static_cast<double>(std::max<Index>(molecules, 1)));
  place(molecules, jitter, seed);
}

double MoleculeBox::cutoff_squared(double occupation) const {
  const Index count = molecules();
  if (count == 0) return 0;
  if (occupation == 1) return 3 * sites_.side * sites_.side;
  const Index samples = std::min(count, std::max<Index>(64, ceil_div(Index(1) << 22, count)));
  std::vector<double> distances;
  for (Index s = 0; s < samples; ++s) {
    const Index a = s * count / samples;
    for (Index b = 0; b < count; ++b) distances.push_back(sites_.distance_squared(a, b));
  }
  const auto rank = static_cast<std::ptrdiff_t>(occupation * static_cast<double>(distances.size())) - 1;
  if (rank < 0) return 0;
  std::nth_element(distances.begin(), distances.begin() + rank, distances.end());
  return distances[static_cast<std::size_t>(rank)];
}

void MoleculeBox::neighbours(Index molecule, double cutoff_squared, std::vector<Index>& found) const {
  found.assign(1, molecule);
  const Index reach = static_cast<Index>(std::sqrt(cutoff_squared)) + 1;
  std::array<Index, 3> first{}, count{};
  for (std::size_t d = 0; d < 3; ++d) {
    const auto cell = static_cast<Index>(sites_.position[static_cast<std::size_t>(molecule)][d]);
    count[d] = std::min(2 * reach + 1, cells_);
    first[d] = cell - reach + cells_ * (reach / cells_ + 1);  // not negative
  }
  for (Index x = 0; x < count[0]; ++x)
    for (Index y = 0; y < count[1]; ++y)
      for (Index z = 0; z < count[2]; ++z) {
        const Index other =
            occupant({(first[0] + x) % cells_, (first[1] + y) % cells_, (first[2] + z) % cells_});
        if (other >= 0 && other != molecule && sites_.distance_squared(molecule, other) <= cutoff_squared)
          found.push_back(other);
      }
  std::sort(found.begin(), found.end());
}

/// The molecules go along the curve; cells that stay empty are spread evenly.
void MoleculeBox::place(Index molecules, double jitter, std::uint64_t seed) {
  const Index total = cells_ * cells_ * cells_;
  std::vector<std::pair<std::uint64_t, std::array<Index, 3>>> curve;
  for (Index z = 0; z < cells_; ++z)
    for (Index y = 0; y < cells_; ++y)
      for (Index x = 0; x < cells_; ++x) curve.push_back({morton({x, y, z}), {x, y, z}});
  std::sort(curve.begin(), curve.end());
  occupant_.assign(static_cast<std::size_t>(total), -1);
  for (Index m = 0; m < molecules; ++m) {
    const auto& cell = curve[static_cast<std::size_t>(m * total / molecules)].second;
    occupant_[static_cast<std::size_t>(cell_number(cell))] = m;
    std::array<double, 3> position{};
    for (std::size_t d = 0; d < 3; ++d)
      position[d] = static_cast<double>(cell[d]) + (1 - jitter) / 2 +
                    jitter * unit_uniform(splitmix(seed, static_cast<std::uint64_t>(3 * m) + d));
    sites_.position.push_back(position);
  }
}

}  // namespace tessera::detail
