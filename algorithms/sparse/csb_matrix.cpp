// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>

#include <tessera/algorithms/sparse/csb_products.hpp>
#include <tessera/algorithms/sparse/csb_save.hpp>
#include <tessera/algorithms/sparse/diagonal_tiles.hpp>
#include <tessera/algorithms/sparse/family_orders.hpp>
#include <tessera/algorithms/sparse/saved_matrix.hpp>
#include <tessera/algorithms/sparse/vector_checks.hpp>
#include <tessera/codelets/sparse/csb_index.hpp>
#include <tessera/codelets/sparse/multiply_csb.hpp>
#include <tessera/error.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/parallel_for.hpp>
#include <tessera/runtime/require_success.hpp>

namespace tessera::detail {

namespace {

/// On GPUs as few pieces as possible: rows of Y are worked on together that have rows of X in common, and a
/// piece has a part of either only. But a matrix that GPUs do not hold moves through them piece by piece; a
/// piece's index is about as large for each of its sides.
Index usual_piece_bytes(const Runtime& runtime) {
  constexpr Index on_cpus = Index(768) << 20;
  return std::max(on_cpus, runtime.info().gpu_memory_bytes / 8);
}

template <class V>
Index bytes_of(const CsbPieceShape& shape) {
  return csb_piece_sizes(shape.cell_count, shape.entry_count, sizeof(V)).total;
}

}  // namespace

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class V, class T>
struct CsbMatrix<V, T>::Detail {
  Detail(Runtime& owner, CsbPartition cut) : runtime(owner), partition(std::move(cut)) {}

  Runtime& runtime;
  CsbPartition partition;
  std::vector<CsbPiece> pieces;
  CsbRowStructure structure;
  Index piece_bytes = 0;
  std::optional<CsbProducts> products;
  std::vector<CsbDiagonalTiles> tiles;
  Index entries = 0;
  double stored_bytes = 0, index_bytes = 0, norm = 0;
  std::mutex submitting;  ///< of the partial sums
  /// The partial sums of the last product, without contents, for the next one with as many columns.
  std::vector<Data> partial_data;
  Index partial_columns = 0;

