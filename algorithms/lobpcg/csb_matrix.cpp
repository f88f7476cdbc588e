// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include <tessera/algorithms/lobpcg/csb_order.hpp>
#include <tessera/algorithms/lobpcg/csb_pieces.hpp>
#include <tessera/algorithms/lobpcg/family_orders.hpp>
#include <tessera/algorithms/lobpcg/vector_checks.hpp>
#include <tessera/codelets/csb/csb_index.hpp>
#include <tessera/codelets/csb/csb_magnitudes.hpp>
#include <tessera/codelets/csb/sum_vectors.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera {
namespace {

/// On GPUs as few pieces as possible: rows of Y are worked on together that have rows of X in common, and a
/// piece has a part of either only. But a matrix that GPUs do not hold moves through them piece by piece; a
/// piece's index is about twice as large.
Index usual_piece_bytes(const Runtime& runtime) {
  constexpr Index on_cpus = Index(768) << 20;
  return std::max(on_cpus, runtime.info().gpu_memory_bytes / 8);
}

/// A piece and what its task does. A piece of a domain that is not a segment's home adds to a partial sum of
/// y.
struct Piece {
  CsbPieceContents contents;
  Data data, index;
  Index row_partial = -1, column_partial = -1;  ///< -1: y itself
  bool overwrite_rows = false, overwrite_columns = false;
  bool has_task = true;  ///< not diagonal tiles that the task of another piece multiplies

  /// Its index has the segment's diagonal tiles, too, and its task multiplies them.
  bool has_tiles() const noexcept { return contents.shape.more_entries > 0; }
};
/// The contributions of a domain to a segment of y.
struct Partial {
  Index segment;
  int domain;
};

/// A segment of x of this rank that one of its GPUs reads and another one is home to.
struct Visit {
  Index segment;
  int gpu;
};

/// Tasks in this order: diagonal tiles, pairs of segments that are at home in the piece's domain, which need
/// nothing from others, and then the other pairs; all in the order of a tournament. Groups meet first: (I +
/// J) modulo their number is the same for pairs that have no group in common. So do the segments of two
/// groups. Tasks that are in flight together thus touch different segments of y.
auto tournament_order(const CsbPartition& partition, const CsbPieceContents& piece) {
  const auto group_sizes = [&](Index group) {
    return partition.groups[static_cast<std::size_t>(group) + 1] -
           partition.groups[static_cast<std::size_t>(group)];
  };
  const Index row_group = partition.group_of(piece.row), column_group = partition.group_of(piece.column);
  const Index row = piece.row - partition.groups[static_cast<std::size_t>(row_group)],
              column = piece.column - partition.groups[static_cast<std::size_t>(column_group)];
  const Index round = (row_group + column_group) % partition.group_count(),
              round_of_segments =
                  (row + column) % std::max(group_sizes(row_group), group_sizes(column_group));
  const auto at_home = [&](Index segment) {
    return partition.home[static_cast<std::size_t>(segment)] == piece.domain;
  };
  const bool waits = !at_home(piece.row) || !at_home(piece.column);
  return std::tuple(!piece.diagonal_tiles, waits, round, round_of_segments, piece.row, piece.column);
}

}  // namespace

template <class V, class T>
struct CsbMatrix<V, T>::Detail {
  Detail(Runtime& owner, CsbPartition cut) : runtime(owner), partition(std::move(cut)) {}

  Runtime& runtime;
  CsbPartition partition;
  std::vector<Piece> pieces;      ///< in the order of their tasks
  std::vector<Partial> partials;  ///< by segment, then by domain
  std::vector<bool> direct;       ///< whether some piece writes the segment of y itself
  std::vector<Visit> visits;
  std::vector<DiagonalTiles> tiles;
  Index entries = 0;
  double stored_bytes = 0, index_bytes = 0, norm = 0;
  /// The partial sums of the last product, without contents, for the next one with as many columns.
  std::vector<Data> partial_data;
  Index partial_columns = 0;

