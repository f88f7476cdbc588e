// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/algorithms/dense/reduce_to_band.hpp>
#include <tessera/algorithms/dense/solver_choice.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/dense/vendor.hpp>
#include <tessera/codelets/dense/column_groups.hpp>
#include <tessera/codelets/linalg/split_products.hpp>
#include <tessera/codelets/one_stage/whole_tasks.hpp>
#include <tessera/eigensolve.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

namespace {

struct Named {
  Solver solver;
  std::string_view name;
};
constexpr Named solvers[] = {{Solver::automatic, "auto"},
                             {Solver::two_stage, "two_stage"},
                             {Solver::one_stage, "one_stage"},
                             {Solver::vendor, "vendor"}};

void check_range(Index n, const EigenRange& range) {
  if (range.kind == EigenRange::Kind::index && (range.lo < 0 || range.hi < range.lo || range.hi > n))
    throw InvalidArgument("range", fmt::format("index [{}, {})", range.lo, range.hi),
                          fmt::format("0 <= lo <= hi <= n = {}", n));
  if (range.kind == EigenRange::Kind::value && !(range.above < range.upto))
    throw InvalidArgument("range", fmt::format("value ({}, {}]", range.above, range.upto),
                          "lower bound < upper bound");
}

void check_size(const char* name, Index value) {
  constexpr Index largest = 1 << 20;
  if (value < 0 || value > largest)
    throw InvalidArgument(name, fmt::format("{}", value),
                          fmt::format("1 to {}, or 0 to have it chosen", largest));
}

void check_options(const EigensolveOptions& o, const Runtime& runtime, Index n) {
  if (n < 0) throw InvalidArgument("n", fmt::format("{}", n), "at least 0");
  check_range(n, o.range);
  check_size("tile", o.tile);
  check_size("band", o.band);
  check_size("update_width", o.update_width);
  check_size("slab_width", o.slab_width);
  if (o.column_groups < 0 || o.column_groups > max_column_groups ||
      (o.column_groups > 1 && runtime.size() > 1))
    throw InvalidArgument(
        "column_groups", fmt::format("{}", o.column_groups),
        fmt::format("1 to {} (1 on several ranks), or 0 to have it chosen", max_column_groups));
  if (o.band > std::max<Index>(n - 1, 1))
    throw InvalidArgument("band", fmt::format("{}", o.band), fmt::format("less than n = {}", n));
}

/// What decides sizes.
struct Problem {
  Index n, wanted;    ///< order, vectors
  int workers, gpus;  ///< of all ranks
  bool one_tile;      ///< a GPU can hold everything, if there are any
  bool complex, single;
  Index elements;     ///< of one task on a GPU
  Index cache_order;  ///< of a square matrix in a core's second-level cache
};

template <class T>
Problem problem_of(const Runtime& runtime, Index n, const EigensolveOptions& options) {
  const double cache = static_cast<double>(runtime.info().l2_bytes) / sizeof(T);
  return {.n = n,
          .wanted = max_vectors(n, options),
          .workers = runtime.common_workers() * runtime.size(),
          .gpus = runtime.gpus() * runtime.size(),
          .one_tile = runtime.gpus() == 0 || gpu_holds_problem(runtime, n, sizeof(T)),
          .complex = is_complex<T>,
          .single = sizeof(RealOf<T>) == 4,
          .elements = task_elements<T>(runtime),
          .cache_order = static_cast<Index>(std::sqrt(cache))};
}

template <class T>
SolverPlace place_of(const Runtime& runtime, const Problem& problem) {
  return {.workers = problem.workers,
          .ranks = runtime.size(),
          .gpu_driver = problem.gpus > 0 && runtime.size() == 1,
          .at_once = runtime.size() == 1 ? largest_whole_at_once<T>(runtime) : 0,
          .complex = is_complex<T>,
          .single = sizeof(RealOf<T>) == 4,
          .cached = static_cast<double>(runtime.info().l3_bytes) / sizeof(T)};
}

/// Band, update width and tile, each a multiple of the one before; what the caller gave is kept.
void choose_tiles(EigensolveOptions& o, const Problem& problem) {
  const Index n = problem.n;
  if (o.band == 0) {
    o.band = n >= 1024 ? 64 : 32;
    while (o.band > 1 && o.band * 2 > n) o.band /= 2;
    if (o.update_width > 0)
      while (o.update_width % o.band != 0) --o.band;
    else if (o.tile > 0)
      while (o.tile % o.band != 0) --o.band;
  }
  if (o.tile == 0) {
    // As large as a core's L2 cache holds, as small as feeds all workers from the trailing matrix's lower
    // tiles.
    const auto feeding = static_cast<Index>(static_cast<double>(n) / (2 * std::sqrt(2.0 * problem.workers)));
    const Index wish =
        std::min(std::clamp<Index>(problem.cache_order, 192, 256), std::max<Index>(feeding, 96));
    const Index unit = o.update_width > 0 ? o.update_width : wish >= 2 * o.band ? 2 * o.band : o.band;
    o.tile = std::max<Index>(unit, (wish / unit) * unit);
  }
  if (o.update_width == 0) {
    o.update_width = o.band;
    for (Index width = o.band; width <= 128; width += o.band)
      if (o.tile % width == 0) o.update_width = width;
  }
  if (o.update_width % o.band != 0)
    throw InvalidArgument("update_width", fmt::format("{}", o.update_width),
                          fmt::format("a multiple of the band {}", o.band));
  if (o.tile % o.update_width != 0)
    throw InvalidArgument("tile", fmt::format("{}", o.tile),
                          fmt::format("a multiple of the update width {}", o.update_width));
}

/// Order from which several GPUs of a process reduce a matrix in column groups: one is as fast for smaller
/// ones.
constexpr Index smallest_in_groups = 16384;

/// Elements of a column group and of what an update takes beside it: the accumulator VZ, the pieces of V and
/// Z, and the rows of the group's columns.
Index elements_of_group(Index n, Index groups, Index update_width) {
  const Index columns = local_extent(n, update_width, 0, static_cast<int>(groups));
  return n * columns + 4 * update_width * n + 2 * update_width * columns;
}

/// One group for each GPU where that is faster and half of their memory holds it: what several tasks of the
/// reduction want to have at the same time is little more than the group.
void choose_column_groups(EigensolveOptions& o, const Runtime& runtime, Index n, std::size_t element_bytes) {
  if (o.column_groups > 0) return;
  constexpr Index widest_update = 1024;
  const Index gpus = std::min(runtime.gpus(), max_column_groups);
  const auto room = runtime.info().gpu_memory_bytes / 2 / static_cast<std::int64_t>(element_bytes);
  const bool faster =
      o.solver == Solver::two_stage && runtime.size() == 1 && gpus > 1 && n >= smallest_in_groups;
  o.column_groups =
      faster && elements_of_group(n, gpus, std::max(widest_update, o.update_width)) <= room ? gpus : 1;
}

/// choose_tiles where every rank has GPUs. A GPU that can hold everything takes the whole matrix as one tile:
/// a panel is then a dozen large kernels, not hundreds of small ones, and no panel waits for messages; further
/// GPUs of other ranks take part in the divide and conquer and in the back-transforms, and so do those of this
/// rank, which reduce a large matrix together in column groups. Larger matrices, and those in column groups
/// before and after the reduction, have tiles large enough for products at full speed; so does one GPU whose
/// memory is too small, tile by tile: a task of the reduction then holds up to seven tiles' worth (the rank-2k
/// update: V and Z of two tile rows, each with a tile's columns at most, as much work space as one of them,
/// and a tile), one of the back-transforms a column of tiles and about as much again. In column groups updates
/// are narrower: the corrections that grow with their width are one GPU's work. That counts for less in two
/// large groups, whose updates are half of all.
void choose_gpu_tiles(EigensolveOptions& o, const Problem& problem) {
  const auto& [n, wanted, workers, gpus, one_tile, complex, single, elements, cache_order] = problem;
  const bool in_groups = reduction_groups(o) > 0;
  // Complex reflectors take twice the registers of the back-transform: with all vectors half the width is
  // faster by more than the reduction then loses. The chase of complex<double> has no room for as many steps.
  const Index wide = complex && (wanted > n / 2 || (wanted == 0 && !single)) ? 32 : 64;
  if (o.band == 0 && o.tile == 0) {
    o.band = n >= 384 ? wide : n >= 256 ? 32 : 0;
    while (o.band > 1 && o.update_width % o.band != 0) --o.band;
  }
  if (o.band == 0) return;
  const Index largest = one_tile ? std::numeric_limits<Index>::max()
                                 : std::min(square_of(elements / 7), elements / (2 * std::max<Index>(n, 1)));
  if (o.update_width == 0 && o.tile == 0) {
    o.update_width = o.band;
    // Other types' corrections cost more than double's, beside updates by faster products.
    const bool wide_updates =
        in_groups ? o.column_groups <= 2 && n >= 24576 : !complex && !single && n >= 12288;
    const Index widest = wide_updates ? 1024 : 512;
    // In one tile every block is a task, and starting one costs more than wide corrections of a small matrix.
    const Index blocks = one_tile && !in_groups ? 1 : 4;
    while (o.update_width * 2 <= std::min(largest, widest) && o.update_width * 2 * blocks <= n)
      o.update_width *= 2;
  }
  if (o.tile == 0) {
    const Index wish = in_groups ? 4096 : one_tile ? n : std::clamp<Index>(n / (4 * gpus), 1024, 4096);
    o.tile =
        std::min(ceil_div(std::min(wish, n), o.update_width), std::max<Index>(largest / o.update_width, 1)) *
        o.update_width;
  }
}

/// A whole number of slabs for each worker, 256 columns at most (beyond that products gain nothing), 32 at
/// least.
Index choose_slab_width(Index wanted, int workers) {
  const Index rounds = std::max<Index>(1, ceil_div(wanted, 256 * workers));
  return std::clamp<Index>(ceil_div(wanted, rounds * workers), 32, 256);
}

/// One slab for each GPU, narrow ones where the memory is short (half of the elements of a task, which has as
/// much again beside it): as many for each GPU, then.
Index choose_gpu_slab_width(const Problem& problem) {
  const Index wanted = problem.wanted, gpus = problem.gpus;
  const Index fitting = std::min<Index>(2048, problem.elements / (2 * std::max<Index>(problem.n, 1)));
  const Index largest = problem.one_tile ? wanted : fitting;
  const Index for_each = ceil_div(wanted, gpus * std::max<Index>(largest, 1));
  return std::max<Index>(ceil_div(wanted, gpus * std::max<Index>(for_each, 1)), 1);
}

/// Refuses sizes with which a task of two stages cannot have its buffers in a GPU's memory together.
void check_task_memory(const EigensolveOptions& o, const Problem& problem, std::int64_t memory,
                       std::size_t element_bytes) {
  const Index n = problem.n, wanted = problem.wanted;
  const auto check = [&](const char* name, Index value, Index elements) {
    const auto bytes = elements * static_cast<Index>(element_bytes);
    if (bytes > memory)
      throw InvalidArgument(
          name, fmt::format("{}", value),
          fmt::format("a size whose tasks fit into a GPU (one takes {} MiB, and may take {} MiB)",
                      (bytes >> 20) + 1, memory >> 20));
  };
  const Index tile = std::min(o.tile, n), slab = std::min(o.slab_width, wanted);
  check("tile", o.tile, 2 * tile * tile);  // copying the input
  if (reduction_groups(o) > 0) {
    // Dealing a tile; the update.
    const Index group = n * local_extent(n, o.update_width, 0, static_cast<int>(o.column_groups));
    check("tile", o.tile, tile * tile + group);
    check("column_groups", o.column_groups, elements_of_group(n, o.column_groups, o.update_width));
  } else {
    // The rank-2k update and its work space; gathering a column of tiles.
    check("tile", o.tile, tile * tile + (tile < n ? 6 : 4) * o.update_width * tile);
    if (wanted > 0) check("tile", o.tile, n * (tile + o.band));
  }
  // Gathering the band; the least that is applied to a slab.
  check("band", o.band, 3 * n * o.band);
  if (wanted > 0) check("slab_width", o.slab_width, n * (slab + o.band));
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

std::string_view to_string(Solver solver) {
  for (const Named& named : solvers)
    if (named.solver == solver) return named.name;
  return "unknown";
}

Solver solver_from_string(std::string_view name) {
  for (const Named& named : solvers)
    if (named.name == name) return named.solver;
  throw InvalidArgument("solver", name, "auto, two_stage, one_stage or vendor");
}

std::uint64_t detail::hash_of(const EigensolveOptions& options) noexcept {
  const auto& [solver, range, vectors, tile, band, update_width, slab_width, column_groups, split_products,
               keep_factor] = options;
  return argument_hash(solver, range.kind, range.lo, range.hi, range.above, range.upto, vectors, tile, band,
                       update_width, slab_width, column_groups, split_products, keep_factor);
}

Index max_vectors(Index n, const EigensolveOptions& options) noexcept {
  if (!options.vectors) return 0;
  return options.range.kind == EigenRange::Kind::index ? options.range.hi - options.range.lo : n;
}

template <class T>
EigensolveOptions resolve_options(const Runtime& runtime, Index n, const EigensolveOptions& options) {
  check_options(options, runtime, n);
  EigensolveOptions o = options;
  const Problem problem = problem_of<T>(runtime, n, options);
  const bool gpus = problem.gpus > 0;
  if (o.solver == Solver::automatic)  // two stages alone work on a matrix that a GPU cannot hold
    o.solver = problem.one_tile ? choose_solver(n, problem.wanted, place_of<T>(runtime, problem))
                                : Solver::two_stage;
  if (o.solver == Solver::vendor && n > vendor_limit(runtime, false))
    throw InvalidArgument(
        "solver", "vendor",
        fmt::format("n at most {} (LAPACK counts its work space in 32 bits)", vendor_limit(runtime, false)));
  o.split_products =
      o.split_products && (splittable<T> || by_three_products<T>)&&gpus && o.solver == Solver::two_stage;
  choose_column_groups(o, runtime, n, sizeof(T));
  if (gpus) choose_gpu_tiles(o, problem);
  choose_tiles(o, problem);
  if (o.slab_width == 0)
    o.slab_width = gpus ? choose_gpu_slab_width(problem) : choose_slab_width(problem.wanted, problem.workers);
  if (gpus && o.solver == Solver::two_stage) {
    require_gpu_band(runtime, o.band, o.tile >= n, reduction_groups(o));
    check_task_memory(o, problem, runtime.info().gpu_memory_bytes / 16 * 15, sizeof(T));
  }
  return o;
}

#define TESSERA_INSTANTIATE(T) \
  template EigensolveOptions resolve_options<T>(const Runtime&, Index, const EigensolveOptions&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
