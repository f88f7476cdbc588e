// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_problem.hpp"

#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/density_kinds.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

namespace tessera::program {
using namespace detail;

namespace {

/// Basis functions of a molecule; of a mixture, the mean.
double mean_functions(const DensityModel& model) {
  double functions = 0;
  for (const UnitSpecies& species : model.species)
    functions += species.share * static_cast<double>(species.functions());
  return functions;
}

/// Every rank holds the bases of all molecules; the matrices have at least their diagonal blocks.
template <class T>
double least_memory(const Runtime& runtime, const DensitySystemOptions& system) {
  const double functions = mean_functions(DensityModel::make(system));
  const double squares = functions * functions * static_cast<double>(system.molecules);
  return squares * (2 * sizeof(T) + 2.0 * sizeof(T) / runtime.size());
}

/// The matrix as it is, if its stored half is that of a Hermitian one; or its lower half.
/// @throws InputError if it is not Hermitian
template <class T>
BlockSparseMatrix<T> lower_half(const std::string& path, BlockSparseMatrix<T> a) {
  if (a.rows() != a.cols())
    throw InputError(path, 0,
                     fmt::format("is a matrix of {} x {}; expected a square one", a.rows(), a.cols()));
  const Symmetry wanted = is_complex<T> ? Symmetry::hermitian : Symmetry::symmetric;
  const bool fits = a.symmetry() == wanted || (!is_complex<T> && a.symmetry() == Symmetry::hermitian);
  if (fits || a.pattern().rows().sizes().size() != a.pattern().cols().sizes().size()) return a;
  Sequence sequence(a.runtime());
  sequence.begin_stage("halve");
  BlockLayout layout = a.layout();
  layout.symmetry = wanted;
  layout.cols = layout.rows;
  const BlockSparseMatrix<T> whole = a.symmetry() == Symmetry::none ? a : desymmetrize(sequence, a);
  const BlockSparseMatrix<T> half = redistribute(sequence, whole, layout);
  BlockSparseMatrix<T> rest = desymmetrize(sequence, half);
  add(sequence, T(1), rest, T(-1), whole);
  const Status status = sequence.wait();
  if (!status) throw Error(status.message());
  // Programs that write both halves may round them differently.
  constexpr double rounding = 100;
  if (!(max_abs_norm(rest) <= rounding * static_cast<double>(precision<T>) * max_abs_norm(whole)))
    throw InputError(path, 0, "is not Hermitian");
  return half;
}

template <class T>
void read_files(Session& session, const DensityProgramOptions& options, SparseShape& shape,
                DensityMatrices<T>& matrices) {
  matrices.hamiltonian = lower_half(options.hamiltonian, load_sparse<T>(session, options.hamiltonian, shape));
  const BlockSparseMatrix<T>& h = matrices.hamiltonian;
  if (options.hamiltonian.ends_with(".h5")) {
    const auto list = [](const BlockDimension& of) {
      return std::vector<Index>(of.sizes().begin(), of.sizes().end());
    };
    shape.sizes = BlockSizes{list(h.pattern().rows()), list(h.pattern().cols())};
  }
  if (options.overlap.empty()) return;
  matrices.overlap = lower_half(options.overlap, load_sparse<T>(session, options.overlap, shape));
  if (matrices.overlap.rows() != h.rows())
    throw InputError(
        options.overlap, 0,
        fmt::format("is of order {}, the Hamiltonian of order {}", matrices.overlap.rows(), h.rows()));
}

}  // namespace

DensitySystemOptions system_options(const DensityProgramOptions& options) {
  return naming_options([&] {
    DensitySystemOptions system{.kind = options.generate,
                                .blocks = options.blocks,
                                .gap = options.gap,
                                .decay = options.decay,
                                .coupling = options.coupling,
                                .seed = options.common.seed};
    const double functions = mean_functions(DensityModel::make(system));
    const bool by_molecules = options.molecules >= 0;
    system.molecules = by_molecules
                           ? options.molecules
                           : static_cast<Index>(std::llround(static_cast<double>(options.n) / functions));
    if (static_cast<double>(system.molecules) * functions > static_cast<double>(largest_order))
      throw InvalidArgument(by_molecules ? "--molecules" : "--n",
                            fmt::to_string(by_molecules ? options.molecules : options.n),
                            fmt::format("at most {} basis functions", largest_order));
    return DensityModel::make(system).options;
  });
}

namespace {

/// What --restart and --gap-bounds give.
template <class T>
void read_former(Session& session, const DensityProgramOptions& options, DensityMatrices<T>& matrices) {
  matrices.gap = options.gap_bounds;
  if (options.restart.empty()) return;
  matrices.former = read_density_state<T>(session.runtime(), options.restart);
  const DensityState<T>& former = *matrices.former;
  const BlockDimension& rows = *matrices.hamiltonian.layout().rows;
  session.together([&] {
    const BlockDimension& theirs = *former.density.layout().rows;
    if (!theirs.same_sizes(rows))
      throw InputError(options.restart, 0,
                       fmt::format("is of {} functions in {} blocks, the Hamiltonian of {} in {}{}",
                                   theirs.elements(), theirs.blocks(), rows.elements(), rows.blocks(),
                                   theirs.elements() == rows.elements() && theirs.blocks() == rows.blocks()
                                       ? " of other sizes"
                                       : ""));
    if (former.inverse_factor.valid() && !matrices.overlap.valid())
      throw InputError(options.restart, 0, "has an inverse factor, and there is no overlap");
  });
  const bool takes_gap = options.temperature == 0 && !options.mu && options.method != DensityMethod::dense;
  if (matrices.gap || !takes_gap) return;
  // Without the former H it is not known how far states have moved.
  const double gap = former.gap.lumo.lower - former.gap.homo.upper;
  matrices.moved = options.moved.value_or(0.25 * gap);
  matrices.gap = narrowed(former.gap, *matrices.moved);
  if (!std::isfinite(*matrices.moved)) matrices.moved.reset();
}

}  // namespace

template <class T>
DensityMatrices<T> load_density_matrices(Session& session, const DensityProgramOptions& options,
                                         SparseShape& shape) {
  DensityMatrices<T> matrices;
  matrices.electrons = options.electrons < 0 ? -1 : static_cast<double>(options.electrons);
  if (options.generate.empty()) {
    read_files(session, options, shape, matrices);
    read_former(session, options, matrices);
    return matrices;
  }
  const DensitySystemOptions wanted = system_options(options);
  require_memory(session.runtime(), "density", least_memory<T>(session.runtime(), wanted));
  const bool usual = options.panel == 0 && options.grid.rows == 0;
  auto system = usual ? density_system<T>(session.runtime(), wanted)
                      : density_system_on<T>(session.runtime(), wanted, shape.grid, options.panel);
  matrices.hamiltonian = std::move(system.hamiltonian);
  matrices.overlap = std::move(system.overlap);
  if (matrices.electrons < 0)
    matrices.electrons = static_cast<double>(system.electrons) / 2 * options.occupation;
  matrices.molecules = system.options.molecules;
  matrices.mu = system.mu;
  matrices.gap_bound = system.gap_bound;
  read_former(session, options, matrices);
  return matrices;
}

#define TESSERA_INSTANTIATE(T) \
  template DensityMatrices<T> load_density_matrices<T>(Session&, const DensityProgramOptions&, SparseShape&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
