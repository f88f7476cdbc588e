// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>

#include <tessera/algorithms/density_matrix/column_assembly.hpp>
#include <tessera/algorithms/density_matrix/small_blocks.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

/// A block of the columns: of P's block (row, col) on or below the diagonal, or its adjoint.
template <class T>
struct Contribution {
  std::int32_t row, col;
  bool adjoint;
  const T* values;
  Index ld;
};

/// What travels to another rank before the values.
struct PackedHeader {
  std::int32_t row, col;
  std::int64_t adjoint;
};

/// Blocks of some rows of one panel, and what they tell.
template <class T>
struct PanelPart {
  std::vector<std::int32_t> row, column;  ///< positions in the panel
  std::vector<T> values;
  double asymmetry = 0, square = 0, asymmetry_square = 0;
};

template <class T>
class ColumnAssembly {
 public:
  ColumnAssembly(const BlockLayout& layout, const ScaledBlocks<T>& scaled, bool has_overlap, Runtime& runtime,
                 double filter_eps)
      : layout_(layout),
        scaled_(scaled),
        has_overlap_(has_overlap),
        runtime_(runtime),
        filter_eps_(filter_eps) {
    for (Index q = 0; q < layout.cols->panels(); ++q)
      for (Index p = 0; p < layout.rows->panels(); ++p) {
        const Index rows = static_cast<Index>(layout.rows->panel(p).size());
        first_part_.push_back(first_part_.back() + static_cast<std::size_t>(ceil_div(rows, rows_at_once)));
      }
  }

  void add(const std::vector<Submatrix>& submatrices, const std::vector<SubmatrixBatch>& batches,
           const std::vector<Data>& columns) {
    struct Part {
      const Submatrix* submatrix;
      MatrixView<const T> columns;
    };
    std::vector<Part> all;
    for (std::size_t k = 0; k < batches.size(); ++k) {
      if (!columns[k].local()) continue;
      const auto view = accesses_.emplace_back(columns[k], HostAccess::Mode::read).template matrix<T>();
      for (Index m = 0; m < batches[k].count(); ++m)
        all.push_back({&submatrices[batches[k].index[static_cast<std::size_t>(m)]],
                       view.block(0, m * batches[k].width, view.rows, batches[k].width)});
    }
    // Each thread notes for itself; later all is sorted.
    const int threads = std::max(host_threads(runtime_), 1);
    notes_.resize(static_cast<std::size_t>(threads));
    for (Notes& notes : notes_) {
      notes.of_part.resize(first_part_.back());
      notes.sent.resize(static_cast<std::size_t>(runtime_.size()));
    }
    parallel_for(threads, static_cast<Index>(all.size()), [&](Index k, int thread) {
      const Part& part = all[static_cast<std::size_t>(k)];
      add_submatrix(*part.submatrix, part.columns, notes_[static_cast<std::size_t>(thread)]);
    });
    if (runtime_.size() == 1) return;
    std::vector<std::vector<std::byte>> sent(static_cast<std::size_t>(runtime_.size()));
    for (Notes& notes : notes_)
      for (std::size_t rank = 0; rank < sent.size(); ++rank)
        sent[rank].insert(sent[rank].end(), notes.sent[rank].begin(), notes.sent[rank].end());
    received_ = runtime_.all_to_all(std::move(sent));
    for (const auto& piece : received_)
      for (const std::byte *at = piece.data(), *const end = at + piece.size(); at != end;) {
        PackedHeader header;
        std::memcpy(&header, at, sizeof header);
        at += sizeof header;
        const Index rows = size(header.adjoint ? header.col : header.row),
                    cols = size(header.adjoint ? header.row : header.col);
        // The headers have 16 bytes, and the values are of at most 16.
        note({header.row, header.col, header.adjoint != 0, reinterpret_cast<const T*>(at), rows},
             notes_.front());
        at += padded(static_cast<std::size_t>(rows * cols) * sizeof(T));
      }
  }

