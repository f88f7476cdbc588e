// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <tessera/algorithms/sparse/vector_checks.hpp>
#include <tessera/codelets/sparse/multiply_csr.hpp>
#include <tessera/codelets/sparse/sum_vectors.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/sparse_matrix.hpp>

namespace tessera::detail {

namespace {

Index order_of(const CsrArrays& arrays) {
  return static_cast<Index>(arrays.begins.size()) - 1;
}

Index begin_of(const CsrArrays& arrays, Index row) {
  return arrays.begins[static_cast<std::size_t>(row)];
}

/// visit(value) for the values, of either type.
template <class Visit>
void for_values(const CsrArrays& arrays, const Visit& visit) {
  for (const double value : arrays.values) visit(std::complex<double>(value));
  for (const std::complex<double> value : arrays.complex_values) visit(value);
}

template <class V>
V value_of(const CsrArrays& arrays, Index e) {
  const auto at = static_cast<std::size_t>(e);
  if constexpr (is_complex<V>)
    return arrays.complex_values.empty() ? static_cast<V>(arrays.values[at])
                                         : static_cast<V>(arrays.complex_values[at]);
  else
    return static_cast<V>(arrays.values[at]);
}

template <class V>
void check_arrays(const CsrArrays& arrays, Index segments) {
  if (segments < 0) throw InvalidArgument("segments", fmt::format("{}", segments), "at least 0");
  if (order_of(arrays) < 1)
    throw InvalidArgument("begins", fmt::format("{} numbers", arrays.begins.size()), "at least one row");
  if (!is_complex<V> && !arrays.complex_values.empty())
    throw InvalidArgument("complex_values", fmt::format("{} numbers", arrays.complex_values.size()),
                          "none, as V is real");
  const bool complex = !arrays.complex_values.empty();
  if (complex && !arrays.values.empty())
    throw InvalidArgument("values", fmt::format("{} numbers", arrays.values.size()),
                          "none beside complex_values");
  const std::size_t count = complex ? arrays.complex_values.size() : arrays.values.size();
  if (arrays.columns.size() != count)
    throw InvalidArgument(complex ? "complex_values" : "values", fmt::format("{} numbers", count),
                          fmt::format("{}, as many as columns", arrays.columns.size()));
  if (arrays.begins.front() != 0 || !std::is_sorted(arrays.begins.begin(), arrays.begins.end()) ||
      arrays.begins.back() != static_cast<Index>(arrays.columns.size()))
    throw InvalidArgument("begins", fmt::format("from {} to {}", arrays.begins.front(), arrays.begins.back()),
                          fmt::format("ascending from 0 to {}", arrays.columns.size()));
  for (const Index column : arrays.columns)
    if (column < 0 || column >= order_of(arrays))
      throw InvalidArgument("columns", fmt::format("{}", column),
                            fmt::format("0 to {}", order_of(arrays) - 1));
  for_values(arrays, [complex](std::complex<double> value) {
    if (!std::isfinite(static_cast<RealOf<V>>(value.real())) ||
        !std::isfinite(static_cast<RealOf<V>>(value.imag())))
      throw InvalidArgument(
          complex ? "complex_values" : "values",
          complex ? fmt::format("{} + {} i", value.real(), value.imag()) : fmt::format("{}", value.real()),
          "finite values");
  });
  if (!complex) return;
  for (Index row = 0; row < order_of(arrays); ++row)
    for (Index e = begin_of(arrays, row); e < begin_of(arrays, row + 1); ++e)
      if (const auto at = static_cast<std::size_t>(e);
          arrays.columns[at] == row && arrays.complex_values[at].imag() != 0)
        throw InvalidArgument(
            "complex_values",
            fmt::format("{} i on the diagonal, row {}", arrays.complex_values[at].imag(), row),
            "a real diagonal");
}

double largest_row_sum(const CsrArrays& arrays) {
  double largest = 0;
  for (Index row = 0; row < order_of(arrays); ++row) {
    double sum = 0;
    for (Index e = begin_of(arrays, row); e < begin_of(arrays, row + 1); ++e)
      sum += std::abs(value_of<std::complex<double>>(arrays, e));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// What must be equal on all ranks; the values are not read for it.
std::uint64_t hash_of_arrays(const CsrArrays& arrays, Index segments) {
  const auto of_bytes = [](std::span<const Index> numbers) {
    return hash_of({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
  };
  return argument_hash(arrays.begins.size(), of_bytes(arrays.begins), arrays.columns.size(),
                       of_bytes(arrays.columns), segments);
}

/// Enough to keep the workers of all ranks busy, if their pieces, one for each pair of segments, then have a
/// megabyte each in the mean; but one a rank.
Index usual_segments(const Runtime& runtime, double bytes) {
  constexpr double least_bytes = 1 << 20;
  const auto of_work = static_cast<Index>(std::sqrt(bytes / least_bytes));
  return Index(runtime.size()) * std::clamp<Index>(of_work / runtime.size(), 1, 4 * runtime.common_workers());
}

/// For each segment of rows, the entries in each segment of columns.
/// @throws InvalidArgument where they are too many for a piece
std::vector<Index> count_entries(const Runtime& runtime, const CsrArrays& arrays,
                                 const RowSegments& segments) {
  std::vector<Index> counts(static_cast<std::size_t>(segments.count() * segments.count()));
  parallel_for(host_threads(runtime), segments.count(), [&](Index s, int) {
    for (Index e = begin_of(arrays, segments.begin(s)); e < begin_of(arrays, segments.end(s)); ++e)
      ++counts[static_cast<std::size_t>(s * segments.count() +
                                        segments.segment_of(arrays.columns[static_cast<std::size_t>(e)]))];
  });
  if (*std::max_element(counts.begin(), counts.end()) > std::numeric_limits<std::uint32_t>::max())
    throw InvalidArgument("segments", fmt::format("{}", segments.count()),
                          "more: a piece has 2^32 entries or more");
  return counts;
}

/// Where a piece's parts are, while it is filled.
template <class V>
struct PieceMemory {
  std::uint32_t* begins = nullptr;
  V* values = nullptr;
  std::uint32_t* columns = nullptr;
  std::uint32_t next = 0;
};

/// Deals the rows of a segment to its pieces, one for each segment of columns (or none).
template <class V>
void fill_rows(const CsrArrays& arrays, const RowSegments& segments, Index s,
               std::vector<PieceMemory<V>>& pieces) {
  for (Index row = segments.begin(s); row < segments.end(s); ++row) {
    const auto note_begins = [&](Index at) {
      for (PieceMemory<V>& piece : pieces)
        if (piece.begins) piece.begins[at] = piece.next;
    };
    note_begins(row - segments.begin(s));
    for (Index e = begin_of(arrays, row); e < begin_of(arrays, row + 1); ++e) {
      const Index column = arrays.columns[static_cast<std::size_t>(e)], t = segments.segment_of(column);
      PieceMemory<V>& piece = pieces[static_cast<std::size_t>(t)];
      piece.values[piece.next] = value_of<V>(arrays, e);
      piece.columns[piece.next++] = static_cast<std::uint32_t>(column - segments.begin(t));
    }
    note_begins(row + 1 - segments.begin(s));
  }
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class V, class T>
struct CsrMatrix<V, T>::Piece {
  Index row, column;  ///< segments
  CsrPieceShape shape;
  Data data;
};

template <class V, class T>
CsrMatrix<V, T> CsrMatrix<V, T>::build(Runtime& runtime, const CsrArrays& arrays, Index segments) {
  // One rank alone has no other to differ from.
  const std::uint64_t hash = runtime.size() > 1 ? hash_of_arrays(arrays, segments) : 0;
  return collectively(
      runtime, "CsrMatrix::build", hash, [&] { check_arrays<V>(arrays, segments); },
      [&] { return made_of(runtime, arrays, segments); });
}

template <class V, class T>
CsrMatrix<V, T> CsrMatrix<V, T>::made_of(Runtime& runtime, const CsrArrays& arrays, Index segments) {
  CsrMatrix matrix;
  matrix.entries_ = static_cast<Index>(arrays.columns.size());
  matrix.norm_ = largest_row_sum(arrays);
  const double bytes = static_cast<double>(matrix.entries_) * (sizeof(V) + 4);
  matrix.segments_ =
      RowSegments::even(runtime, order_of(arrays), segments > 0 ? segments : usual_segments(runtime, bytes));
  matrix.pieces_ = std::make_shared<std::vector<Piece>>();
  const RowSegments& cut = *matrix.segments_;
  const Index count = cut.count();
  std::vector<Index> entries;
  agree(runtime, 0, [&] { entries = count_entries(runtime, arrays, cut); });

  // Tasks one after the other belong to different rows.
  for (Index distance = 0; distance < count; ++distance)
    for (Index s = 0; s < count; ++s) {
      const Index t = (s + distance) % count, here = entries[static_cast<std::size_t>(s * count + t)];
      if (here == 0) continue;
      const Index size = csr_piece_sizes(cut.size(s), here, sizeof(V)).total;
      matrix.pieces_->push_back(
          {s, t, {cut.size(s), here}, Data::bytes(runtime, static_cast<std::size_t>(size), cut.owner(s))});
    }
  std::vector<std::vector<PieceMemory<V>>> memory(static_cast<std::size_t>(count));
  std::vector<std::unique_ptr<HostAccess>> accesses;
  for (const Piece& piece : *matrix.pieces_) {
    if (!piece.data.local()) continue;
    accesses.push_back(std::make_unique<HostAccess>(piece.data, HostAccess::Mode::write));
    std::byte* const bytes_of_piece = accesses.back()->array<std::byte>().data();
    const CsrPieceSizes sizes = csr_piece_sizes(piece.shape.rows, piece.shape.entry_count, sizeof(V));
    auto& of_rows = memory[static_cast<std::size_t>(piece.row)];
    of_rows.resize(static_cast<std::size_t>(count));
    of_rows[static_cast<std::size_t>(piece.column)] = {
        reinterpret_cast<std::uint32_t*>(bytes_of_piece),
        reinterpret_cast<V*>(bytes_of_piece + sizes.values_offset),
        reinterpret_cast<std::uint32_t*>(bytes_of_piece + sizes.columns_offset)};
  }
  parallel_for(host_threads(runtime), count, [&](Index s, int) {
    auto& of_rows = memory[static_cast<std::size_t>(s)];
    if (!of_rows.empty()) fill_rows<V>(arrays, cut, s, of_rows);
  });
  return matrix;
}

template <class V, class T>
void CsrMatrix<V, T>::apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                            Index columns) const {
  collectively(
      sequence.runtime(), "CsrMatrix::apply", argument_hash(columns),
      [&] { check_operands(*segments_, x, y, columns); }, [&] { submit(sequence, x, y, columns); });
}

template <class V, class T>
void CsrMatrix<V, T>::submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                             Index columns) const {
  sequence.keep(pieces_);
  for (Index s = 0; s < segments_->count(); ++s) y.segment(s).forget();
  std::vector<bool> touched(static_cast<std::size_t>(segments_->count()), false);
  for (const Piece& piece : *pieces_) {
    sequence.insert(MultiplyCsr<V, T>{.piece = piece.data,
                                      .x = x.segment(piece.column),
                                      .y = y.segment(piece.row),
                                      .shape = piece.shape,
                                      .columns = static_cast<int>(columns)});
    touched[static_cast<std::size_t>(piece.row)] = true;
  }
  for (Index s = 0; s < segments_->count(); ++s)
    if (!touched[static_cast<std::size_t>(s)])
      sequence.insert(
          SumVectors<T>{.y = y.segment(s), .columns = static_cast<int>(columns), .rows = segments_->size(s)},
          {.gpu = segments_->gpu(s)});
  for (Index s = 0; s < x.count(); ++s) x.segment(s).flush_remote_copies();
}

#define TESSERA_INSTANTIATE(V, T) template class CsrMatrix<V, T>;
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)

}  // namespace tessera