  void exchange(const std::vector<CsbPieceContents>& mine);
  Piece* tiles_of(Index segment);
  void unite_tiles();
  void build_indices(const SymmetricRows& rows);
  template <class Sum>
  void order_pieces(const Sum& sum);
  void plan();
  void note_visits();
  void note_tiles();
  template <class U>
  std::vector<Data> make_partials(Index columns) const;
  template <class U, class Insert>
  void sum_products(Sequence& sequence, const BlockVectors<U>& y, Index columns,
                    const std::vector<Data>& partial, const Insert& insert) const;
  void bound_norm();
};

/// Makes the handles of all pieces of all ranks, everywhere in the same order.
template <class V, class T>
void CsbMatrix<V, T>::Detail::exchange(const std::vector<CsbPieceContents>& mine) {
  for (const std::vector<std::byte>& bytes : runtime.all_gather(std::as_bytes(std::span(mine)))) {
    std::vector<CsbPieceContents> contents(bytes.size() / sizeof(CsbPieceContents));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(contents.data()), bytes.data(), bytes.size());
    for (const CsbPieceContents& c : contents) {
      const Index size = csb_piece_sizes(c.shape.block_count, c.shape.entry_count, sizeof(V)).total;
      pieces.push_back(
          {c, Data::bytes(runtime, static_cast<std::size_t>(size), partition.rank_of(c.domain)), {}});
      entries += c.shape.entry_count;
      stored_bytes += static_cast<double>(size);
    }
  }
}

template <class V, class T>
Piece* CsbMatrix<V, T>::Detail::tiles_of(Index segment) {
  const auto found = std::find_if(pieces.begin(), pieces.end(), [segment](const Piece& piece) {
    return piece.contents.diagonal_tiles && piece.contents.row == segment;
  });
  return found == pieces.end() ? nullptr : &*found;
}

/// Where only GPUs multiply, a segment's diagonal tiles are multiplied with the first piece between its rows:
/// they have rows of X in common.
template <class V, class T>
void CsbMatrix<V, T>::Detail::unite_tiles() {
  if (runtime.gpus() == 0) return;
  for (Piece& piece : pieces) {
    const CsbPieceContents& c = piece.contents;
    if (c.diagonal_tiles || c.row != c.column) continue;
    Piece* const tiles = tiles_of(c.row);
    if (tiles == nullptr || !tiles->has_task || tiles->contents.domain != c.domain) continue;
    piece.contents.shape.more_entries = tiles->contents.shape.entry_count;
    tiles->has_task = false;
  }
}