  AssembledDensity<T> finish() {
    std::vector<PanelPart<T>> parts(first_part_.back());
    parallel_for(host_threads(runtime_), static_cast<Index>(parts.size()), [&](Index part, int) {
      std::vector<Contribution<T>> all;
      for (const Notes& notes : notes_) {
        const auto& of_thread = notes.of_part[static_cast<std::size_t>(part)];
        all.insert(all.end(), of_thread.begin(), of_thread.end());
      }
      parts[static_cast<std::size_t>(part)] = part_of(all);
    });
    accesses_.clear();
    const std::size_t panels = first_part_.size() - 1;
    std::vector<PanelIndex> indices;
    for (std::size_t p = 0; p < panels; ++p) indices.push_back(index_of(p, parts));
    AssembledDensity<T> result{
        BlockSparseMatrix<T>(BlockPattern::from_panels(runtime_, layout_, std::move(indices)))};
    double sums[2] = {};
    for (const PanelPart<T>& part : parts) {
      result.asymmetry = std::max(result.asymmetry, part.asymmetry);
      sums[0] += part.square;
      sums[1] += part.asymmetry_square;
    }
    runtime_.all_reduce_max(&result.asymmetry, 1);
    runtime_.all_reduce_sum(sums, 2);
    result.norm = std::sqrt(sums[0]);
    result.asymmetry_norm = std::sqrt(sums[1]);
    for (std::size_t p = 0; p < panels; ++p) {
      if (result.p.pattern().panel_elements(static_cast<Index>(p)) == 0 ||
          !result.p.pattern().panel_local(static_cast<Index>(p)))
        continue;
      const HostAccess access(result.p.panel(static_cast<Index>(p)), HostAccess::Mode::write);
      std::vector<Index> begin{0};
      for (std::size_t part = first_part_[p]; part < first_part_[p + 1]; ++part)
        begin.push_back(begin.back() + static_cast<Index>(parts[part].values.size()));
      const auto to = access.template array<T>();
      parallel_for(host_threads(runtime_), static_cast<Index>(begin.size()) - 1, [&](Index k, int) {
        const auto& values = parts[first_part_[p] + static_cast<std::size_t>(k)].values;
        std::copy(values.begin(), values.end(), to.begin() + begin[static_cast<std::size_t>(k)]);
      });
    }
    return result;
  }

