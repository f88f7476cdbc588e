// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include <tessera/algorithms/dense/cholesky.hpp>
#include <tessera/algorithms/dense/cholesky_parts.hpp>
#include <tessera/algorithms/dense/eigensolve_arguments.hpp>
#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/cholesky_factor.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/require_memory.hpp>

namespace tessera::detail {

namespace {

/// square := scale^2.
template <class R>
Data square_of_scale(Sequence& sequence, const Data& unit, const Data& scale) {
  Runtime& runtime = sequence.runtime();
  const Data inverse = Data::bytes(runtime, sizeof(R), Data::every_rank);
  Data square = Data::bytes(runtime, sizeof(R), Data::every_rank);
  sequence.insert(DivideScales<R>{.a = unit, .b = scale, .quotient = inverse}, {.priority = 4});
  sequence.insert(DivideScales<R>{.a = scale, .b = inverse, .quotient = square}, {.priority = 4});
  return square;
}

/// The parts of a factor that the caller has.
template <class T>
std::shared_ptr<CholeskyParts<T>> copy_of_given(Sequence& sequence, const TiledMatrix<T>& given,
                                                const TileLayout& layout) {
  auto parts = std::make_shared<CholeskyParts<T>>();
  parts->l = TiledMatrix<T>(sequence.runtime(), layout);
  const Data scale = check_and_scale(sequence, given);
  copy_hermitian(sequence, given, scale, parts->l);
  parts->scale = square_of_scale<RealOf<T>>(sequence, unit_scale<T>(sequence), scale);
  sequence.begin_stage("cholesky");
  for (Index k = 0; k < parts->l.row_tiles(); ++k)
    sequence.insert(CheckDiagonal<T>{.l = parts->l.tile(k, k), .first_row = k * layout.tile_rows},
                    {.execute_on = parts->l.owner(k, k)});
  return parts;
}

template <class T>
Completion<CholeskyResult<T>> submit(Runtime& runtime, const CholeskyProblem<T>& problem, Index tile) {
  const Index n = problem.b.order();
  const TileLayout layout = own_tiles(runtime, problem.b.layout(), n, tile);
  // What GPUs hold need not be on the host.
  if (!gpu_holds_problem(runtime, n, sizeof(T)))
    require_memory(runtime, "cholesky_factor", lower_tiles_memory(runtime, n, tile, sizeof(T)));
  InputTiles<T> b(runtime, problem.b, tile);
  auto sequence = std::make_unique<Sequence>(runtime);
  sequence->begin_stage("input");
  std::shared_ptr<CholeskyParts<T>> parts;
  if (problem.factorized) {
    parts = copy_of_given(*sequence, *b.get(), layout);
  } else {
    parts = parts_to_factorize(*sequence, *b.get(), layout);
    sequence->begin_stage("cholesky");
    cholesky<T>(*sequence, parts->l);
  }
  b.release();
  auto result = std::make_shared<CholeskyResult<T>>();
  result->factor = CholeskyFactor<T>(parts);
  return {work_of(std::move(sequence), [parts] { parts->made = true; }), std::move(result)};
}

/// The tile that a solve with default options has.
template <class T>
Index tile_of(const Runtime& runtime, Index n, const CholeskyOptions& options) {
  const EigensolveOptions chosen = resolve_options<T>(runtime, n, {});
  if (options.tile == 0) return chosen.tile;
  constexpr Index largest = 1 << 20;
  if (options.tile < 0 || options.tile > largest)
    throw InvalidArgument("tile", fmt::to_string(options.tile),
                          fmt::format("1 to {}, or 0 to have it chosen", largest));
  return options.tile;
}

}  // namespace

template <class T>
std::shared_ptr<CholeskyParts<T>> parts_to_factorize(Sequence& sequence, const TiledMatrix<T>& b,
                                                     const TileLayout& layout) {
  auto parts = std::make_shared<CholeskyParts<T>>();
  parts->l = TiledMatrix<T>(sequence.runtime(), layout);
  parts->scale = check_and_scale(sequence, b, true);
  copy_hermitian(sequence, b, parts->scale, parts->l);
  return parts;
}

TileLayout own_tiles(const Runtime& runtime, const TileLayout& input, Index n, Index tile) {
  const bool all_ranks = input.grid.rows * input.grid.cols == runtime.size();
  return {n, n, tile, tile, all_ranks ? input.grid : ProcessGrid::squarest(runtime.size()), Uplo::lower};
}

template <class T>
bool lies_in(const CholeskyFactor<T>& factor, const TileLayout& layout) noexcept {
  return factor && hash_of(factor.parts()->l.layout()) == hash_of(layout);
}

template <class T>
std::shared_ptr<const CholeskyParts<T>> factor_in(Sequence& sequence, const CholeskyFactor<T>& factor,
                                                  const TileLayout& layout) {
  if (lies_in(factor, layout)) return factor.parts();
  auto parts = std::make_shared<CholeskyParts<T>>();
  parts->l = TiledMatrix<T>(sequence.runtime(), layout);
  const Data unit = unit_scale<T>(sequence);
  copy_hermitian(sequence, factor.parts()->l, unit, parts->l);
  parts->scale = Data::bytes(sequence.runtime(), sizeof(RealOf<T>), Data::every_rank);
  sequence.insert(DivideScales<RealOf<T>>{.a = factor.parts()->scale, .b = unit, .quotient = parts->scale},
                  {.priority = 4});
  return parts;
}

template <class T>
void check_factor(const Runtime& runtime, const CholeskyFactor<T>& factor, Index n) {
  if (!factor.parts()->made) throw InvalidArgument("b_factor", "a factorisation that has failed", "a factor");
  if (factor.parts()->scale.runtime() != &runtime)
    throw InvalidArgument("b_factor", "a factor of another Runtime", "one of this Runtime");
  if (factor.order() != n)
    throw InvalidArgument("b_factor", fmt::format("{} rows", factor.order()),
                          fmt::format("{} rows, as a", n));
}

#define TESSERA_INSTANTIATE(T)                                                                       \
  template std::shared_ptr<CholeskyParts<T>> parts_to_factorize<T>(Sequence&, const TiledMatrix<T>&, \
                                                                   const TileLayout&);               \
  template bool lies_in<T>(const CholeskyFactor<T>&, const TileLayout&) noexcept;                    \
  template std::shared_ptr<const CholeskyParts<T>> factor_in<T>(Sequence&, const CholeskyFactor<T>&, \
                                                                const TileLayout&);                  \
  template void check_factor<T>(const Runtime&, const CholeskyFactor<T>&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
Index CholeskyFactor<T>::order() const noexcept {
  return parts_ ? parts_->l.rows() : 0;
}

template <class T>
Index CholeskyFactor<T>::tile() const noexcept {
  return parts_ ? parts_->l.layout().tile_rows : 0;
}

template <class T>
Completion<CholeskyResult<T>> submit_cholesky_factor(Runtime& runtime, const CholeskyProblem<T>& problem,
                                                     const CholeskyOptions& options) {
  Index tile = 0;
  const auto check = [&] {
    if (!problem.b) throw InvalidArgument("b", "nothing", "a matrix");
    check_input(runtime, "b", problem.b);
    tile = tile_of<T>(runtime, problem.b.order(), options);
  };
  return collectively(runtime, "submit_cholesky_factor",
                      argument_hash(hash_of(problem.b), problem.factorized, options.tile), check,
                      [&] { return submit(runtime, problem, tile); });
}

#define TESSERA_INSTANTIATE(T)                                                                          \
  template class CholeskyFactor<T>;                                                                     \
  template Completion<CholeskyResult<T>> submit_cholesky_factor<T>(Runtime&, const CholeskyProblem<T>&, \
                                                                   const CholeskyOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
