// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/algorithms/matgen/density_kinds.hpp>
#include <tessera/algorithms/matgen/molecule_box.hpp>
#include <tessera/algorithms/matgen/row_pattern.hpp>
#include <tessera/codelets/block_sparse/values/coupled_units.hpp>
#include <tessera/codelets/common/splitmix.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/blas_threads.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// Streams of random numbers that have nothing in common.
enum SystemStream : std::uint64_t {
  system_sites = 1,
  system_species = 2,
  system_levels = 3,
  system_bonds = 4,
  system_rotations = 5,
  system_pairs = 6
};

std::uint64_t key_of(const DensitySystemOptions& options, SystemStream stream, Index unit) noexcept {
  return splitmix(splitmix(options.seed, stream), static_cast<std::uint64_t>(unit));
}

/// Uniform in [-1, 1), real and imaginary part.
template <class W>
W random_in_system(std::uint64_t key, Index k) noexcept {
  const auto draw = [&](Index which) {
    return 2 * unit_uniform(splitmix(key, static_cast<std::uint64_t>(which))) - 1;
  };
  if constexpr (is_complex<W>)
    return {draw(2 * k), draw(2 * k + 1)};
  else
    return draw(k);
}

const UnitSpecies& species_of(const DensityModel& model, Index unit) noexcept {
  return model.species_at(unit_uniform(key_of(model.options, system_species, unit)));
}

/// The overlap within a unit, lower triangle: between two blocks a random one of Frobenius norm
/// bond / (blocks - 1), so that the norms in a row of blocks add up to `bond` at most.
template <class W>
std::vector<W> overlap_in_unit(const UnitSpecies& species, double bond, std::uint64_t key) {
  const Index n = species.functions();
  std::vector<W> s(static_cast<std::size_t>(n * n));
  for (Index k = 0; k < n; ++k) s[static_cast<std::size_t>(k + k * n)] = W(1);
  Index drawn = 0, col = 0;
  for (std::size_t b = 0; b < species.blocks.size(); col += species.blocks[b++]) {
    Index row = col + species.blocks[b];
    for (std::size_t a = b + 1; a < species.blocks.size(); row += species.blocks[a++]) {
      double squares = 0;
      const auto each = [&](const auto& visit) {
        for (Index j = col; j < col + species.blocks[b]; ++j)
          for (Index i = row; i < row + species.blocks[a]; ++i) visit(s[static_cast<std::size_t>(i + j * n)]);
      };
      each([&](W& x) { squares += std::norm(x = random_in_system<W>(key, drawn++)); });
      const double factor = bond / static_cast<double>(species.blocks.size() - 1) / std::sqrt(squares);
      each([&](W& x) { x *= factor; });
    }
  }
  return s;
}

/// V of a unit: the Cholesky factor of its overlap times a random unitary matrix, the Q of a random one's QR
/// factorisation.
template <class W>
void fill_basis(const DensityModel& model, const UnitSpecies& species, Index unit, W* v) {
  const Index n = species.functions();
  std::vector<W> factor = overlap_in_unit<W>(species, model.bond, key_of(model.options, system_bonds, unit));
  const std::uint64_t key = key_of(model.options, system_rotations, unit);
  for (Index k = 0; k < n * n; ++k) v[k] = random_in_system<W>(key, k);
  std::vector<W> tau(static_cast<std::size_t>(n)), work(static_cast<std::size_t>(64 * n));
  const auto size = static_cast<Index>(work.size());
  const OneBlasThread same_on_all_ranks;
  const bool good = blas::potrf(Uplo::lower, n, factor.data(), n) == 0 &&
                    blas::geqrf(n, n, v, n, tau.data(), work.data(), size) == 0 &&
                    blas::ungqr(n, n, n, v, n, tau.data(), work.data(), size) == 0;
  if (!good) throw RuntimeError(fmt::format("LAPACK failed for unit {} of a density system", unit));
  blas::trmm(Side::left, Uplo::lower, Op::none, Diag::non_unit, n, n, W(1), factor.data(), n, v, n);
}

/// The occupied levels, then the others: each set fills its range evenly, but for some disorder between
/// units.
void fill_levels(const DensityModel& model, const UnitSpecies& species, Index unit, double* levels) {
  const std::uint64_t key = key_of(model.options, system_levels, unit);
  const Index occupied = species.electrons / 2, n = species.functions();
  const double half = *model.options.gap / 2;
  for (Index k = 0; k < n; ++k) {
    const bool is_occupied = k < occupied;
    const double place = static_cast<double>(is_occupied ? k : k - occupied) +
                         0.5 * unit_uniform(splitmix(key, static_cast<std::uint64_t>(k)));
    levels[k] = is_occupied ? -half - model.occupied_spread * place / static_cast<double>(occupied)
                            : half + model.virtual_spread * place / static_cast<double>(n - occupied);
  }
}

