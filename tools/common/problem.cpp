// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "problem.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include <fmt/format.h>

#include <tessera/algorithms/dense/eigensolve_memory.hpp>
#include <tessera/error.hpp>
#include <tessera/matgen.hpp>
#include <tessera/matrix_market.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/runtime/require_memory.hpp>

#include "machine_limits.hpp"

namespace tessera::program {
using namespace detail;

namespace {

/// Calls visit(i, j) for the tiles that this rank holds.
template <class T, class Visit>
void for_local_tiles(const TiledMatrix<T>& matrix, const Visit& visit) {
  for (Index j = 0; j < matrix.col_tiles(); ++j)
    for (Index i = j; i < matrix.row_tiles(); ++i)
      if (matrix.tile(i, j).local()) visit(i, j);
}

/// Calls work(begin, end, part) for equal parts of [0, columns), one on each thread. The workers
/// are paused meanwhile.
template <class Work>
void in_stripes(Index columns, int parts, const Work& work) {
  parallel_for(parts, parts, [&](Index part, int) {
    work(columns * part / parts, columns * (part + 1) / parts, static_cast<int>(part));
  });
}
int stripes_for(const Runtime& runtime, Index rows, Index columns) {
  constexpr Index worthwhile = 1 << 16;
  return static_cast<int>(std::clamp<Index>(rows * columns / worthwhile, 1, cpu_threads(runtime)));
}

template <class T>
T random_element(std::uint64_t seed, Index i, Index j) {
  const auto real = static_cast<RealOf<T>>(random_uniform(seed, 0, i, j));
  if constexpr (is_complex<T>)
    return {real, static_cast<RealOf<T>>(random_uniform(seed, 1, i, j))};
  else
    return real;
}

/// Reads a file into the tiles of this rank. All of the tiles stay acquired while the file is read
/// sequentially.
template <class T>
void read_into(const TiledMatrix<T>& matrix, MatrixMarketReader& reader) {
  const Index tile = matrix.layout().tile_rows, tiles = matrix.row_tiles();
  std::vector<std::unique_ptr<HostAccess>> open(static_cast<std::size_t>(tiles * tiles));
  std::vector<MatrixView<T>> views(open.size());
  for_local_tiles(matrix, [&](Index i, Index j) {
    const auto k = static_cast<std::size_t>(i + j * tiles);
    open[k] = std::make_unique<HostAccess>(matrix.tile(i, j), HostAccess::Mode::write);
    views[k] = open[k]->template matrix<T>();
    for (Index c = 0; c < views[k].cols; ++c) std::fill_n(&views[k](0, c), views[k].rows, T(0));
  });
  read_hermitian<T>(reader, [&](Index i, Index j) -> T* {
    const MatrixView<T>& view = views[static_cast<std::size_t>(i / tile + (j / tile) * tiles)];
    return view.data ? &view(i % tile, j % tile) : nullptr;
  });
}

/// One-norm, trace and Frobenius norm of the lower tiles; collective.
template <class T>
void measure(Runtime& runtime, HermitianProblem<T>& problem) {
  const TiledMatrix<T>& matrix = problem.matrix;
  const Index n = matrix.rows(), tile = matrix.layout().tile_rows;
  std::vector<double> total(static_cast<std::size_t>(n + 2));
  for_local_tiles(matrix, [&](Index ti, Index tj) {
    const HostAccess access(matrix.tile(ti, tj), HostAccess::Mode::read);
    const MatrixView<T> view = access.matrix<T>();
    const int parts = stripes_for(runtime, view.rows, view.cols);
    std::vector<std::vector<double>> partial(static_cast<std::size_t>(parts));
    in_stripes(view.cols, parts, [&](Index begin, Index end, int part) {
      std::vector<double> sums(total.size());
      double &trace = sums[n], &square = sums[n + 1];
      for (Index c = begin; c < end; ++c) {
        const Index j = tj * tile + c;
        for (Index r = ti == tj ? c : 0; r < view.rows; ++r) {
          const Index i = ti * tile + r;
          const double modulus = std::abs(std::complex<double>(view(r, c)));
          sums[j] += modulus;
          square += (i == j ? 1 : 2) * modulus * modulus;
          if (i == j)
            trace += static_cast<double>(real_part(view(r, c)));
          else
            sums[i] += modulus;
        }
      }
      partial[static_cast<std::size_t>(part)] = std::move(sums);
    });
    for (const auto& sums : partial)
      for (std::size_t k = 0; k < total.size(); ++k) total[k] += sums[k];
  });
  runtime.all_reduce_sum(total.data(), n + 2);
  problem.trace = total[n];
  problem.square = total[n + 1];
  problem.norm = n > 0 ? *std::max_element(total.begin(), total.begin() + n) : 0;
}

}  // namespace

ProcessGrid process_grid(const Runtime& runtime, const GridOption& option) {
  if (option.rows == 0) return ProcessGrid::squarest(runtime.size());
  if (option.rows * option.cols > runtime.size())
    throw InvalidArgument("--grid", fmt::format("{}x{}", option.rows, option.cols),
                          fmt::format("at most {} processes, as many as were started", runtime.size()));
  return {option.rows, option.cols};
}

Index input_tile(const Runtime& runtime, Index n, Index wanted) {
  if (wanted > 0) return wanted;
  if (runtime.gpus() == 0) return std::clamp<Index>(ceil_div(n, 8), 32, 512);
  // For one GPU: copies of one large tile are as fast as of many small ones, with fewer waits
  // between them.
  return std::clamp<Index>(runtime.gpus() == 1 ? n : ceil_div(n, 8), 32, 4096);
}

template <class T>
void fill(const Runtime& runtime, const TiledMatrix<T>& matrix, const MatrixSource& source) {
  const auto generator = MatrixGenerator<T>::make(source.kind, source.n, source.seed, source.scale);
  const Index tile = matrix.layout().tile_rows;
  for_local_tiles(matrix, [&](Index i, Index j) {
    const HostAccess access(matrix.tile(i, j), HostAccess::Mode::write);
    const MatrixView<T> view = access.matrix<T>();
    in_stripes(view.cols, stripes_for(runtime, view.rows, view.cols), [&](Index begin, Index end, int) {
      generator.fill(i * tile, j * tile + begin, view.rows, end - begin, &view(0, begin), view.ld);
    });
  });
}

template <class T>
void fill_general(const TiledMatrix<T>& matrix, std::uint64_t seed) {
  const TileLayout& layout = matrix.layout();
  for (Index tj = 0; tj < matrix.col_tiles(); ++tj)
    for (Index ti = 0; ti < matrix.row_tiles(); ++ti) {
      if (!matrix.tile(ti, tj).local()) continue;
      const HostAccess access(matrix.tile(ti, tj), HostAccess::Mode::write);
      const MatrixView<T> view = access.matrix<T>();
      for (Index j = 0; j < view.cols; ++j)
        for (Index i = 0; i < view.rows; ++i)
          view(i, j) = random_element<T>(seed, ti * layout.tile_rows + i, tj * layout.tile_cols + j);
    }
}

template <class T>
HermitianProblem<T> load(Session& session, const MatrixSource& source, const ProcessGrid& grid, Index tile) {
  Runtime& runtime = session.runtime();
  HermitianProblem<T> problem;
  std::optional<MatrixMarketReader> reader;
  Index n = source.n;
  session.together([&] {
    if (source.file.empty()) return;
    reader.emplace(source.file);
    require_hermitian_header<T>(*reader);
    n = reader->header().rows;
  });
  const Index size = input_tile(runtime, n, tile);
  require_memory(runtime, source.file.empty() ? "the matrix" : "the matrix of " + source.file,
                 lower_tiles_memory(runtime, n, size, sizeof(T)));
  session.together([&] {
    problem.matrix = TiledMatrix<T>(runtime, {n, n, size, size, grid, Uplo::lower});
    if (reader)
      read_into(problem.matrix, *reader);
    else
      fill(runtime, problem.matrix, source);
  });
  if (source.file.empty())
    problem.exact_eigenvalues =
        MatrixGenerator<T>::make(source.kind, source.n, source.seed, source.scale).exact_eigenvalues();
  measure(runtime, problem);
  problem.matrix.prefetch();
  return problem;
}

template <class T>
std::vector<T> gather_lower(const Runtime& runtime, const TiledMatrix<T>& matrix) {
  const Index n = matrix.rows(), tile = matrix.layout().tile_rows;
  std::vector<T> a(static_cast<std::size_t>(n * n));
  for_local_tiles(matrix, [&](Index i, Index j) {
    const HostAccess access(matrix.tile(i, j), HostAccess::Mode::read);
    const MatrixView<T> view = access.matrix<T>();
    in_stripes(view.cols, stripes_for(runtime, view.rows, view.cols), [&](Index begin, Index end, int) {
      for (Index c = begin; c < end; ++c)
        std::copy_n(&view(0, c), view.rows, &a[static_cast<std::size_t>(i * tile + (j * tile + c) * n)]);
    });
  });
  return a;
}

template <class T>
ColumnSlabs<T> random_slabs(Runtime& runtime, Index rows, Index cols, Index width, std::uint64_t seed) {
  ColumnSlabs<T> slabs(runtime, rows, cols, width);
  for (Index s = 0; s < slabs.count(); ++s) {
    if (!slabs.slab(s).local()) continue;
    const HostAccess access(slabs.slab(s), HostAccess::Mode::write);
    const MatrixView<T> view = access.matrix<T>();
    for (Index j = 0; j < view.cols; ++j)
      for (Index i = 0; i < view.rows; ++i) {
        const Index column = slabs.first_col(s) + j;
        view(i, j) = static_cast<RealOf<T>>(random_uniform(seed, 0, i, column));
        if constexpr (is_complex<T>)
          view(i, j) += T(0, static_cast<RealOf<T>>(random_uniform(seed, 1, i, column)));
      }
  }
  return slabs;
}

template <class T>
std::vector<T> gather_slab(Runtime& runtime, const ColumnSlabs<T>& slabs, Index s) {
  const Index rows = slabs.rows(), cols = slabs.slab_cols(s);
  std::vector<T> columns(static_cast<std::size_t>(rows * cols));
  if (slabs.slab(s).local()) {
    const HostAccess access(slabs.slab(s), HostAccess::Mode::read);
    const MatrixView<T> view = access.matrix<T>();
    for (Index j = 0; j < cols; ++j)
      std::copy_n(&view(0, j), rows, &columns[static_cast<std::size_t>(j * rows)]);
  }
  runtime.broadcast(columns.data(), rows * cols * static_cast<Index>(sizeof(T)), slabs.owner(s));
  return columns;
}

template <class T>
double squared_norm(Runtime& runtime, const ColumnSlabs<T>& slabs) {
  double sum = 0;
  for (Index s = 0; s < slabs.count(); ++s) {
    if (!slabs.slab(s).local()) continue;
    const HostAccess access(slabs.slab(s), HostAccess::Mode::read);
    const MatrixView<T> view = access.matrix<T>();
    for (Index j = 0; j < view.cols; ++j)
      for (Index i = 0; i < view.rows; ++i) sum += std::norm(std::complex<double>(view(i, j)));
  }
  runtime.all_reduce_sum(&sum, 1);
  return sum;
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template HermitianProblem<T> load<T>(Session&, const MatrixSource&, const ProcessGrid&, Index); \
  template void fill<T>(const Runtime&, const TiledMatrix<T>&, const MatrixSource&);              \
  template void fill_general<T>(const TiledMatrix<T>&, std::uint64_t);                            \
  template std::vector<T> gather_lower<T>(const Runtime&, const TiledMatrix<T>&);                 \
  template ColumnSlabs<T> random_slabs<T>(Runtime&, Index, Index, Index, std::uint64_t);          \
  template std::vector<T> gather_slab<T>(Runtime&, const ColumnSlabs<T>&, Index);                 \
  template double squared_norm<T>(Runtime&, const ColumnSlabs<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