  template <class Source>
  void make_pieces(Source& source);
  void exchange(const std::vector<CsbPieceContents>& mine);
  void make_products();
  CsbIndexBuilder<V> index_builder(const CsbProduct& product, std::span<const FamilyOrders> orders) const;
  void build_indices(const SymmetricRows& rows);
  void note_tiles();
  void bound_norm();
  void prefetch_indices() const;
  /// visit(row, value) for the stored elements of the diagonal that are here.
  template <class Visit>
  void visit_diagonal(const Visit& visit) const;
};

/// Makes the handles of all pieces of all ranks, everywhere in the same order.
template <class V, class T>
void CsbMatrix<V, T>::Detail::exchange(const std::vector<CsbPieceContents>& mine) {
  for (const std::vector<std::byte>& bytes : runtime.all_gather(std::as_bytes(std::span(mine)))) {
    std::vector<CsbPieceContents> contents(bytes.size() / sizeof(CsbPieceContents));
    if (!bytes.empty()) std::memcpy(static_cast<void*>(contents.data()), bytes.data(), bytes.size());
    for (const CsbPieceContents& c : contents) {
      const Index size = bytes_of<V>(c.shape);
      pieces.push_back(
          {c, Data::bytes(runtime, static_cast<std::size_t>(size), partition.rank_of(c.domain))});
      entries += c.shape.entry_count;
      stored_bytes += static_cast<double>(size);
    }
  }
}

template <class V, class T>
void CsbMatrix<V, T>::Detail::make_products() {
  std::vector<CsbPieceContents> contents;
  for (const CsbPiece& piece : pieces) contents.push_back(piece.contents);
  products.emplace(runtime, partition, contents);
}

template <class V, class T>
CsbIndexBuilder<V> CsbMatrix<V, T>::Detail::index_builder(const CsbProduct& product,
                                                          std::span<const FamilyOrders> orders) const {
  const CsbPieceContents& c = product.contents;
  std::deque<HostAccess> accesses;
  std::vector<CsbPieceView<V>> parts;
  const auto add_part = [&](const CsbPiece& part) {
    const CsbPieceShape& shape = part.contents.shape;
    accesses.emplace_back(part.data, HostAccess::Mode::read);
    parts.push_back(csb_view<V>(accesses.back().template array<const std::byte>().data(), shape.cell_count,
                                shape.entry_count, shape.on_diagonal));
  };
  add_part(pieces[product.piece]);
  if (product.tiles) add_part(pieces[*product.tiles]);
  // The rows of a diagonal tile keep their order: strips of families would meet several tiles, which makes
  // FOM slower.
  const CsbOrders orders_of_piece = c.diagonal_tiles ? CsbOrders{}
                                                     : CsbOrders{orders[static_cast<std::size_t>(c.row)],
                                                                 orders[static_cast<std::size_t>(c.column)]};
  return {parts,           partition.segments->size(c.row), partition.segments->size(c.column),
          orders_of_piece, host_threads(runtime),           c.shape.sides};
}

/// Makes and fills the indices of all products where GPUs take part; the products are still in the order of
/// the pieces.
template <class V, class T>
void CsbMatrix<V, T>::Detail::build_indices(const SymmetricRows& rows) {
  if (!runtime.any_gpus()) return;
  std::vector<CsbProduct*> mine;
  std::vector<CsbIndexBuilder<V>> builders;
  std::vector<std::int64_t> sizes;
  for (CsbProduct& product : products->all()) {
    CsbPieceContents& c = product.contents;
    c.shape.index_in_two_passes = !c.diagonal_tiles && rows.families(0).has_value();
    if (pieces[product.piece].data.local()) mine.push_back(&product);
  }
  agree(runtime, 0, [&] {
    double bytes = 0;
    for (const CsbProduct* product : mine) {  // what a builder holds
      const CsbPieceShape& shape = product->contents.shape;
      bytes += (shape.sides == CsbSides::both ? 2. : 1.) * (sizeof(V) + 4) *
               static_cast<double>(shape.entry_count + shape.more_entries);
    }
    require_host_memory("the matrix by rows", bytes);
    const RowSegments& segments = *partition.segments;
    std::vector<FamilyOrders> orders;
    for (Index s = 0; s < segments.count(); ++s)
      orders.emplace_back(rows, segments.begin(s), segments.end(s));
    for (const CsbProduct* product : mine) {
      builders.push_back(index_builder(*product, orders));
      sizes.push_back(builders.back().header().total);
      bytes += static_cast<double>(sizes.back());
    }
    require_host_memory("the index of the matrix for GPUs", bytes);
  });
  std::size_t next = 0;
  for (const std::vector<std::byte>& bytes : runtime.all_gather(std::as_bytes(std::span(sizes))))
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::int64_t), ++next) {
      std::int64_t size = 0;
      std::memcpy(&size, bytes.data() + at, sizeof(size));
      CsbProduct& product = products->all()[next];
      product.index =
          Data::bytes(runtime, static_cast<std::size_t>(size), partition.rank_of(product.contents.domain));
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
  for (const CsbProduct& product : products->all()) {
    const CsbPieceContents& c = product.contents;
    if (!c.diagonal_tiles) continue;
    CsbDiagonalTiles& here = tiles[static_cast<std::size_t>(c.row)];
    here.piece = &pieces[product.piece].data;
    here.index = product.index.valid() ? &product.index : nullptr;
    here.shape = c.shape;
  }
}

template <class V, class T>
void CsbMatrix<V, T>::Detail::bound_norm() {
  const BlockVectors<double> sums(runtime, partition.segments, 1);
  {
    const std::vector<Data> partial = products->make_partials<double>(1);
    Sequence sequence(runtime);
    sequence.begin_stage("norm");
    products->insert(
        sequence, sums, 1, partial, [&](const CsbProduct& product, const Data& rows, const Data& columns) {
          const auto add = [&](const CsbPieceShape& shape, std::size_t piece) {
            sequence.insert(CsbMagnitudes<V>{.piece = pieces[piece].data,
                                             .rows = shape.adds_to_rows() ? &rows : nullptr,
                                             .columns = shape.adds_to_columns() ? &columns : nullptr,
                                             .shape = shape});
          };
          add(product.contents.shape, product.piece);
          if (product.tiles) add(pieces[*product.tiles].contents.shape, *product.tiles);
        });
    finish(sequence);
  }
  for (Index s = 0; s < sums.count(); ++s) {
    if (!sums.segment(s).local()) continue;
    const HostAccess access(sums.segment(s), HostAccess::Mode::read);
    const MatrixView<double> view = access.matrix<double>();
    for (Index i = 0; i < view.cols; ++i) norm = std::max(norm, view(0, i));
  }
  runtime.all_reduce_max(&norm, 1);
}

