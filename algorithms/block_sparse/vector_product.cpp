// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>

#include <tessera/algorithms/block_sparse/operation_checks.hpp>
#include <tessera/algorithms/block_sparse/panel_lines.hpp>
#include <tessera/algorithms/block_sparse/vector_product.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/multiply_vectors.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// What results the panels have for each segment of a cut, in the order of the panels.
using Parts = std::vector<std::vector<Data>>;

bool same_cut(const BlockDimension& a, const BlockDimension& b) {
  return &a == &b || a.same_panels(b);
}

/// The rows that a segment of one cut has in common with those of another, by segment of the other.
std::map<Index, std::vector<BlockMove>> common_rows(const BlockDimension& from, const BlockDimension& to,
                                                    Index p, Index width) {
  const std::vector<Index> source_line = first_lines(from);
  std::map<Index, std::vector<BlockMove>> moves;
  const auto extent = static_cast<std::int32_t>(to.extent(p));
  Index line = 0;
  for (const Index block : to.panel(p)) {
    const Index size = to.size(block), source = from.panel_of(block);
    const Index begin = source_line[static_cast<std::size_t>(block)];
    if (size > 0)
      moves[source].push_back({begin, line, static_cast<std::int32_t>(size), static_cast<std::int32_t>(width),
                               static_cast<std::int32_t>(from.extent(source)), extent});
    line += size;
  }
  return moves;
}

/// to := from (+ to), of another cut.
template <class T>
void move_vectors(Sequence& sequence, const PanelVectors<T>& from, const PanelVectors<T>& to, bool add) {
  for (Index p = 0; p < to.count(); ++p) {
    if (!to.segment(p).valid()) continue;
    if (!add) sequence.insert(FillValues<T>{.values = to.segment(p), .value = T(0)});
    for (const auto& [source, list] : common_rows(from.dimension(), to.dimension(), p, to.width())) {
      const Data moves = Data::bytes(sequence.runtime(), list.size() * sizeof(BlockMove), to.owner(p));
      if (moves.local()) {
        const HostAccess access(moves, HostAccess::Mode::write);
        std::copy(list.begin(), list.end(), access.template array<BlockMove>().begin());
      }
      sequence.insert(MoveBlocks<T>{.moves = moves,
                                    .source = from.segment(source),
                                    .destination = to.segment(p),
                                    .factor = T(1),
                                    .add = true});
    }
  }
  for (Index p = 0; p < from.count(); ++p)
    if (from.segment(p).valid()) from.segment(p).flush_remote_copies();
}

void append(std::vector<const Data*>& pointers, const std::vector<Data>& parts) {
  for (const Data& part : parts) pointers.push_back(&part);
}

/// Y := alpha (the parts for its segments) + beta Y.
template <class T>
void sum_parts(Sequence& sequence, T alpha, const std::vector<const Parts*>& parts, T beta,
               const PanelVectors<T>& y) {
  for (Index p = 0; p < y.count(); ++p) {
    if (!y.segment(p).valid()) continue;
    std::vector<const Data*> pointers;
    for (const Parts* some : parts) append(pointers, (*some)[static_cast<std::size_t>(p)]);
    sequence.insert(SumParts<T>{.parts = pointers,
                                .y = beta == T(0) ? overwrite(y.segment(p)) : add_to(y.segment(p)),
                                .alpha = alpha,
                                .beta = beta});
  }
}

}  // namespace

VectorFactors vector_factors(Symmetry symmetry, Op op) noexcept {
  const bool adjoint = op == Op::adjoint;
  if (symmetry == Symmetry::none) {
    if (op == Op::none) return {.straight = {.active = true}, .image = {}};
    return {.straight = {}, .image = {.active = true, .conjugated = adjoint}};
  }
  // A block B below the diagonal stands for its mirror image m(B) = B^T, -B^T or B^H above it.
  const bool negative = symmetry == Symmetry::antisymmetric, hermitian = symmetry == Symmetry::hermitian;
  if (op == Op::none)
    return {.straight = {.active = true},
            .image = {.active = true, .diagonal = false, .conjugated = hermitian, .negative = negative}};
  // In op(A), op(B) stands above the diagonal, and op(m(B)) = B, -B or conj(B), of the adjoint conjugated, below.
  return {.straight = {.active = true,
                       .diagonal = false,
                       .conjugated = hermitian != adjoint,
                       .negative = negative},
          .image = {.active = true, .conjugated = adjoint}};
}