/// Makes and fills the indices of all pieces where GPUs take part; the pieces are still in the order of
/// exchange.
template <class V, class T>
void CsbMatrix<V, T>::Detail::build_indices(const SymmetricRows& rows) {
  if (!runtime.any_gpus()) return;
  for (Piece& piece : pieces)
    piece.contents.shape.index_in_two_passes = !piece.contents.diagonal_tiles && rows.families(0).has_value();
  std::vector<Piece*> mine;
  std::vector<CsbIndexBuilder<V>> builders;
  std::vector<std::int64_t> sizes;
  agree(runtime, 0, [&] {
    std::size_t bytes = 0;
    for (Piece& piece : pieces)
      if (piece.data.local()) {
        mine.push_back(&piece);
        constexpr Index by_rows = 2 * (sizeof(V) + 4);  // what a builder holds, an entry
        const CsbPieceShape& shape = piece.contents.shape;
        bytes +=
            static_cast<std::size_t>(csb_piece_sizes(shape.block_count, shape.entry_count, sizeof(V)).total +
                                     by_rows * (shape.entry_count + shape.more_entries));
      }
    require_host_memory("the matrix by rows", bytes);
    const RowSegments& segments = *partition.segments;
    std::vector<FamilyOrders> orders;
    for (Index s = 0; s < segments.count(); ++s)
      orders.emplace_back(rows, segments.begin(s), segments.end(s));
    for (const Piece* piece : mine) {
      const CsbPieceContents& c = piece->contents;
      std::deque<HostAccess> accesses;
      std::vector<CsbPieceView<V>> parts;
      const auto add_part = [&](const Piece& part) {
        const CsbPieceShape& shape = part.contents.shape;
        accesses.emplace_back(part.data, HostAccess::Mode::read);
        parts.push_back(csb_view<V>(accesses.back().template array<const std::byte>().data(),
                                    shape.block_count, shape.entry_count, shape.on_diagonal));
      };
      add_part(*piece);
      if (piece->has_tiles()) add_part(*tiles_of(c.row));
      builders.emplace_back(parts, segments.size(c.row), segments.size(c.column),
                            // A diagonal tile's rows stand together as they are.
                            c.diagonal_tiles ? CsbOrders{}
                                             : CsbOrders{orders[static_cast<std::size_t>(c.row)],
                                                         orders[static_cast<std::size_t>(c.column)]},
                            host_threads(runtime));
      sizes.push_back(builders.back().header().total);
      bytes += static_cast<std::size_t>(sizes.back());
    }
    require_host_memory("the matrix with its index for GPUs", bytes);
  });
  std::size_t next = 0;
  for (const std::vector<std::byte>& bytes : runtime.all_gather(std::as_bytes(std::span(sizes))))
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int64_t), ++next) {
      std::int64_t size = 0;
      std::memcpy(&size, bytes.data() + at, sizeof(size));
      pieces[next].index = Data::bytes(runtime, static_cast<std::size_t>(size),
                                       partition.rank_of(pieces[next].contents.domain));
      index_bytes += static_cast<double>(size);
    }
  agree(runtime, 0, [&] {
    for (std::size_t p = 0; p < mine.size(); ++p) {
      const CsbIndexBuilder<V> builder = std::move(builders[p]);  // whose memory the next ones may need
      const HostAccess index(mine[p]->index, HostAccess::Mode::write);
      builder.write(index.array<std::byte>().data());
    }
  });
}

/// Puts the pieces into the order of their tasks. Between GPUs and between ranks their data travel, and the
/// order is that of a tournament. `sum(segment, domain)`: number of what a domain adds to for a segment.
template <class V, class T>
template <class Sum>
void CsbMatrix<V, T>::Detail::order_pieces(const Sum& sum) {
  if (runtime.any_gpus() || runtime.size() > 1) {
    std::stable_sort(pieces.begin(), pieces.end(), [&](const Piece& a, const Piece& b) {
      return tournament_order(partition, a.contents) < tournament_order(partition, b.contents);
    });
    return;
  }
  constexpr double entries_of_task = 4096;  // in the time of which a task begins and ends
  std::vector<CsbTask> tasks;
  for (const Piece& piece : pieces) {
    const CsbPieceContents& c = piece.contents;
    tasks.push_back({sum(c.row, c.domain), sum(c.column, c.domain),
                     entries_of_task + static_cast<double>(c.shape.entry_count)});
  }
  const Index sums = partition.segments->count() + static_cast<Index>(partials.size());
  std::vector<Piece> ordered;
  for (const Index task : order_csb_tasks(tasks, sums, runtime.common_workers()))
    ordered.push_back(std::move(pieces[static_cast<std::size_t>(task)]));
  pieces = std::move(ordered);
}

