// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/algorithms/block_sparse/image_plans.hpp>
#include <tessera/algorithms/block_sparse/new_panel.hpp>
#include <tessera/algorithms/block_sparse/product_operands.hpp>
#include <tessera/block_operations.hpp>
#include <tessera/codelets/block_sparse/values/image_panels.hpp>
#include <tessera/codelets/block_sparse/values/panel_values.hpp>
#include <tessera/runtime/kept.hpp>
#include <tessera/runtime/matrix/packed_pattern.hpp>
#include <tessera/runtime/require_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

bool same_grid(const ProcessGrid& a, const ProcessGrid& b) {
  return a.rows == b.rows && a.cols == b.cols && a.column_major == b.column_major;
}

/// Whether a window leaves something of a matrix out.
bool cuts(const ElementWindow& window, Index rows, Index cols) {
  return window.first_row > 0 || window.first_col > 0 || window.end_row < rows || window.end_col < cols;
}

/// The dimension itself where its panels and the number of owners fit, else a copy with another distribution
/// of the panels.
BlockDimensionPointer inner_dimension(const BlockDimensionPointer& panels, const BlockDimensionPointer& own,
                                      int owner_count) {
  if (own && own->same_panels(*panels) && own->owner_count() <= owner_count) return own;
  return BlockDimension::with_owners(*panels, owner_count);
}

/// An image of an operand, as it is wanted.
template <class T>
struct WantedImage {
  const BlockSparseMatrix<T>& matrix;
  T factor;
  ImageShape shape;

  WantedImage(const BlockSparseMatrix<T>& of, Op op, T by, const BlockLayout& layout,
              const ElementWindow& window)
      : matrix(of),
        factor(by),
        shape{of.pattern_pointer(), image_way(of.symmetry(), op, is_complex<T>), layout, {}} {
    if (cuts(window, layout.rows->elements(), layout.cols->elements())) shape.window = window;
  }
  /// One image serves both.
  bool operator==(const WantedImage& other) const {
    return &matrix == &other.matrix && factor == other.factor && shape == other.shape;
  }
  /// Stored blocks are in the image what they are in the matrix.
  bool plain() const noexcept { return factor == T(1) && !shape.way.conjugated && !shape.way.negated; }
};

/// Bytes of the panels of an image that are not the matrix' own, on this rank.
template <class T>
double own_bytes(const ImagePlan& plan, bool shares) {
  const BlockPattern& pattern = *plan.pattern();
  double elements = 0;
  for (Index p = 0; p < pattern.panels(); ++p)
    if (pattern.panel_local(p) && !(shares && plan.panel(p).stored))
      elements += static_cast<double>(pattern.panel_elements(p));
  return elements * sizeof(T);
}

/// The tasks that write a panel of an image.
template <class T>
void submit_panel(Sequence& sequence, const WantedImage<T>& wanted, const ImagePlan& plan, Index p,
                  const Data& values) {
  const ImagePlan::Panel& panel = plan.panel(p);
  const ImageWay& way = wanted.shape.way;
  if (panel.stored) {
    sequence.insert(CopyValues<T>{.source = wanted.matrix.panel(p),
                                  .destination = values,
                                  .factor = way.negated ? -wanted.factor : wanted.factor,
                                  .conjugated = way.conjugated});
    return;
  }
  if (plan.mirrored()) {
    const BlockPattern &from = *plan.shape().source, &to = *plan.pattern();
    const Index row_panel = to.row_panel(p), col_panel = to.col_panel(p);
    const auto values_of = [&](Index panel) {
      return wanted.matrix.panel(panel).valid() ? &wanted.matrix.panel(panel) : nullptr;
    };
    sequence.insert(
        MirrorPanel<T>{.half = from.packed(),
                       .whole = to.packed(),
                       .stored = way.transposed ? nullptr : values_of(p),
                       .mirror = values_of(from.panel(col_panel, row_panel)),
                       .destination = values,
                       .row_panel = word_of(row_panel),
                       .col_panel = word_of(col_panel),
                       .factor = wanted.factor,
                       .way = way,
                       .mirror_way = way.transposed ? way : mirrored(wanted.matrix.symmetry(), way)});
    return;
  }
  // Blocks without elements have no moves.
  if (panel.gathers.empty()) sequence.insert(FillValues<T>{.values = values, .value = T(0)});
  for (const ImageGather& gather : panel.gathers) {
    std::vector<const Data*> sources;
    for (const Index source : gather.sources) sources.push_back(&wanted.matrix.panel(source));
    sequence.insert(MakeImagePanel<T>{.moves = gather.moves,
                                      .destination = values,
                                      .sources = sources,
                                      .factor = wanted.factor,
                                      .complete = panel.complete});
  }
}

/// The image after a plan; panels that have the matrix' values as they are, are the matrix' own.
template <class T>
BlockSparseMatrix<T> image_of(Sequence& sequence, const WantedImage<T>& wanted, const ImagePlan& plan) {
  const BlockPattern& pattern = *plan.pattern();
  require_memory(sequence.runtime(), "an image of a matrix", own_bytes<T>(plan, wanted.plain()));
  std::vector<std::shared_ptr<const Data>> panels(static_cast<std::size_t>(pattern.panels()));
  bool moved = false;
  for (Index p = 0; p < pattern.panels(); ++p) {
    auto& values = panels[static_cast<std::size_t>(p)];
    if (pattern.panel_blocks(p) == 0) continue;
    if (wanted.plain() && plan.panel(p).stored) {
      values = wanted.matrix.shared_panel(p);
      continue;
    }
    values = new_panel<T>(pattern, p);
    submit_panel(sequence, wanted, plan, p, *values);
    moved = true;
  }
  for (Index p = 0; moved && p < wanted.matrix.pattern().panels(); ++p)
    if (wanted.matrix.panel(p).valid()) wanted.matrix.panel(p).flush_remote_copies();
  return BlockSparseMatrix<T>(plan.pattern(), std::move(panels));
}

}  // namespace

