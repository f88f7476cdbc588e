// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_problem.hpp"

#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/matgen/density_kinds.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/data.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "option_values.hpp"
#include "usage_error.hpp"

namespace tessera::program {
using namespace detail;

std::vector<std::pair<std::string, DensityMethod>> density_methods() {
  std::vector<std::pair<std::string, DensityMethod>> methods;
  for (int k = 0;; ++k) {
    const auto method = static_cast<DensityMethod>(k);
    if (to_string(method) == std::string("unknown")) return methods;
    methods.emplace_back(to_string(method), method);
  }
}

std::vector<std::string> density_system_names() {
  std::vector<std::string> names;
  for (const DensitySystemKind& kind : density_system_kinds()) names.emplace_back(kind.name);
  return names;
}

std::string density_system_help() {
  std::string help;
  for (const DensitySystemKind& kind : density_system_kinds())
    help += fmt::format("\n  {}: {}", kind.name, kind.help);
  return help;
}

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
void read_files(Session& session, const DensitySource& source, SparseShape& shape,
                DensityMatrices<T>& matrices) {
  matrices.hamiltonian = lower_half(source.hamiltonian, load_sparse<T>(session, source.hamiltonian, shape));
  const BlockSparseMatrix<T>& h = matrices.hamiltonian;
  if (source.hamiltonian.ends_with(".h5")) {
    const auto list = [](const BlockDimension& of) {
      return std::vector<Index>(of.sizes().begin(), of.sizes().end());
    };
    shape.sizes = BlockSizes{list(h.pattern().rows()), list(h.pattern().cols())};
  }
  if (source.overlap.empty()) return;
  matrices.overlap = lower_half(source.overlap, load_sparse<T>(session, source.overlap, shape));
  if (matrices.overlap.rows() != h.rows())
    throw InputError(
        source.overlap, 0,
        fmt::format("is of order {}, the Hamiltonian of order {}", matrices.overlap.rows(), h.rows()));
}

}  // namespace

DensitySystemOptions system_options(const DensitySource& source) {
  return naming_options([&] {
    DensitySystemOptions system{.kind = source.generate,
                                .blocks = source.blocks,
                                .gap = source.gap,
                                .decay = source.decay,
                                .coupling = source.coupling,
                                .seed = source.seed};
    const double functions = mean_functions(DensityModel::make(system));
    const bool by_molecules = source.molecules >= 0;
    system.molecules = by_molecules
                           ? source.molecules
                           : static_cast<Index>(std::llround(static_cast<double>(source.n) / functions));
    if (static_cast<double>(system.molecules) * functions > static_cast<double>(largest_order))
      throw InvalidArgument(by_molecules ? "--molecules" : "--n",
                            fmt::to_string(by_molecules ? source.molecules : source.n),
                            fmt::format("at most {} basis functions", largest_order));
    return DensityModel::make(system).options;
  });
}

template <class T>
DensityMatrices<T> load_density_matrices(Session& session, const DensitySource& source, SparseShape& shape) {
  DensityMatrices<T> matrices;
  if (source.generate.empty()) {
    read_files(session, source, shape, matrices);
    return matrices;
  }
  const DensitySystemOptions wanted = system_options(source);
  require_memory(session.runtime(), "density", least_memory<T>(session.runtime(), wanted));
  auto system = source.usual_layout
                    ? density_system<T>(session.runtime(), wanted)
                    : density_system_on<T>(session.runtime(), wanted, shape.grid, shape.panel);
  matrices.hamiltonian = std::move(system.hamiltonian);
  matrices.overlap = std::move(system.overlap);
  matrices.electrons = system.electrons;
  matrices.molecules = system.options.molecules;
  matrices.mu = system.mu;
  matrices.gap_bound = system.gap_bound;
  return matrices;
}

template <class T>
void place(Runtime& runtime, const BlockSparseMatrix<T>& x, bool on_gpu) {
  int next = 0;
  for (Index p = 0; x.valid() && p < x.pattern().panels(); ++p) {
    const Data& panel = x.panel(p);
    if (!panel.valid() || !panel.local()) continue;
    if (on_gpu)
      panel.prefetch(next++ % runtime.gpus());
    else
      HostAccess(panel, HostAccess::Mode::read_write);
  }
}

#define TESSERA_INSTANTIATE(T)                                                                        \
  template DensityMatrices<T> load_density_matrices<T>(Session&, const DensitySource&, SparseShape&); \
  template void place<T>(Runtime&, const BlockSparseMatrix<T>&, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
