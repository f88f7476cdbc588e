// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <limits>
#include <stdexcept>

#include <tests/faults/fault_case.hpp>

#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/algorithms/dense/check.hpp>
#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/one_stage.hpp>
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>
#include <tessera/algorithms/dense/vendor.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::test {
using namespace detail;
namespace {

constexpr Index order = 48;
const std::string different = "not the same on all ranks";

TileLayout layout_of(const Runtime& runtime, Index n = order, Index tile = 16) {
  return {n, n, tile, tile, ProcessGrid::squarest(runtime.size()), Uplo::lower};
}

/// A generated matrix; the tiles of the faulty rank contain a NaN if `nan` is set.
TiledMatrix<double> filled(const Ranks& ranks, const std::string& kind, bool nan = false) {
  return guarded(ranks.runtime, [&] {
    TiledMatrix<double> a(ranks.runtime, layout_of(ranks.runtime));
    const auto generator = MatrixGenerator<double>::make(kind, order);
    for (Index j = 0; j < a.col_tiles(); ++j)
      for (Index i = j; i < a.row_tiles(); ++i) {
        if (!a.tile(i, j).local()) continue;
        const HostAccess access(a.tile(i, j), HostAccess::Mode::write);
        const auto tile = access.matrix<double>();
        generator.fill(i * 16, j * 16, tile.rows, tile.cols, tile.data, tile.ld);
        if (nan && ranks.here() && i > j) tile(0, 0) = std::numeric_limits<double>::quiet_NaN();
      }
    return a;
  });
}

void require_success(const Status& status) {
  if (!status.ok()) throw RuntimeError(status.message());
}

/// Solves; all ranks throw a failed status.
void solve(const Ranks& ranks, const EigensolveOptions& options, bool nan = false) {
  const TiledMatrix<double> a = filled(ranks, "random", nan);
  auto completion = submit_eigensolve(ranks.runtime, {.a = a}, options);
  require_success(completion.wait());
}

void solve_generalized(const Ranks& ranks, const std::string& kind_of_b) {
  const TiledMatrix<double> a = filled(ranks, "random"), b = filled(ranks, kind_of_b);
  auto completion = submit_eigensolve(ranks.runtime, {.a = a, .b = b});
  require_success(completion.wait());
}

/// The faulty rank uses other options than the other ranks.
FaultCase options_differ(const std::string& name, const EigensolveOptions& usual,
                         const EigensolveOptions& other) {
  return {name, [=](const Ranks& ranks) { solve(ranks, ranks.here() ? other : usual); }, different};
}

EigensolveOptions with_range(const EigenRange& range) {
  return {.range = range};
}

const AddFaultCases added({
    {"dense_two_stage", [](const Ranks& ranks) { solve(ranks, {.solver = Solver::two_stage}); }, ""},
    {"dense_one_stage", [](const Ranks& ranks) { solve(ranks, {.solver = Solver::one_stage}); }, ""},
    {"dense_vendor", [](const Ranks& ranks) { solve(ranks, {.solver = Solver::vendor}); }, ""},
    {"dense_generalized", [](const Ranks& ranks) { solve_generalized(ranks, "overlap"); }, ""},
    {"dense_range_by_value",
     [](const Ranks& ranks) { solve(ranks, {.solver = Solver::two_stage, .range = value_range(-1, 1)}); },
     ""},
    {"dense_check",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       auto completion = submit_eigensolve(ranks.runtime, {.a = a});
       require_success(completion.wait());
       check_eigenpairs<double>(ranks.runtime, a, nullptr, completion.result().values,
                                completion.result().vectors);
     },
     ""},
    options_differ("dense_solver_differs", {.solver = Solver::two_stage}, {.solver = Solver::one_stage}),
    options_differ("dense_vectors_differ", {.vectors = true}, {.vectors = false}),
    options_differ("dense_tile_differs", {.tile = 16}, {.tile = 32}),
    options_differ("dense_band_differs", {.band = 8}, {.band = 16}),
    options_differ("dense_update_width_differs", {.band = 8, .update_width = 8},
                   {.band = 8, .update_width = 16}),
    options_differ("dense_slab_width_differs", {.slab_width = 8}, {.slab_width = 16}),
    options_differ("dense_kinds_of_range_differ", with_range({}), with_range(index_range(0, 48))),
    options_differ("dense_ranges_by_index_differ", with_range(index_range(0, 4)),
                   with_range(index_range(0, 5))),
    options_differ("dense_ranges_by_value_differ", with_range(value_range(0, 1)),
                   with_range(value_range(0, 2))),
    {"dense_bad_range",
     [](const Ranks& ranks) { solve(ranks, with_range(index_range(0, ranks.here() ? 49 : 4))); },
     "range = index [0, 49)"},
    {"dense_bad_band", [](const Ranks& ranks) { solve(ranks, {.band = ranks.here() ? 4800 : 8}); },
     "band = 4800"},
    {"dense_bad_tile", [](const Ranks& ranks) { solve(ranks, {.tile = ranks.here() ? -1 : 16}); },
     "tile = -1"},
    {"dense_matrix_tile_differs",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a(ranks.runtime, layout_of(ranks.runtime, order, ranks.here() ? 8 : 16));
     },
     different},
    {"dense_order_differs",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a(ranks.runtime, layout_of(ranks.runtime, ranks.here() ? order + 1 : order));
     },
     different},
    {"dense_triangle_differs",
     [](const Ranks& ranks) {
       TileLayout layout = layout_of(ranks.runtime);
       if (ranks.here()) layout.uplo = Uplo::upper;
       const TiledMatrix<double> a(ranks.runtime, layout);
     },
     different},
    {"dense_grid_differs",
     [](const Ranks& ranks) {
       TileLayout layout = layout_of(ranks.runtime);
       if (ranks.here()) std::swap(layout.grid.rows, layout.grid.cols);
       const TiledMatrix<double> a(ranks.runtime, layout);
     },
     different},
    {"dense_type_differs",
     [](const Ranks& ranks) {
       const TileLayout layout = layout_of(ranks.runtime);
       if (ranks.here())
         const TiledMatrix<float> a(ranks.runtime, layout);
       else
         const TiledMatrix<double> a(ranks.runtime, layout);
     },
     different},
    {"dense_second_matrix_on_one_rank",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random"), b = filled(ranks, "overlap");
       auto completion = ranks.here() ? submit_eigensolve(ranks.runtime, {.a = a, .b = b})
                                      : submit_eigensolve(ranks.runtime, {.a = a});
       completion.wait();
     },
     different},
    {"dense_matrices_exchanged",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       const TiledMatrix<double> b(ranks.runtime, layout_of(ranks.runtime, order, 8));
       auto completion = submit_eigensolve(ranks.runtime, {.a = ranks.here() ? b : a});
       completion.wait();
     },
     different},
    {"dense_not_a_number",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       guarded(ranks.runtime, [&] {
         for (Index j = 0; j < a.col_tiles(); ++j)
           for (Index i = j; i < a.row_tiles(); ++i) {
             if (a.owner(i, j) != ranks.faulty && ranks.runtime.size() == 2) continue;
             if (a.tile(i, j).local())
               HostAccess(a.tile(i, j), HostAccess::Mode::read_write).matrix<double>()(8, 0) =
                   std::numeric_limits<double>::quiet_NaN();
           }
       });
       auto completion = submit_eigensolve(ranks.runtime, {.a = a});
       require_success(completion.wait());
     },
     "the input has a NaN or an infinity"},
    {"dense_not_positive_definite", [](const Ranks& ranks) { solve_generalized(ranks, "random"); },
     "the matrix is not positive definite"},
    {"dense_exception_beside_a_solve",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       guarded(ranks.runtime, [&] {
         auto completion = submit_eigensolve(ranks.runtime, {.a = a}, {.solver = Solver::two_stage});
         if (ranks.here()) throw std::logic_error("lost");
         completion.wait();
       });
     },
     "lost"},
    {"dense_refusal_beside_a_solve",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       guarded(ranks.runtime, [&] {
         auto completion = submit_eigensolve(ranks.runtime, {.a = a}, {.solver = Solver::two_stage});
         solve(ranks, {.tile = ranks.here() ? -1 : 16});
         completion.wait();
       });
     },
     "tile = -1"},
    {"dense_waits_exchanged",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       auto first = submit_eigensolve(ranks.runtime, {.a = a});
       auto second = submit_eigensolve(ranks.runtime, {.a = a});
       guarded(ranks.runtime, [&] { (ranks.here() ? second : first).wait(); });
     },
     different},
    {"dense_stages_differ",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "overlap"), b = filled(ranks, "overlap");
       Sequence sequence(ranks.runtime);
       guarded(ranks.runtime, [&] {
         if (ranks.here())
           cholesky(sequence, a);
         else
           to_standard(sequence, a, b);
       });
     },
     different},
    {"dense_bad_update_width",
     [](const Ranks& ranks) {
       TiledMatrix<double> a = filled(ranks, "random");
       const BandMatrix<double> band(ranks.runtime, order, 8);
       Sequence sequence(ranks.runtime);
       reduce_to_band<double>(sequence, std::move(a), ranks.here() ? 5 : 8, band, nullptr);
     },
     "update_width = 5"},
    {"dense_chase_options_differ",
     [](const Ranks& ranks) {
       const Data d = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank),
                  e = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank);
       Sequence sequence(ranks.runtime);
       band_to_tridiagonal<double>(sequence, BandMatrix<double>(ranks.runtime, order, 8), d, e, nullptr,
                                   {.sweeps = ranks.here() ? 2 : 1});
     },
     different},
    {"dense_one_stage_panel_too_wide",
     [](const Ranks& ranks) {
       TiledMatrix<double> a = filled(ranks, "random");
       const Data d = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank),
                  e = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank);
       Sequence sequence(ranks.runtime);
       tridiagonalize<double>(sequence, std::move(a), d, e, nullptr, {.panel = ranks.here() ? 100000 : 64});
     },
     "panel = 100000"},
    {"dense_piece_missing",
     [](const Ranks& ranks) {
       const Data d = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank);
       const Data e, made = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank);
       Sequence sequence(ranks.runtime);
       const TridiagonalEigen<double> eigen(sequence, order, d, ranks.here() ? e : made, true);
     },
     "e = nothing"},
    {"dense_vendor_range",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       const Data values = Data::bytes(ranks.runtime, order * sizeof(double), Data::every_rank);
       Sequence sequence(ranks.runtime);
       vendor_eigensolve<double>(sequence, a, ranks.here() ? 3 : 0, 2, values, nullptr);
     },
     "range = [3, 2)"},
    {"dense_check_of_fewer_values",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       const ColumnSlabs<double> z(ranks.runtime, order, 4, 2);
       const std::vector<double> values(ranks.here() ? 3 : 4);
       check_eigenpairs<double>(ranks.runtime, a, nullptr, values, z);
     },
     "values = 3 values"},
    {"dense_norm_on_other_ranks",
     [](const Ranks& ranks) {
       const TiledMatrix<double> a = filled(ranks, "random");
       if (ranks.here())
         submit_eigensolve(ranks.runtime, {.a = a}).wait();
       else
         hermitian_norm(ranks.runtime, a);
     },
     different},
    {"dense_arrays_on_several_ranks",
     [](const Ranks& ranks) {
       double a = 1;
       submit_eigensolve<double>(ranks.runtime, {.a = {ranks.here() ? nullptr : &a, 1, 1}}).wait();
     },
     " = "},
});

}  // namespace
}  // namespace tessera::test