template <class T>
ProductOperands<T>::ProductOperands(Sequence& sequence, Op op_a, Op op_b, T alpha,
                                    const BlockSparseMatrix<T>& a, const BlockSparseMatrix<T>& b,
                                    const BlockSparseMatrix<T>& c, const MultiplyLimits& limits, bool reuse)
    : a_(&a), b_(&b) {
  const BlockLayout &la = a.layout(), &lb = b.layout(), &lc = c.layout();
  const ElementWindow window_a{limits.first_row, limits.end_row, limits.first_inner, limits.end_inner},
      window_b{limits.first_inner, limits.end_inner, limits.first_col, limits.end_col};
  const Index inner = op_a == Op::none ? a.cols() : a.rows();
  const bool usable_a = op_a == Op::none && la.symmetry == Symmetry::none && same_grid(la.grid, lc.grid) &&
                        *la.rows == *lc.rows && !cuts(window_a, c.rows(), inner);
  const bool usable_b = op_b == Op::none && lb.symmetry == Symmetry::none && same_grid(lb.grid, lc.grid) &&
                        *lb.cols == *lc.cols && !cuts(window_b, inner, c.cols());
  // The inner panels are those of an operand that can stay as it is, else A's.
  const BlockDimensionPointer panels = !usable_a && usable_b ? lb.rows : op_a == Op::none ? la.cols : la.rows;
  BlockLayout image_a{lc.rows, nullptr, lc.grid, Symmetry::none},
      image_b{nullptr, lc.cols, lc.grid, Symmetry::none};
  image_a.cols = inner_dimension(panels, op_a == Op::none ? la.cols : nullptr, lc.grid.cols);
  image_b.rows = inner_dimension(panels, op_b == Op::none ? lb.rows : nullptr, lc.grid.rows);
  bool make_a = !usable_a || !(*image_a.cols == *la.cols), make_b = !usable_b || !(*image_b.rows == *lb.rows);
  T factor_a(1), factor_b(1);
  if (alpha != T(1)) {
    // An image that is made anyway carries alpha at no cost; else that of the smaller operand.
    const bool to_a = make_a != make_b ? make_a : a.pattern().elements() <= b.pattern().elements();
    (to_a ? factor_a : factor_b) = alpha;
    (to_a ? make_a : make_b) = true;
  }
  const auto make = [&](const WantedImage<T>& wanted, BlockSparseMatrix<T>& image) {
    const auto [plan, reused] = ImagePlans::of(sequence.runtime()).find(wanted.shape, reuse);
    image = image_of(sequence, wanted, *plan);
    ++counts_.images;
    counts_.reused += reused ? 1 : 0;
    counts_.bytes += own_bytes<T>(*plan, wanted.plain());
    counts_.list_bytes += plan->list_bytes();
    return &image;
  };
  const WantedImage<T> wanted_a(a, op_a, factor_a, image_a, window_a),
      wanted_b(b, op_b, factor_b, image_b, window_b);
  if (make_a) a_ = make(wanted_a, image_a_);
  if (make_b) b_ = make_a && wanted_a == wanted_b ? a_ : make(wanted_b, image_b_);
}

template <class T>
bool ProductOperands<T>::read(const BlockSparseMatrix<T>& c) const noexcept {
  for (const BlockSparseMatrix<T>* operand : {a_, b_})
    for (Index p = 0; p < operand->pattern().panels(); ++p)
      if (operand->panel(p).valid() && p < c.pattern().panels() && &operand->panel(p) == &c.panel(p))
        return true;
  return false;
}

template <class T>
BlockSparseMatrix<T> both_halves(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  BlockLayout whole = a.layout();
  whole.symmetry = Symmetry::none;
  const WantedImage<T> wanted(a, Op::none, T(1), whole, {});
  if (!mirrors(wanted.shape)) return {};
  const auto lock = lock_kept(a.runtime());  // plans
  return image_of(sequence, wanted, *ImagePlans::of(a.runtime()).find(wanted.shape, true).plan);
}

template <class T>
std::vector<Index> blocks_in_rows(Op op, const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  std::vector<double> count(static_cast<std::size_t>(op == Op::none ? a.block_rows() : a.block_cols()), 0);
  for (Index panel = 0; panel < pattern.panels(); ++panel) {
    if (!pattern.panel_local(panel)) continue;
    for (auto [row, col] : pattern.coordinates(panel)) {
      if (op != Op::none) std::swap(row, col);
      ++count[static_cast<std::size_t>(row)];
      if (a.symmetry() != Symmetry::none && row != col) ++count[static_cast<std::size_t>(col)];
    }
  }
  a.runtime().all_reduce_sum(count.data(), static_cast<Index>(count.size()));
  return {count.begin(), count.end()};
}

#define TESSERA_INSTANTIATE(T)                                                          \
  template class ProductOperands<T>;                                                    \
  template BlockSparseMatrix<T> both_halves<T>(Sequence&, const BlockSparseMatrix<T>&); \
  template std::vector<Index> blocks_in_rows<T>(Op, const BlockSparseMatrix<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