/// Orders the pieces' tasks, and finds out which of them are first to touch what they write.
template <class V, class T>
void CsbMatrix<V, T>::Detail::plan() {
  direct.assign(static_cast<std::size_t>(partition.segments->count()), false);
  std::map<std::pair<Index, int>, Index> places;
  const auto at_home = [&](Index segment, int domain) {
    return partition.home[static_cast<std::size_t>(segment)] == domain;
  };
  for (const Piece& piece : pieces)
    for (const Index segment : {piece.contents.row, piece.contents.column})
      if (!at_home(segment, piece.contents.domain)) places[{segment, piece.contents.domain}] = 0;
  for (auto& [key, place] : places) {
    place = static_cast<Index>(partials.size());
    partials.push_back({key.first, key.second});
  }
  order_pieces([&](Index segment, int domain) {
    return at_home(segment, domain) ? segment : partition.segments->count() + places.at({segment, domain});
  });
  std::vector<bool> touched(partials.size(), false);
  // Where the sum goes, and whether this is its first term.
  const auto target = [&](Index segment, int domain) -> std::pair<Index, bool> {
    if (at_home(segment, domain)) {
      const bool first = !direct[static_cast<std::size_t>(segment)];
      direct[static_cast<std::size_t>(segment)] = true;
      return {-1, first};
    }
    const Index place = places.at({segment, domain});
    const bool first = !touched[static_cast<std::size_t>(place)];
    touched[static_cast<std::size_t>(place)] = true;
    return {place, first};
  };
  for (Piece& piece : pieces) {
    if (!piece.has_task) continue;
    const auto& [row, column, domain, diagonal_tiles, shape] = piece.contents;
    std::tie(piece.row_partial, piece.overwrite_rows) = target(row, domain);
    if (row != column) std::tie(piece.column_partial, piece.overwrite_columns) = target(column, domain);
  }
}

template <class V, class T>
void CsbMatrix<V, T>::Detail::note_visits() {
  std::set<std::pair<Index, int>> seen;
  for (const Piece& piece : pieces) {
    const int domain = piece.contents.domain, gpu = partition.gpu_of(domain);
    if (gpu < 0 || partition.rank_of(domain) != runtime.rank()) continue;
    for (const Index segment : {piece.contents.column, piece.contents.row})
      if (partition.segments->owner(segment) == runtime.rank() && partition.segments->gpu(segment) != gpu &&
          seen.insert({segment, gpu}).second)
        visits.push_back({segment, gpu});
  }
}

template <class V, class T>
void CsbMatrix<V, T>::Detail::note_tiles() {
  const RowSegments& segments = *partition.segments;
  tiles.resize(static_cast<std::size_t>(segments.count()));
  for (const Index begin : partition.tiles) {
    if (begin == segments.rows()) break;
    const Index segment = segments.segment_of(begin);
    tiles[static_cast<std::size_t>(segment)].begins.push_back(begin - segments.begin(segment));
  }
  for (Index s = 0; s < segments.count(); ++s)
    tiles[static_cast<std::size_t>(s)].begins.push_back(segments.size(s));
  for (const Piece& piece : pieces) {
    if (!piece.contents.diagonal_tiles) continue;
    DiagonalTiles& here = tiles[static_cast<std::size_t>(piece.contents.row)];
    here.piece = &piece.data;
    here.index = &piece.index;
    here.shape = piece.contents.shape;
  }
}

template <class V, class T>
template <class U>
std::vector<Data> CsbMatrix<V, T>::Detail::make_partials(Index columns) const {
  std::vector<Data> data;
  for (const Partial& partial : partials)
    data.push_back(Data::matrix(runtime, columns, partition.segments->size(partial.segment), sizeof(U),
                                partition.rank_of(partial.domain)));
  return data;
}