std::vector<int> segment_owners(const BlockLayout& layout, const BlockDimension& dimension) {
  const bool rows = &dimension == layout.rows.get();
  std::vector<int> owners;
  for (Index p = 0; p < dimension.panels(); ++p) {
    const int owner = dimension.panel_owner(p);
    // Along the other dimension of the grid in turn: the vectors are dealt to all ranks.
    const int turn = static_cast<int>(p / dimension.owner_count());
    owners.push_back(rows ? layout.grid.rank(owner, turn % layout.grid.cols)
                          : layout.grid.rank(turn % layout.grid.rows, owner));
  }
  return owners;
}

template <class T>
VectorProduct<T>::VectorProduct(const BlockSparseMatrix<T>& a, Op op)
    : a_(a),
      factors_(vector_factors(a.symmetry(), op)),
      lines_(static_cast<std::size_t>(a.pattern().panels())),
      orders_(lines_.size()) {
  for (Index p = 0; p < a.pattern().panels(); ++p) {
    if (a.pattern().panel_elements(p) == 0) continue;
    lines_[static_cast<std::size_t>(p)] = make_lines(a.pattern(), p);
    orders_[static_cast<std::size_t>(p)] = make_order(a.pattern(), p);
  }
}

/// X in another cut, in `room`; or X itself.
template <class T>
const PanelVectors<T>* VectorProduct<T>::in_cut(Sequence& sequence, const BlockDimensionPointer& cut,
                                                const PanelVectors<T>& x, PanelVectors<T>& room) const {
  if (same_cut(x.dimension(), *cut)) return &x;
  room = PanelVectors<T>(x.runtime(), cut, x.width(), segment_owners(a_.layout(), *cut));
  move_vectors(sequence, x, room, false);
  return &room;
}

/// One task for each panel: what it gives for the rows, and in `images` for the columns.
template <class T>
std::vector<std::vector<Data>> VectorProduct<T>::multiply_panels(Sequence& sequence,
                                                                 const PanelVectors<T>* straight_x,
                                                                 const PanelVectors<T>* image_x,
                                                                 std::vector<std::vector<Data>>& images,
                                                                 Index width) const {
  const BlockPattern& pattern = a_.pattern();
  Parts results(static_cast<std::size_t>(pattern.row_panels()));
  images.resize(static_cast<std::size_t>(pattern.col_panels()));
  for (Index p = 0; p < pattern.panels(); ++p) {
    const Index elements = pattern.panel_elements(p), row = pattern.row_panel(p), col = pattern.col_panel(p);
    if (elements == 0) continue;
    const Index rows = pattern.rows().extent(row), cols = pattern.cols().extent(col);
    const auto room = [&](std::vector<Data>& list, Index lines) {
      list.push_back(Data::bytes(sequence.runtime(), static_cast<std::size_t>(lines * width) * sizeof(T),
                                 pattern.panel_owner(p)));
      return &list.back();
    };
    PanelTimesVectors<T> task{.blocks = pattern.blocks_of(p),
                              .lines = lines_[static_cast<std::size_t>(p)],
                              .order = if_valid(orders_[static_cast<std::size_t>(p)]),
                              .values = a_.panel(p),
                              .straight = factors_.straight,
                              .image = factors_.image,
                              .rows = rows,
                              .cols = cols,
                              .block_rows = static_cast<Index>(pattern.rows().panel(row).size()),
                              .block_cols = static_cast<Index>(pattern.cols().panel(col).size()),
                              .width = width,
                              .elements = static_cast<double>(elements)};
    if (straight_x) {
      task.x = straight_x->segment(col);
      task.y = room(results[static_cast<std::size_t>(row)], rows);
    }
    if (image_x) {
      task.x_image = image_x->segment(row);
      task.y_image = room(images[static_cast<std::size_t>(col)], cols);
    }
    sequence.insert(task);
  }
  return results;
}