/// A system on its way: what is known before its matrices.
template <class W>
struct Draft {
  DensityModel kind;
  MoleculeBox box;
  UnitModel<W> model;
  std::vector<Index> block_sizes, first_block;  // first_block: of each unit, and the end
  Index electrons = 0, largest_block = 0, largest_unit = 0;
  double cutoff_squared = 0;  // of distances whose weights count, in cells

  Draft(const Runtime& runtime, DensityModel&& of_kind);

 private:
  void list_units();
  void weigh(int threads);
  void fill_units(int threads);
};

template <class W>
Draft<W>::Draft(const Runtime& runtime, DensityModel&& of_kind)
    : kind(std::move(of_kind)),
      box(kind.options.molecules, kind.volume, kind.jitter, splitmix(kind.options.seed, system_sites)) {
  constexpr double least_weight = 1e-16;
  const double spacing = std::cbrt(kind.volume) * box.cells_per_angstrom();
  model.sites = box.sites();
  model.sites.decay_length = *kind.options.decay * box.cells_per_angstrom();
  model.spacing_squared = spacing * spacing;
  cutoff_squared = model.spacing_squared -
                   2 * model.sites.decay_length * model.sites.decay_length * std::log(least_weight);
  model.middle = kind.mu();
  model.wolfsberg_helmholz = wolfsberg_helmholz;
  model.seed = splitmix(kind.options.seed, system_pairs);
  list_units();
  const int threads = host_threads(runtime);
  weigh(threads);
  fill_units(threads);
}

template <class W>
void Draft<W>::list_units() {
  model.first_function = {0}, model.first_value = {0}, first_block = {0};
  for (Index unit = 0; unit < box.molecules(); ++unit) {
    const UnitSpecies& species = species_of(kind, unit);
    for (const Index size : species.blocks) {
      block_sizes.push_back(size);
      model.unit_of_block.push_back(unit);
      largest_block = std::max(largest_block, size);
    }
    const Index n = species.functions();
    electrons += species.electrons;
    largest_unit = std::max(largest_unit, n);
    model.first_function.push_back(model.first_function.back() + n);
    model.first_value.push_back(model.first_value.back() + n * n);
    first_block.push_back(static_cast<Index>(block_sizes.size()));
  }
}

/// scale = sqrt(coupling / sum of the weights): the norms of E's blocks form a matrix of norm `coupling`.
template <class W>
void Draft<W>::weigh(int threads) {
  model.scale.assign(static_cast<std::size_t>(box.molecules()), 0);
  std::vector<std::vector<Index>> near(static_cast<std::size_t>(threads));
  parallel_for(threads, box.molecules(), [&](Index unit, int thread) {
    auto& found = near[static_cast<std::size_t>(thread)];
    box.neighbours(unit, cutoff_squared, found);
    double sum = 0;
    for (const Index other : found)
      if (other != unit) sum += model.weight(model.sites.distance_squared(unit, other));
    if (sum > 0) model.scale[static_cast<std::size_t>(unit)] = std::sqrt(*kind.options.coupling / sum);
  });
}

template <class W>
void Draft<W>::fill_units(int threads) {
  model.levels.resize(static_cast<std::size_t>(model.first_function.back()));
  model.basis.resize(static_cast<std::size_t>(model.first_value.back()));
  parallel_for(threads, box.molecules(), [&](Index unit, int) {
    const UnitSpecies& species = species_of(kind, unit);
    fill_levels(kind, species, unit, &model.levels[static_cast<std::size_t>(model.first_function[unit])]);
    fill_basis(kind, species, unit, &model.basis[static_cast<std::size_t>(model.first_value[unit])]);
  });
}

/// All blocks of pairs of units that are coupled by more than the threshold.
template <class W>
BlockPatternPointer pattern_of(Runtime& runtime, const BlockLayout& layout, const Draft<W>& draft) {
  Index unit = -1;
  std::vector<Index> near, columns;
  return pattern_by_rows(runtime, layout, [&](Index row) -> const std::vector<Index>& {
    const Index of_row = draft.model.unit_of_block[static_cast<std::size_t>(row)];
    if (of_row == unit) return columns;
    unit = of_row;
    draft.box.neighbours(unit, draft.cutoff_squared, near);
    columns.clear();
    for (const Index other : near) {
      const Index smaller = std::min(draft.model.functions(unit), draft.model.functions(other));
      const double norm = draft.model.norm(unit, other);
      const double frobenius = norm * std::sqrt(static_cast<double>(smaller));
      if (other != unit && (norm == 0 || frobenius < draft.kind.options.threshold)) continue;
      const Index end = draft.first_block[static_cast<std::size_t>(other + 1)];
      for (Index j = draft.first_block[static_cast<std::size_t>(other)]; j < end; ++j) columns.push_back(j);
    }
    return columns;
  });
}

