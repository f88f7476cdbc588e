// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/dense/band_to_tridiagonal.hpp>
#include <tessera/algorithms/dense/check.hpp>
#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/algorithms/dense/one_stage.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/dense/tridiagonal_sizes.hpp>
#include <tessera/codelets/one_stage/lapack_driver.hpp>

namespace tessera::detail {

namespace {

/// A task and its pieces as StarPU keeps them until it has ended; tasks are submitted faster than they end.
constexpr double bytes_of_task = 2500;

/// Stacks, and BLAS's buffers, of a thread that does large products.
constexpr double bytes_of_thread = 8 << 20;

/// Stages in the order of their submission: what is there at the end of one is there in the next.
struct Estimate {
  double there = 0, peak = 0;  ///< bytes
  void add(double bytes) {
    there += bytes;
    peak = std::max(peak, there);
  }
  void pass(double bytes) { peak = std::max(peak, there + bytes); }
  void remove(double bytes) { there -= bytes; }
};

/// One solve of order n on all ranks together.
template <class T>
class SolveMemory {
 public:
  SolveMemory(const Runtime& runtime, Index n, const EigensolveOptions& options)
      : runtime_(runtime),
        o_(options),
        order_(n),
        n_(static_cast<double>(n)),
        tile_(static_cast<double>(std::min(options.tile, std::max<Index>(n, 1)))),
        count_(static_cast<double>(max_vectors(n, options))) {}

  double lower() const { return sizeof(T) * n_ * (n_ + tile_) / 2; }
  double vectors() const { return sizeof(T) * n_ * count_; }

  /// The reduced matrix stays, as reflectors, with those of the chase, until they are applied.
  void two_stage(Estimate& e) const {
    const double band = static_cast<double>(o_.band), width = static_cast<double>(o_.update_width);
    e.add(threads());
    e.pass(of_tasks(reduction_tasks()) + sizeof(T) * n_ * (2 * width + 8 * band));
    e.add(sizeof(T) * n_ * 3 * band);  // the band, later the factors T
    if (!o_.vectors) return e.pass(of_tasks(chase_tasks()));
    e.add(sizeof(T) * n_ * (n_ + 2 * band) / 2 * (1 + 1 / band));
    // Submission is ahead of the reduction, whose tasks are still there in part.
    e.pass(of_tasks(reduction_tasks() / 2 + chase_tasks()));
    divide_and_conquer(e);
  }

  /// The matrix in groups of tiles, the tiles until they are packed, and the reflectors.
  void one_stage(Estimate& e) const {
    constexpr double tasks = 3;  // of a column
    const auto work_column = static_cast<double>(OneStageOptions{}.work_tile);
    e.add(threads());
    e.pass(lower() + of_tasks(tasks * n_));
    if (!o_.vectors) return;
    e.add(sizeof(T) * n_ * (n_ + work_column) / 2);
    e.pass(lower());
    e.remove(lower());
    divide_and_conquer(e);
  }

  /// On one rank: the matrix from its tiles, LAPACK's work space, the vectors.
  void vendor(Estimate& e) const {
    const bool by_value = o_.range.kind == EigenRange::Kind::value;
    const auto space = [&](bool vectors) {
      return static_cast<double>(
          lapack_eigensolve_workspace_bytes<T>(runtime_, order_, false, vectors, 0, order_));
    };
    e.add(vectors() + space(o_.vectors) + (by_value && o_.vectors ? space(false) : 0) +
          of_large(bytes_of_thread));
  }

 private:
  /// Of small problems not worth counting.
  double of_large(double bytes) const { return bytes * std::min(n_ * n_ / 1e6, 1.); }
  double of_tasks(double tasks) const { return of_large(tasks * bytes_of_task); }
  double threads() const { return of_large(bytes_of_thread * (runtime_.common_workers() + 1)); }
  /// The root's children and their rows as the root needs them, both of real type; panels and tiles of its
  /// products; the vectors.
  void divide_and_conquer(Estimate& e) const {
    constexpr double real = sizeof(RealOf<T>), panel = tile_columns_on_cpus;
    const double panels = std::min(count_, panel * (4 + 2 * runtime_.common_workers()));
    e.add(vectors());
    e.pass(real * (1.5 * n_ * n_ + n_ * panels) + of_tasks(n_));
  }
  double reduction_tasks() const {
    const double tiles = std::ceil(n_ / tile_), panels = n_ / static_cast<double>(o_.band);
    return panels * (tiles * tiles / 6 + 6 * tiles);
  }
  double chase_tasks() const {
    const double sweeps = static_cast<double>(chase_sweeps_per_task(runtime_, order_, o_.band));
    return n_ / sweeps * (n_ / (2 * static_cast<double>(o_.band) * sweeps) / 2 + 2);
  }

  const Runtime& runtime_;
  const EigensolveOptions& o_;
  Index order_;
  double n_, tile_, count_;
};

/// What a rank has of what is dealt to all: not exactly equal parts.
double share(const Runtime& runtime, double bytes) {
  constexpr double uneven = 1.25;
  return runtime.size() > 1 ? bytes / runtime.size() * uneven : bytes;
}

}  // namespace

double lower_tiles_memory(const Runtime& runtime, Index n, Index tile, std::size_t element_bytes) {
  const double order = static_cast<double>(n), side = static_cast<double>(std::min(tile, n));
  return share(runtime, static_cast<double>(element_bytes) * order * (order + side) / 2);
}

template <class T>
double eigensolve_memory(const Runtime& runtime, Index n, const EigensolveOptions& options, bool makes_factor,
                         MatrixKind vectors_to) {
  if (n == 0) return 0;
  const SolveMemory<T> memory(runtime, n, options);
  // Pieces of other ranks' vectors for tiles; a receive takes its memory when it is submitted.
  const double pieces = vectors_to == MatrixKind::tiles && runtime.size() > 1 ? memory.vectors() : 0;
  const double elsewhere = vectors_to == MatrixKind::array ? memory.vectors() : -pieces;
  if (gpu_holds_problem(runtime, n, sizeof(T))) return share(runtime, memory.vectors() - elsewhere);
  Estimate e;
  e.add(memory.lower() * (makes_factor ? 2 : 1));
  if (options.solver == Solver::vendor) {
    memory.vendor(e);
    // The root has it all; its tiles are those of all ranks.
    const double others = share(runtime, memory.lower() * (makes_factor ? 2 : 1));
    return (runtime.rank() == 0 ? e.peak : std::min(others, e.peak)) - elsewhere;
  }
  if (options.solver == Solver::one_stage)
    memory.one_stage(e);
  else
    memory.two_stage(e);
  // What GPUs hold need not be on the host, but the result is.
  const double on_gpus = runtime.gpus() * static_cast<double>(runtime.info().gpu_memory_bytes);
  return std::max(share(runtime, e.peak) - on_gpus, share(runtime, memory.vectors())) -
         share(runtime, elsewhere);
}

template <class T>
double check_eigenpairs_memory(const Runtime& runtime, Index n, Index count, bool generalized) {
  const Index tile = tile_of_check<T>(runtime);
  const double matrices = generalized ? 2 : 1;
  return matrices * (lower_tiles_memory(runtime, n, tile, sizeof(T)) +
                     share(runtime, sizeof(T) * static_cast<double>(n) * static_cast<double>(count)));
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template double eigensolve_memory<T>(const Runtime&, Index, const EigensolveOptions&, bool, MatrixKind); \
  template double check_eigenpairs_memory<T>(const Runtime&, Index, Index, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