/// Inserts insert(piece, y_rows, y_columns) for all pieces, and the sums of their partial sums.
template <class V, class T>
template <class U, class Insert>
void CsbMatrix<V, T>::Detail::sum_products(Sequence& sequence, const BlockVectors<U>& y, Index columns,
                                           const std::vector<Data>& partial, const Insert& insert) const {
  const auto target = [&](Index place, Index segment) -> const Data& {
    return place < 0 ? y.segment(segment) : partial[static_cast<std::size_t>(place)];
  };
  for (const Piece& piece : pieces)
    if (piece.has_task)
      insert(piece, target(piece.row_partial, piece.contents.row),
             target(piece.column_partial, piece.contents.column));
  // Between GPUs of this rank contributions travel when they are complete, while others are still computed.
  for (std::size_t p = 0; p < partials.size(); ++p) {
    const auto& [segment, domain] = partials[p];
    const int home = partition.home[static_cast<std::size_t>(segment)];
    if (partition.gpu_of(home) >= 0 && partition.rank_of(home) == partition.rank_of(domain))
      partial[p].prefetch(partition.gpu_of(home), false);
  }
  std::size_t next = 0;
  for (Index s = 0; s < partition.segments->count(); ++s) {
    std::vector<const Data*> terms;
    for (; next < partials.size() && partials[next].segment == s; ++next) terms.push_back(&partial[next]);
    insert_sum_vectors<U>(sequence, 0, partition.segments->size(s), static_cast<int>(columns),
                          !direct[static_cast<std::size_t>(s)], terms, y.segment(s),
                          partition.segments->gpu(s));
    // The next product begins with a write: until then no memory is held.
    for (const Data* term : terms) term->invalidate();
  }
}

template <class V, class T>
void CsbMatrix<V, T>::Detail::bound_norm() {
  const BlockVectors<double> sums(runtime, partition.segments, 1);
  {
    const std::vector<Data> partial = make_partials<double>(1);
    Sequence sequence(runtime);
    sequence.begin_stage("norm");
    sum_products(sequence, sums, 1, partial, [&](const Piece& piece, const Data& rows, const Data& columns) {
      insert_csb_magnitudes<V>(sequence, 0, piece.contents.shape, piece.overwrite_rows,
                               piece.overwrite_columns, piece.data, rows, columns);
      if (!piece.has_tiles()) return;
      const DiagonalTiles& of_segment = tiles[static_cast<std::size_t>(piece.contents.row)];
      insert_csb_magnitudes<V>(sequence, 0, of_segment.shape, false, false, *of_segment.piece, rows, columns);
    });
    sequence.wait();
  }
  for (Index s = 0; s < sums.count(); ++s) {
    if (!sums.segment(s).local()) continue;
    const HostAccess access(sums.segment(s), HostAccess::Mode::read);
    const MatrixView<double> view = access.matrix<double>();
    for (Index i = 0; i < view.cols; ++i) norm = std::max(norm, view(0, i));
  }
  runtime.all_reduce_max(&norm, 1);
}

template <class V, class T>
CsbMatrix<V, T> CsbMatrix<V, T>::build(Runtime& runtime, const SymmetricRows& rows,
                                       const CsbOptions& options) {
  const Index piece_bytes = options.piece_bytes > 0 ? options.piece_bytes : usual_piece_bytes(runtime);
  auto detail = std::make_shared<Detail>(runtime, csb_partition(runtime, rows, options));
  {
    // What the builder knows of each block is gone before the indices need memory.
    CsbPieceBuilder<V> builder(runtime, rows, detail->partition, piece_bytes);
    agree(runtime, 0, [&] {
      builder.count();
      std::size_t bytes = 0;
      for (const CsbPieceContents& c : builder.pieces())
        bytes += static_cast<std::size_t>(
            csb_piece_sizes(c.shape.block_count, c.shape.entry_count, sizeof(V)).total);
      require_host_memory("the matrix", bytes);
    });
    detail->exchange(builder.pieces());
    agree(runtime, 0, [&] {
      std::vector<std::unique_ptr<HostAccess>> accesses;
      std::vector<std::byte*> memory;
      // This rank's pieces are in the order of the builder.
      for (const Piece& piece : detail->pieces)
        if (piece.data.local()) {
          accesses.push_back(std::make_unique<HostAccess>(piece.data, HostAccess::Mode::write));
          memory.push_back(accesses.back()->array<std::byte>().data());
        }
      builder.place(memory);
    });
  }
  detail->unite_tiles();
  detail->build_indices(rows);
  detail->plan();
  detail->note_visits();
  detail->note_tiles();
  detail->bound_norm();
  // Every GPU gets what is dealt to it now, not in the first product.
  const int only = runtime.info().cuda_workers == 1 ? 0 : -1;
  for (const Piece& piece : detail->pieces)
    if (const int gpu = std::max(detail->partition.gpu_of(piece.contents.domain), only);
        gpu >= 0 && piece.index.valid() && piece.index.local())
      piece.index.prefetch(gpu);
  return CsbMatrix(std::move(detail));
}