 private:
  /// By parts of panels; and what goes to other ranks.
  struct Notes {
    std::vector<std::vector<Contribution<T>>> of_part;
    std::vector<std::vector<std::byte>> sent;
  };
  Index size(Index block) const noexcept { return layout_.rows->size(block); }
  static std::size_t padded(std::size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

  void add_submatrix(const Submatrix& submatrix, MatrixView<const T> c, Notes& notes) const {
    Index col = 0;
    for (Index b = 0; b < submatrix.own_blocks; ++b) {
      const Index j = submatrix.blocks[static_cast<std::size_t>(b)];
      Index row = 0;
      for (const Index i : submatrix.blocks) {
        const bool adjoint = i < j;
        const Contribution<T> one{static_cast<std::int32_t>(std::max(i, j)),
                                  static_cast<std::int32_t>(std::min(i, j)), adjoint, &c(row, col), c.ld};
        const int owner = layout_.owner(one.row, one.col);
        if (owner == runtime_.rank())
          note(one, notes);
        else
          pack(one, size(i), size(j), notes.sent[static_cast<std::size_t>(owner)]);
        row += size(i);
      }
      col += size(j);
    }
  }
  void pack(const Contribution<T>& one, Index rows, Index cols, std::vector<std::byte>& to) const {
    const PackedHeader header{one.row, one.col, one.adjoint};
    static_assert(sizeof header == 16);
    const std::size_t begin = to.size(), bytes = static_cast<std::size_t>(rows * cols) * sizeof(T);
    to.resize(begin + sizeof header + padded(bytes));
    std::memcpy(to.data() + begin, &header, sizeof header);
    for (Index j = 0; j < cols; ++j)
      std::memcpy(to.data() + begin + sizeof header + static_cast<std::size_t>(j * rows) * sizeof(T),
                  one.values + j * one.ld, static_cast<std::size_t>(rows) * sizeof(T));
  }
  void note(const Contribution<T>& one, Notes& notes) const {
    const Index panel =
        layout_.rows->panel_of(one.row) + layout_.cols->panel_of(one.col) * layout_.rows->panels();
    notes
        .of_part[first_part_[static_cast<std::size_t>(panel)] +
                 static_cast<std::size_t>(layout_.rows->position(one.row) / rows_at_once)]
        .push_back(one);
  }

  PanelPart<T> part_of(std::vector<Contribution<T>>& all) const {
    std::sort(all.begin(), all.end(), [](const Contribution<T>& x, const Contribution<T>& y) {
      return x.row != y.row ? x.row < y.row : x.col != y.col ? x.col < y.col : x.adjoint < y.adjoint;
    });
    PanelPart<T> part;
    std::size_t elements = 0;
    for (const Contribution<T>& one : all)
      elements += static_cast<std::size_t>(size(one.row) * size(one.col));
    part.values.reserve(elements);
    for (std::size_t k = 0; k < all.size();) {
      std::size_t end = k + 1;
      while (end < all.size() && all[end].row == all[k].row && all[end].col == all[k].col) ++end;
      add_block(all[k], end - k > 1 ? &all[k + 1] : nullptr, part);
      k = end;
    }
    return part;
  }
  /// The average of a block's two values, of which one may be missing: zero.
  void add_block(const Contribution<T>& one, const Contribution<T>* other, PanelPart<T>& part) const {
    const Index rows = size(one.row), cols = size(one.col);
    const bool on_diagonal = one.row == one.col;
    thread_local std::vector<T> average, result;
    average.resize(static_cast<std::size_t>(rows * cols));
    result.resize(average.size());
    const auto value = [](const Contribution<T>& from, Index i, Index j) {
      return from.adjoint ? conjugate(from.values[j + i * from.ld]) : from.values[i + j * from.ld];
    };
    double asymmetry_square = 0, square = 0;
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) {
        const T first = value(one, i, j);
        const T second = on_diagonal ? conjugate(value(one, j, i)) : other ? value(*other, i, j) : T(0);
        const double difference = static_cast<double>(std::abs(first - second));
        part.asymmetry = std::max(part.asymmetry, difference);
        asymmetry_square += difference * difference;
        average[static_cast<std::size_t>(i + j * rows)] = (first + second) * RealOf<T>(0.5);
      }
    const MatrixView<const T> inner{average.data(), rows, cols, rows};
    if (has_overlap_)
      multiply_block(Op::none, scaled_.factor(one.row), inner, Op::adjoint, scaled_.factor(one.col),
                     MatrixView<T>{result.data(), rows, cols, rows});
    else
      result = average;
    for (const T& element : result) square += static_cast<double>(std::norm(element));
    const double weight = on_diagonal ? 1 : 2;
    part.square += weight * square;
    part.asymmetry_square += weight * asymmetry_square;
    if (filter_eps_ > 0 && std::sqrt(square) <= filter_eps_) return;
    part.row.push_back(static_cast<std::int32_t>(layout_.rows->position(one.row)));
    part.column.push_back(static_cast<std::int32_t>(layout_.cols->position(one.col)));
    part.values.insert(part.values.end(), result.begin(), result.end());
  }
  PanelIndex index_of(std::size_t panel, const std::vector<PanelPart<T>>& parts) const {
    PanelIndex index;
    const Index row_panel = static_cast<Index>(panel) % layout_.rows->panels();
    index.row_begin.assign(layout_.rows->panel(row_panel).size() + 1, 0);
    for (std::size_t k = first_part_[panel]; k < first_part_[panel + 1]; ++k) {
      for (const std::int32_t row : parts[k].row) ++index.row_begin[static_cast<std::size_t>(row) + 1];
      index.column.insert(index.column.end(), parts[k].column.begin(), parts[k].column.end());
    }
    for (std::size_t r = 1; r < index.row_begin.size(); ++r) index.row_begin[r] += index.row_begin[r - 1];
    return index;
  }

  static constexpr Index rows_at_once = 16;
  const BlockLayout& layout_;
  const ScaledBlocks<T>& scaled_;
  const bool has_overlap_;
  Runtime& runtime_;
  const double filter_eps_;
  std::vector<std::size_t> first_part_{0};  ///< of each panel, and the end
  std::vector<Notes> notes_;                ///< of each thread
  std::deque<HostAccess> accesses_;
  std::vector<std::vector<std::byte>> received_;
};

}  // namespace

template <class T>
AssembledDensity<T> assemble_columns(const BlockLayout& layout, const ScaledBlocks<T>& scaled,
                                     bool has_overlap, const std::vector<Submatrix>& submatrices,
                                     const std::vector<SubmatrixBatch>& batches,
                                     const std::vector<Data>& columns, Runtime& runtime, double filter_eps) {
  ColumnAssembly<T> assembly(layout, scaled, has_overlap, runtime, filter_eps);
  assembly.add(submatrices, batches, columns);
  return assembly.finish();
}

#define TESSERA_INSTANTIATE(T)                                                         \
  template AssembledDensity<T> assemble_columns<T>(                                    \
      const BlockLayout&, const ScaledBlocks<T>&, bool, const std::vector<Submatrix>&, \
      const std::vector<SubmatrixBatch>&, const std::vector<Data>&, Runtime&, double);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