template <class T>
void VectorProduct<T>::submit(Sequence& sequence, T alpha, const PanelVectors<T>& x, T beta,
                              const PanelVectors<T>& y) const {
  const BlockDimensionPointer &rows = a_.layout().rows, &cols = a_.layout().cols;
  PanelVectors<T> room_for_straight, room_for_image;
  const PanelVectors<T>* const straight_x =
      factors_.straight.active ? in_cut(sequence, cols, x, room_for_straight) : nullptr;
  const PanelVectors<T>* const image_x =
      factors_.image.active ? in_cut(sequence, rows, x, room_for_image) : nullptr;
  Parts images;
  const Parts results = multiply_panels(sequence, straight_x, image_x, images, x.width());
  for (Index p = 0; p < x.count(); ++p)
    if (x.segment(p).valid()) x.segment(p).flush_remote_copies();
  // What is in Y's cut is added at once; the rest is summed in its own cut, and then moved.
  std::vector<const Parts*> in_place;
  std::vector<PanelVectors<T>> elsewhere;
  const auto take = [&](const VectorFactor& factor, const BlockDimensionPointer& cut, const Parts& parts) {
    if (!factor.active) return;
    if (same_cut(*cut, y.dimension())) return in_place.push_back(&parts);
    elsewhere.emplace_back(y.runtime(), cut, y.width(), segment_owners(a_.layout(), *cut));
    sum_parts(sequence, alpha, {&parts}, T(0), elsewhere.back());
  };
  take(factors_.straight, rows, results);
  take(factors_.image, cols, images);
  sum_parts(sequence, alpha, in_place, beta, y);
  for (const PanelVectors<T>& sums : elsewhere) move_vectors(sequence, sums, y, true);
}

namespace {

template <class T>
void require_vectors(const char* name, const PanelVectors<T>& vectors, const BlockSparseMatrix<T>& a,
                     const char* of, const BlockDimension& dimension) {
  if (!vectors.valid()) throw InvalidArgument(name, "an empty object", "vectors");
  if (&vectors.runtime() != &a.runtime())
    throw InvalidArgument(name, "vectors of another Runtime", "a's Runtime");
  require_blocks(name, vectors.dimension(), of, dimension);
}

template <class T>
void require_valid(T alpha, const BlockSparseMatrix<T>& a, Op op, const PanelVectors<T>& x, T beta,
                   const PanelVectors<T>& y) {
  require_made("a", a);
  const BlockDimension &rows = *a.layout().rows, &cols = *a.layout().cols;
  require_vectors("x", x, a, "op(a)'s columns", op == Op::none ? cols : rows);
  require_vectors("y", y, a, "op(a)'s rows", op == Op::none ? rows : cols);
  if (x.width() != y.width())
    throw InvalidArgument("y", fmt::format("{} vectors", y.width()),
                          fmt::format("as many as x: {}", x.width()));
  if (!finite(alpha)) throw InvalidArgument("alpha", text_of(alpha), "a finite number");
  if (!finite(beta)) throw InvalidArgument("beta", text_of(beta), "a finite number");
}

template <class T>
std::uint64_t vectors_hash(const PanelVectors<T>& x) {
  return x.valid() ? argument_hash(x.rows(), x.width(), x.count()) : 0;
}

}  // namespace

template class VectorProduct<float>;
template class VectorProduct<double>;
template class VectorProduct<std::complex<float>>;
template class VectorProduct<std::complex<double>>;

}  // namespace tessera::detail

namespace tessera {

using namespace detail;

template <class T>
void multiply_vectors(Sequence& sequence, T alpha, const BlockSparseMatrix<T>& a, Op op,
                      const PanelVectors<T>& x, T beta, const PanelVectors<T>& y) {
  const std::uint64_t hash = argument_hash(alpha, beta, op, shape_hash(a), vectors_hash(x), vectors_hash(y));
  collectively(
      sequence.runtime(), "multiply_vectors", hash, [&] { require_valid(alpha, a, op, x, beta, y); },
      [&] { VectorProduct<T>(a, op).submit(sequence, alpha, x, beta, y); });
}

template <class T>
PanelVectors<T> row_vectors(const BlockSparseMatrix<T>& a, Index width) {
  Runtime& runtime = runtime_of("a", a);
  return PanelVectors<T>(runtime, a.layout().rows, width, segment_owners(a.layout(), *a.layout().rows));
}

template <class T>
PanelVectors<T> column_vectors(const BlockSparseMatrix<T>& a, Index width) {
  Runtime& runtime = runtime_of("a", a);
  return PanelVectors<T>(runtime, a.layout().cols, width, segment_owners(a.layout(), *a.layout().cols));
}

#define TESSERA_INSTANTIATE(T)                                                                             \
  template void multiply_vectors<T>(Sequence&, T, const BlockSparseMatrix<T>&, Op, const PanelVectors<T>&, \
                                    T, const PanelVectors<T>&);                                            \
  template PanelVectors<T> row_vectors<T>(const BlockSparseMatrix<T>&, Index);                             \
  template PanelVectors<T> column_vectors<T>(const BlockSparseMatrix<T>&, Index);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