template <class V, class T>
void CsbMatrix<V, T>::apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                            Index columns) const {
  Detail& d = *detail_;
  check_operands(*d.partition.segments, x, y, columns);
  sequence.keep(detail_);
  if (d.partial_columns != columns) {
    d.partial_data = d.template make_partials<T>(columns);
    d.partial_columns = columns;
  }
  // To all GPUs at once, as soon as x is there: a task asks for it only when the one before it is over.
  for (const Visit& visit : d.visits) x.segment(visit.segment).prefetch(visit.gpu, false);
  d.sum_products(sequence, y, columns, d.partial_data,
                 [&](const Piece& piece, const Data& y_rows, const Data& y_columns) {
                   insert_multiply_csb<V, T>(sequence, 0, piece.contents.shape, static_cast<int>(columns),
                                             piece.overwrite_rows, piece.overwrite_columns, piece.data,
                                             piece.index, x.segment(piece.contents.column),
                                             x.segment(piece.contents.row), y_rows, y_columns,
                                             d.partition.gpu_of(piece.contents.domain));
                 });
  for (Index s = 0; s < x.count(); ++s) x.segment(s).flush_remote_copies();
}

template <class V, class T>
std::vector<double> CsbMatrix<V, T>::diagonal() const {
  std::vector<double> result(static_cast<std::size_t>(order()));
  for (const Piece& piece : detail_->pieces) {
    if (!piece.contents.diagonal_tiles || !piece.data.local()) continue;
    const HostAccess access(piece.data, HostAccess::Mode::read);
    const auto view = csb_view<V>(access.array<const std::byte>().data(), piece.contents.shape.block_count,
                                  piece.contents.shape.entry_count, true);
    const Index begin = segments()->begin(piece.contents.row);
    for (const CsbBlock& block : std::span(view.blocks, static_cast<std::size_t>(view.block_count)))
      for (Index e = block.first_entry; e < block.first_entry + block.entries; ++e)
        if (view.rows[e] == view.columns[e])
          result[static_cast<std::size_t>(begin + block.first_row + view.rows[e])] = view.values[e];
  }
  detail_->runtime.all_reduce_sum(result.data(), order());
  return result;
}

template <class V, class T>
Index CsbMatrix<V, T>::order() const {
  return segments()->rows();
}
template <class V, class T>
const std::shared_ptr<const RowSegments>& CsbMatrix<V, T>::segments() const {
  return detail_->partition.segments;
}
template <class V, class T>
double CsbMatrix<V, T>::norm_bound() const {
  return detail_->norm;
}
template <class V, class T>
Index CsbMatrix<V, T>::stored_entries() const {
  return detail_->entries;
}
template <class V, class T>
double CsbMatrix<V, T>::stored_bytes() const {
  return detail_->stored_bytes;
}
template <class V, class T>
double CsbMatrix<V, T>::index_bytes() const {
  return detail_->index_bytes;
}
template <class V, class T>
Index CsbMatrix<V, T>::groups() const {
  return detail_->partition.group_count();
}
template <class V, class T>
const typename CsbMatrix<V, T>::DiagonalTiles& CsbMatrix<V, T>::diagonal_tiles(Index segment) const {
  return detail_->tiles[static_cast<std::size_t>(segment)];
}

template class CsbMatrix<double, double>;
template class CsbMatrix<float, double>;
template class CsbMatrix<float, float>;

}  // namespace tessera