/// Every GPU gets what is dealt to it now, not in the first product.
template <class V, class T>
void CsbMatrix<V, T>::Detail::prefetch_indices() const {
  const int only = runtime.info().cuda_workers == 1 ? 0 : -1;
  for (const CsbProduct& product : products->all())
    if (const int gpu = std::max(partition.gpu_of(product.contents.domain), only);
        gpu >= 0 && product.index.valid() && product.index.local())
      product.index.prefetch(gpu);
}

template <class V, class T>
CsbMatrix<V, T> CsbMatrix<V, T>::build(Runtime& runtime, const SymmetricRows& rows,
                                       const CsbOptions& options) {
  return collectively(
      runtime, "CsbMatrix::build", options_hash(options),
      [&] {
        check_arguments(rows, options);
        if (!is_complex<V> && rows.hermitian())
          throw InvalidArgument("rows", "a complex Hermitian matrix", "a real symmetric one, as V is real");
      },
      [&] { return made_of(runtime, rows, options); });
}

/// Makes the pieces of all ranks and fills those of this one. Source: a CsbPieceBuilder, or SavedPieces.
template <class V, class T>
template <class Source>
void CsbMatrix<V, T>::Detail::make_pieces(Source& source) {
  agree(runtime, 0, [&] {
    source.count();
    double bytes = 0;
    for (const CsbPieceContents& c : source.pieces()) bytes += static_cast<double>(bytes_of<V>(c.shape));
    require_host_memory("the matrix", bytes);
  });
  exchange(source.pieces());
  agree(runtime, 0, [&] {
    std::vector<std::unique_ptr<HostAccess>> accesses;
    std::vector<std::byte*> memory;
    // This rank's pieces are in the order of the source.
    for (const CsbPiece& piece : pieces)
      if (piece.data.local()) {
        accesses.push_back(std::make_unique<HostAccess>(piece.data, HostAccess::Mode::write));
        memory.push_back(accesses.back()->array<std::byte>().data());
      }
    source.place(memory);
  });
}

template <class V, class T>
CsbMatrix<V, T> CsbMatrix<V, T>::made_of(Runtime& runtime, const SymmetricRows& rows,
                                         const CsbOptions& options) {
  auto detail = std::make_shared<Detail>(runtime, csb_partition(runtime, rows, options));
  detail->piece_bytes = options.piece_bytes > 0 ? options.piece_bytes : usual_piece_bytes(runtime);
  agree(runtime, 0,
        [&] { detail->structure = CsbRowStructure(rows, *detail->partition.segments, runtime.rank()); });
  WorkProgress progress(options.progress);
  const auto* const saved = dynamic_cast<const SavedRows*>(&rows);
  if (saved && SavedPieces<V>::fit(saved->file(), detail->partition, detail->piece_bytes)) {
    SavedPieces<V> source(runtime, saved->file(), detail->partition, progress);
    detail->make_pieces(source);
  } else {
    // The builder frees its data about each cell before the indices need memory.
    CsbPieceBuilder<V> source(runtime, rows, detail->partition, detail->piece_bytes, progress);
    detail->make_pieces(source);
  }
  detail->make_products();
  detail->build_indices(rows);
  detail->products->plan();
  detail->note_tiles();
  detail->bound_norm();
  detail->prefetch_indices();
  agree(runtime, 0, [&] { progress.finish(); });
  return CsbMatrix(std::move(detail));
}

template <class V, class T>
CsbMatrix<V, T> CsbMatrix<V, T>::load(Runtime& runtime, const std::string& path, const CsbOptions& options) {
  return collectively(runtime, "CsbMatrix::load", options_hash(options), [&] {
    std::optional<SavedRows> rows;
    agree(runtime, 0, [&] { rows.emplace(SavedRows::open(path)); });
    return build(runtime, *rows, options);
  });
}

