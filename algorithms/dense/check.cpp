// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include <tessera/algorithms/dense/check.hpp>
#include <tessera/algorithms/dense/redistribute.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/codelets/dense/check.hpp>

namespace tessera::detail {

namespace {

/// Pieces of sums with the place of each in the whole vector.
struct SumPiece {
  Data data;
  Index first;
};

Data sums_piece(Runtime& runtime, Index count, int owner) {
  return Data::bytes(runtime, sizeof(double) * static_cast<std::size_t>(count), owner);
}

/// The largest entry of the vector that the pieces of all ranks add up to; NaN if any is.
double largest_sum(Runtime& runtime, const std::vector<SumPiece>& pieces, Index n) {
  std::vector<double> sums(static_cast<std::size_t>(n), 0.0);
  for (const SumPiece& piece : pieces) {
    if (!piece.data.local()) continue;
    const HostAccess access(piece.data, HostAccess::Mode::read);
    const auto values = access.array<const double>();
    for (std::size_t k = 0; k < values.size(); ++k)
      sums[static_cast<std::size_t>(piece.first) + k] += values[k];
  }
  runtime.all_reduce_sum(sums.data(), n);
  double largest = 0;
  for (double sum : sums) largest = std::isnan(sum) ? sum : std::max(largest, sum);
  return largest;
}

/// A Hermitian matrix copied to lower tiles.
template <class T>
TiledMatrix<T> lower_copy(Sequence& sequence, const TiledMatrix<T>& a, const Data& scale) {
  Runtime& runtime = sequence.runtime();
  const Index tile = tile_of_check<T>(runtime);
  TiledMatrix<T> copy(runtime,
                      {a.rows(), a.rows(), tile, tile, ProcessGrid::squarest(runtime.size()), Uplo::lower});
  copy_hermitian(sequence, a, scale, copy);
  return copy;
}

template <class T>
ColumnSlabs<T> times(Sequence& sequence, const TiledMatrix<T>& a, const ColumnSlabs<T>& z) {
  ColumnSlabs<T> y(sequence.runtime(), z.rows(), z.cols(), z.width());
  const Index tile = a.layout().tile_rows;
  for (Index j = 0; j < a.col_tiles(); ++j)
    for (Index i = j; i < a.row_tiles(); ++i)
      for (Index s = 0; s < z.count(); ++s)
        sequence.insert(HermitianTimesSlab<T>{
            .a = a.tile(i, j), .x = z.slab(s), .y = y.slab(s), .row0 = i * tile, .col0 = j * tile});
  return y;
}

/// 1-norm of R - Y diag(values), or of R.
template <class T>
double norm_of_columns(Runtime& runtime, const ColumnSlabs<T>& r, const ColumnSlabs<T>* y,
                       const Data* values) {
  Sequence sequence(runtime);
  std::vector<SumPiece> pieces;
  for (Index s = 0; s < r.count(); ++s) {
    pieces.push_back({sums_piece(runtime, r.slab_cols(s), r.owner(s)), r.first_col(s)});
    sequence.insert(AbsoluteColumnSums<T>{.r = r.slab(s),
                                          .y = y ? &y->slab(s) : nullptr,
                                          .values = values,
                                          .sums = pieces.back().data,
                                          .first = r.first_col(s)});
  }
  sequence.wait();
  return largest_sum(runtime, pieces, r.cols());
}

/// 1-norm of I - X^H Y (row sums: the matrix is Hermitian up to rounding).
template <class T>
double distance_from_orthogonal(Runtime& runtime, const ColumnSlabs<T>& x, const ColumnSlabs<T>& y) {
  Sequence sequence(runtime);
  // Products of a slab with some columns of another: 2 GiB at most, less where the memory is short.
  const Index bytes = std::min<Index>(Index(2) << 30, task_memory(runtime) / 2);
  const Index column_bytes = x.width() * static_cast<Index>(sizeof(T));
  const Data workspace = Data::scratch(
      runtime,
      static_cast<std::size_t>(column_bytes * std::clamp<Index>(bytes / column_bytes, 1, x.width())));
  std::vector<SumPiece> pieces;
  for (Index j = 0; j < x.count(); ++j)
    for (Index k = 0; k < x.count(); ++k) {
      pieces.push_back({sums_piece(runtime, x.slab_cols(k), y.owner(j)), x.first_col(k)});
      sequence.insert(AbsoluteInnerSums<T>{
          .x = x.slab(k), .y = y.slab(j), .sums = pieces.back().data, .work = workspace, .same = j == k});
    }
  sequence.wait();
  return largest_sum(runtime, pieces, x.cols());
}

template <class T>
double norm_of_lower(Runtime& runtime, const TiledMatrix<T>& a) {
  Sequence sequence(runtime);
  std::vector<SumPiece> pieces;
  const Index tile = a.layout().tile_rows;
  for (Index j = 0; j < a.col_tiles(); ++j)
    for (Index i = j; i < a.row_tiles(); ++i) {
      const Index count = i == j ? a.tile_cols(j) : a.tile_cols(j) + a.tile_rows(i);
      pieces.push_back({sums_piece(runtime, count, a.owner(i, j)), j * tile});
      sequence.insert(AbsoluteTileSums<T>{.a = a.tile(i, j), .sums = pieces.back().data, .diagonal = i == j});
    }
  sequence.wait();
  // The second part of a piece belongs to the tile's rows.
  std::vector<double> sums(static_cast<std::size_t>(a.rows()), 0.0);
  std::size_t k = 0;
  for (Index j = 0; j < a.col_tiles(); ++j)
    for (Index i = j; i < a.row_tiles(); ++i, ++k) {
      if (!pieces[k].data.local()) continue;
      const HostAccess access(pieces[k].data, HostAccess::Mode::read);
      const auto values = access.array<const double>();
      for (Index c = 0; c < a.tile_cols(j); ++c)
        sums[static_cast<std::size_t>(j * tile + c)] += values[static_cast<std::size_t>(c)];
      for (Index r = 0; i != j && r < a.tile_rows(i); ++r)
        sums[static_cast<std::size_t>(i * tile + r)] += values[static_cast<std::size_t>(a.tile_cols(j) + r)];
    }
  runtime.all_reduce_sum(sums.data(), a.rows());
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

template <class T>
EigenCheck check_pairs(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b,
                       std::span<const RealOf<T>> values, const ColumnSlabs<T>& z) {
  EigenCheck check;
  const double scale = static_cast<double>(std::max<Index>(a.rows(), 1)) * precision<T>;
  ColumnSlabs<T> az, bz;
  std::vector<RealOf<T>> scaled_values(values.begin(), values.end());
  scaled_values.resize(std::max<std::size_t>(values.size(), 1));
  double factor = 1;
  {
    Sequence sequence(runtime);
    // A scaled to the size of one: the products cannot overflow where the solver did not. B Z is of the size
    // of sqrt(B).
    const Data scale_a = check_and_scale<T>(sequence, a);
    const TiledMatrix<T> lower_a = lower_copy(sequence, a, scale_a);
    az = times(sequence, lower_a, z);
    TiledMatrix<T> lower_b;
    if (b) {
      lower_b = lower_copy(sequence, *b, unit_scale<T>(sequence));
      bz = times(sequence, lower_b, z);
    }
    sequence.wait();
    factor = HostAccess(scale_a, HostAccess::Mode::read).template array<const RealOf<T>>()[0];
    check.norm_a = norm_of_lower(runtime, lower_a) / factor;
    if (b) check.norm_b = norm_of_lower(runtime, lower_b);
  }
  for (RealOf<T>& value : scaled_values) value *= static_cast<RealOf<T>>(factor);
  const Data lambda = Data::wrap_bytes(runtime, scaled_values.data(),
                                       sizeof(RealOf<T>) * scaled_values.size(), Data::every_rank);
  if (z.count() == 0) return check;
  const double norm_a = check.norm_a > 0 ? check.norm_a * factor : 1;
  check.residual = norm_of_columns(runtime, az, b ? &bz : &z, &lambda) / (scale * norm_a);
  az.release();
  check.orthogonality = distance_from_orthogonal(runtime, z, b ? bz : z) / scale;
  if (b) {
    const double norm_z = norm_of_columns<T>(runtime, z, nullptr, nullptr);
    check.residual /= norm_z;
    check.orthogonality /= check.norm_b * norm_z * norm_z;
  }
  return check;
}

}  // namespace

template <class T>
Index tile_of_check(const Runtime& runtime) noexcept {
  return runtime.gpus() > 0 ? std::clamp<Index>(square_of(task_elements<T>(runtime) / 8), 1, 4096) : 256;
}

template <class T>
double hermitian_norm(Runtime& runtime, const TiledMatrix<T>& a) {
  return collectively(runtime, "hermitian_norm", hash_of(a), [&] {
    Sequence sequence(runtime);
    const Data scale = check_and_scale<T>(sequence, a);
    const TiledMatrix<T> copy = lower_copy(sequence, a, scale);
    sequence.wait();
    return norm_of_lower(runtime, copy) /
           HostAccess(scale, HostAccess::Mode::read).template array<const RealOf<T>>()[0];
  });
}

template <class T>
EigenCheck check_eigenpairs(Runtime& runtime, const TiledMatrix<T>& a, const TiledMatrix<T>* b,
                            std::span<const RealOf<T>> values, const ColumnSlabs<T>& z) {
  const auto check = [&] {
    require_rows("z", z, a.rows());
    if (z.count() > 0 && static_cast<Index>(values.size()) != z.cols())
      throw InvalidArgument("values", std::to_string(values.size()) + " values",
                            "one for each of the " + std::to_string(z.cols()) + " vectors");
    if (b && b->rows() != a.rows())
      throw InvalidArgument("b", std::to_string(b->rows()) + " rows",
                            std::to_string(a.rows()) + " rows, as a");
  };
  const std::uint64_t arguments = argument_hash(hash_of(a), b ? hash_of(*b) : 0, values.size(), hash_of(z));
  return collectively(runtime, "check_eigenpairs", arguments, check,
                      [&] { return check_pairs<T>(runtime, a, b, values, z); });
}

template <class R>
double check_values(std::span<const R> values, std::span<const R> reference, Index n, double norm_a) {
  double largest = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double difference = std::abs(double(values[k]) - double(reference[k]));
    largest = std::isnan(difference) ? difference : std::max(largest, difference);
  }
  return largest /
         (static_cast<double>(std::max<Index>(n, 1)) * (norm_a > 0 ? norm_a : 1) * double(precision<R>));
}

#define TESSERA_INSTANTIATE(T)                                                                    \
  template Index tile_of_check<T>(const Runtime&) noexcept;                                       \
  template double hermitian_norm<T>(Runtime&, const TiledMatrix<T>&);                             \
  template EigenCheck check_eigenpairs<T>(Runtime&, const TiledMatrix<T>&, const TiledMatrix<T>*, \
                                          std::span<const RealOf<T>>, const ColumnSlabs<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
template double check_values<float>(std::span<const float>, std::span<const float>, Index, double);
template double check_values<double>(std::span<const double>, std::span<const double>, Index, double);

}  // namespace tessera::detail