template <class T>
void fill_matrices(Runtime& runtime, const Draft<InDouble<T>>& draft, DensitySystem<T>& system) {
  using W = InDouble<T>;
  Sequence sequence(runtime);
  sequence.begin_stage("generate");
  const auto bytes = coupled_units_work_bytes<W>(draft.largest_block, draft.largest_unit);
  const Data work = Data::scratch(runtime, std::max<std::size_t>(bytes, 8));
  for (Index p = 0; p < system.overlap.pattern().panels(); ++p)
    if (system.overlap.panel(p).valid())
      sequence.insert(CoupledUnits<T>{.blocks = system.overlap.pattern().blocks_of(p),
                                      .overlap = system.overlap.panel(p),
                                      .hamiltonian = system.hamiltonian.panel(p),
                                      .work = work,
                                      .units = &draft.model,
                                      .largest_block = draft.largest_block,
                                      .largest_unit = draft.largest_unit});
  finish(sequence);
}

BlockLayout layout_for(const Runtime& runtime, const std::vector<Index>& sizes, const ProcessGrid* grid,
                       Index panel_elements, Symmetry symmetry) {
  if (!grid) return make_block_layout(runtime, sizes, sizes, symmetry);
  return {BlockDimension::make(sizes, grid->rows, {}, panel_elements),
          BlockDimension::make(sizes, grid->cols, {}, panel_elements), *grid, symmetry};
}

template <class T>
DensitySystem<T> make_system(Runtime& runtime, const DensitySystemOptions& options, const ProcessGrid* grid,
                             Index panel_elements) {
  const Draft<InDouble<T>> draft(runtime, DensityModel::make(options));
  const Symmetry symmetry = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
  const auto layout = layout_for(runtime, draft.block_sizes, grid, panel_elements, symmetry);
  const auto pattern = pattern_of(runtime, layout, draft);
  DensitySystem<T> system{.hamiltonian = BlockSparseMatrix<T>(pattern),
                          .overlap = BlockSparseMatrix<T>(pattern),
                          .electrons = draft.electrons,
                          .block_sizes = draft.block_sizes,
                          .unit_of_block = draft.model.unit_of_block,
                          .unit_positions = draft.model.sites.position,
                          .cell_length = draft.model.sites.side / draft.box.cells_per_angstrom(),
                          .mu = draft.kind.mu(),
                          .gap_bound = draft.kind.gap_bound(),
                          .overlap_bound = draft.kind.overlap_bound(),
                          .options = draft.kind.options};
  for (auto& position : system.unit_positions)
    for (double& x : position) x /= draft.box.cells_per_angstrom();
  fill_matrices(runtime, draft, system);
  return system;
}

std::uint64_t hash_of_options(const DensitySystemOptions& options) {
  const auto text = [](const std::optional<double>& x) {
    return x ? fmt::format("{:a}", *x) : std::string("-");
  };
  return hash_of(fmt::format("{} {} {} {} {} {} {} {:a}", options.kind, options.molecules,
                             fmt::join(options.blocks, ","), text(options.gap), text(options.decay),
                             text(options.coupling), options.seed, options.threshold));
}

template <class T>
DensitySystem<T> collective_system(Runtime& runtime, const DensitySystemOptions& options,
                                   const ProcessGrid* grid, Index panel_elements) {
  return collectively(
      runtime, "density_system", hash_of_options(options), [&] { DensityModel::make(options); },
      [&] { return make_system<T>(runtime, options, grid, panel_elements); });
}

}  // namespace

template <class T>
DensitySystem<T> density_system_on(Runtime& runtime, const DensitySystemOptions& options,
                                   const ProcessGrid& grid, Index panel_elements) {
  return collective_system<T>(runtime, options, &grid, panel_elements);
}

}  // namespace tessera::detail

namespace tessera {

template <class T>
DensitySystem<T> density_system(Runtime& runtime, const DensitySystemOptions& options) {
  return detail::collective_system<T>(runtime, options, nullptr, 0);
}

#define TESSERA_INSTANTIATE(T)                                                                  \
  template DensitySystem<T> density_system<T>(Runtime&, const DensitySystemOptions&);           \
  template DensitySystem<T> detail::density_system_on<T>(Runtime&, const DensitySystemOptions&, \
                                                         const ProcessGrid&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