template <class V, class T>
double CsbMatrix<V, T>::save(const std::string& path, const CsbSaveOptions& options) const {
  const Detail& d = *detail_;
  return collectively(d.runtime, "CsbMatrix::save", argument_hash(order()), [&] {
    return save_csb<V>({d.runtime, d.partition, d.pieces, d.structure, d.piece_bytes}, path, options);
  });
}

template <class V, class T>
void CsbMatrix<V, T>::apply(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                            Index columns) const {
  collectively(
      sequence.runtime(), "CsbMatrix::apply", argument_hash(columns),
      [&] { check_operands(*segments(), x, y, columns); }, [&] { submit(sequence, x, y, columns); });
}

template <class V, class T>
void CsbMatrix<V, T>::submit(Sequence& sequence, const BlockVectors<T>& x, const BlockVectors<T>& y,
                             Index columns) const {
  Detail& d = *detail_;
  // Another thread's product must not come between: both write the partial sums.
  const std::lock_guard lock(d.submitting);
  sequence.keep(detail_);
  if (d.partial_columns != columns) {
    d.partial_data = d.products->template make_partials<T>(columns);
    d.partial_columns = columns;
  }
  d.products->prefetch(x);
  d.products->insert(sequence, y, columns, d.partial_data,
                     [&](const CsbProduct& product, const Data& y_rows, const Data& y_columns) {
                       const CsbPieceContents& c = product.contents;
                       insert_multiply_csb(
                           sequence,
                           MultiplyCsb<V, T>{.piece = d.pieces[product.piece].data,
                                             .index = product.index.valid() ? &product.index : nullptr,
                                             .x_columns = x.segment(c.column),
                                             .y_rows = y_rows,
                                             .x_rows = x.segment(c.row),
                                             .y_columns = y_columns,
                                             .shape = c.shape,
                                             .columns = static_cast<int>(columns)},
                           {.gpu = d.partition.gpu_of(c.domain)});
                     });
  for (Index s = 0; s < x.count(); ++s) x.segment(s).flush_remote_copies();
}

template <class V, class T>
template <class Visit>
void CsbMatrix<V, T>::Detail::visit_diagonal(const Visit& visit) const {
  for (const CsbPiece& piece : pieces) {
    if (!piece.contents.diagonal_tiles || !piece.data.local()) continue;
    const HostAccess access(piece.data, HostAccess::Mode::read);
    const auto view = csb_view<V>(access.array<const std::byte>().data(), piece.contents.shape.cell_count,
                                  piece.contents.shape.entry_count, true);
    const Index begin = partition.segments->begin(piece.contents.row);
    for (const CsbCell& cell : std::span(view.cells, static_cast<std::size_t>(view.cell_count)))
      for (Index e = cell.first_entry; e < cell.first_entry + cell.entries; ++e)
        if (view.rows[e] == view.columns[e]) visit(begin + cell.first_row + view.rows[e], view.values[e]);
  }
}

template <class V, class T>
std::vector<double> CsbMatrix<V, T>::diagonal() const {
  return collectively(detail_->runtime, "CsbMatrix::diagonal", argument_hash(order()), [&] {
    std::vector<double> result(static_cast<std::size_t>(order()));
    detail_->visit_diagonal(
        [&](Index row, V value) { result[static_cast<std::size_t>(row)] = real_part(value); });
    detail_->runtime.all_reduce_sum(result.data(), order());
    return result;
  });
}

template <class V, class T>
Index CsbMatrix<V, T>::stored_diagonal_entries() const {
  return collectively(detail_->runtime, "CsbMatrix::stored_diagonal_entries", argument_hash(order()), [&] {
    double count = 0;
    detail_->visit_diagonal([&](Index, V) { ++count; });
    detail_->runtime.all_reduce_sum(&count, 1);
    return static_cast<Index>(count);
  });
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
const CsbDiagonalTiles& CsbMatrix<V, T>::diagonal_tiles(Index segment) const {
  return detail_->tiles[static_cast<std::size_t>(segment)];
}

#define TESSERA_INSTANTIATE(V, T) template class CsbMatrix<V, T>;
TESSERA_FOR_STORED(TESSERA_INSTANTIATE)

}  // namespace tessera
