// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include <fmt/format.h>

#include <tessera/algorithms/density_matrix/block_algebra.hpp>
#include <tessera/algorithms/density_matrix/small_blocks.hpp>
#include <tessera/algorithms/density_matrix/submatrix_blocks.hpp>
#include <tessera/codelets/linalg/blas.hpp>
#include <tessera/runtime/parallel_for.hpp>

namespace tessera::detail {

namespace {

/// The values of a matrix' panels on this rank, as long as it lives.
template <class T>
class PanelValues {
 public:
  explicit PanelValues(const BlockSparseMatrix<T>& a)
      : values_(static_cast<std::size_t>(a.pattern().panels())) {
    for (Index p = 0; p < a.pattern().panels(); ++p) {
      if (!a.pattern().panel_local(p) || a.pattern().panel_elements(p) == 0) continue;
      values_[static_cast<std::size_t>(p)] =
          accesses_.emplace_back(a.panel(p), HostAccess::Mode::read).template array<T>().data();
    }
  }
  const T* of(Index panel) const noexcept { return values_[static_cast<std::size_t>(panel)]; }

 private:
  std::deque<HostAccess> accesses_;
  std::vector<const T*> values_;
};

/// visit(column position, number in a or -1, number in b or -1) for the blocks of a row of a panel that either stores.
template <class Visit>
void merge_rows(const PanelIndex* a, const PanelIndex* b, std::size_t row, const Visit& visit) {
  const auto range = [&](const PanelIndex* index) {
    if (!index || index->row_begin.empty()) return std::pair<std::size_t, std::size_t>(0, 0);
    return std::pair<std::size_t, std::size_t>(index->row_begin[row], index->row_begin[row + 1]);
  };
  auto [i, end_i] = range(a);
  auto [j, end_j] = range(b);
  while (i < end_i || j < end_j) {
    const std::int32_t of_a = i < end_i ? a->column[i] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t of_b = j < end_j ? b->column[j] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t col = std::min(of_a, of_b);
    visit(col, of_a == col ? static_cast<Index>(i++) : -1, of_b == col ? static_cast<Index>(j++) : -1);
  }
}

template <class Record>
void append(std::vector<std::byte>& bytes, const Record* records, std::size_t count) {
  const auto* const begin = reinterpret_cast<const std::byte*>(records);
  bytes.insert(bytes.end(), begin, begin + count * sizeof(Record));
}

}  // namespace

template <class T>
ScaledBlocks<T>::ScaledBlocks(const BlockSparseMatrix<T>& h, const BlockSparseMatrix<T>* s)
    : runtime_(h.runtime()), dimension_(h.layout().rows), has_overlap_(s != nullptr) {
  if (s) make_factors(*s);
  scale_blocks(h, s);
}

template <class T>
MatrixView<const T> ScaledBlocks<T>::factor(Index block) const noexcept {
  const Index order = size(block);
  return {factors_.data() + factor_begin_[static_cast<std::size_t>(block)], order, order, order};
}

/// D of a block; false where S's block is not positive definite, or not stored (null).
template <class T>
bool ScaledBlocks<T>::make_factor(Index block, const T* s) {
  const Index order = size(block);
  if (order == 0) return true;
  if (!s) return false;
  T* const d = factors_.data() + factor_begin_[static_cast<std::size_t>(block)];
  std::vector<T> inverse(s, s + order * order);
  if (blas::potrf<T>(Uplo::lower, order, inverse.data(), order) != 0 ||
      blas::trtri<T>(Uplo::lower, Diag::non_unit, order, inverse.data(), order) != 0)
    return false;
  for (Index j = 0; j < order; ++j)  // D = L^{-H}
    for (Index i = 0; i < order; ++i)
      d[i + j * order] = i <= j ? conjugate(inverse[static_cast<std::size_t>(j + i * order)]) : T(0);
  return true;
}

template <class T>
void ScaledBlocks<T>::make_factors(const BlockSparseMatrix<T>& s) {
  factor_begin_.assign(1, 0);
  for (const Index order : dimension_->sizes()) factor_begin_.push_back(factor_begin_.back() + order * order);
  factors_.assign(static_cast<std::size_t>(factor_begin_.back()), T(0));
  const BlockPattern& pattern = s.pattern();
  const PanelValues<T> values_of(s);
  std::vector<Index> own_blocks;
  for (Index block = 0; block < pattern.rows().blocks(); ++block)
    if (pattern.layout().owner(block, block) == runtime_.rank()) own_blocks.push_back(block);
  std::atomic<Index> failed = pattern.rows().blocks();
  constexpr Index at_once = 32;
  const auto count = static_cast<Index>(own_blocks.size());
  parallel_for(host_threads(runtime_), ceil_div(count, at_once), [&](Index part, int) {
    for (Index k = part * at_once; k < std::min(count, (part + 1) * at_once); ++k) {
      const Index block = own_blocks[static_cast<std::size_t>(k)];
      const auto at = pattern.find(block, block);
      const T* const values =
          at ? values_of.of(at->panel) + pattern.index(at->panel).offset[static_cast<std::size_t>(at->block)]
             : nullptr;
      if (make_factor(block, values)) continue;
      for (Index lowest = failed; block < lowest && !failed.compare_exchange_weak(lowest, block);) {
      }
    }
  });
  std::vector<std::byte> own;
  if (runtime_.size() > 1)
    for (const Index block : own_blocks) {
      append(own, &block, 1);
      append(own, factor(block).data, static_cast<std::size_t>(size(block) * size(block)));
    }
  double first = -static_cast<double>(failed.load());
  runtime_.all_reduce_max(&first, 1);
  if (-first < static_cast<double>(pattern.rows().blocks()))
    throw IterationEnded{{StatusCode::not_positive_definite, "submatrix", static_cast<Index>(-first),
                          fmt::format("diagonal block {:.0f} of the overlap", -first)}};
  if (runtime_.size() == 1) return;
  for (const auto& piece : runtime_.all_gather(own))
    for (const std::byte *at = piece.data(), *const end = at + piece.size(); at != end;) {
      Index block;
      std::memcpy(&block, at, sizeof block);
      const auto elements = static_cast<std::size_t>(size(block) * size(block));
      std::memcpy(static_cast<void*>(factors_.data() + factor_begin_[static_cast<std::size_t>(block)]),
                  at + sizeof block, elements * sizeof(T));
      at += sizeof block + elements * sizeof(T);
    }
}

template <class T>
void ScaledBlocks<T>::scale_blocks(const BlockSparseMatrix<T>& h, const BlockSparseMatrix<T>* s) {
  const BlockPattern& pattern = h.pattern();
  const PanelValues<T> of_h(h);
  std::optional<PanelValues<T>> of_s;
  if (s) of_s.emplace(*s);
  struct Task {
    Index panel;
    std::size_t row, blocks_before;
  };
  // The places of all blocks, then their values, row by row.
  std::vector<Task> rows;
  Index elements = 0;
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!pattern.panel_local(p)) continue;
    const PanelIndex *const a = &pattern.index(p), *const b = s ? &s->pattern().index(p) : nullptr;
    const auto row_blocks = pattern.rows().panel(pattern.row_panel(p)),
               col_blocks = pattern.cols().panel(pattern.col_panel(p));
    if (pattern.panel_blocks(p) == 0 && (!s || s->pattern().panel_blocks(p) == 0)) continue;
    for (std::size_t r = 0; r < row_blocks.size(); ++r) {
      rows.push_back({p, r, mine_.index.size()});
      merge_rows(a, b, r, [&](std::int32_t col, Index, Index) {
        const Index i = row_blocks[r], j = col_blocks[static_cast<std::size_t>(col)];
        mine_.index.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j), elements});
        elements += size(i) * size(j);
      });
    }
  }
  mine_.reserve(elements, s != nullptr);
  norms_.resize(mine_.index.size());
  constexpr Index at_once = 16;  // rows
  const auto count = static_cast<Index>(rows.size());
  parallel_for(host_threads(runtime_), ceil_div(count, at_once), [&](Index part, int) {
    for (Index k = part * at_once; k < std::min(count, (part + 1) * at_once); ++k) {
      const auto [p, r, before] = rows[static_cast<std::size_t>(k)];
      const PanelIndex *const a = &pattern.index(p), *const b = s ? &s->pattern().index(p) : nullptr;
      std::size_t next = before;
      merge_rows(a, b, r, [&](std::int32_t, Index in_h, Index in_s) {
        const auto values = [](const PanelIndex* index, const T* first, Index number) {
          return number < 0 ? nullptr : first + index->offset[static_cast<std::size_t>(number)];
        };
        norms_[next] =
            scale(mine_.index[next], values(a, of_h.of(p), in_h), s ? values(b, of_s->of(p), in_s) : nullptr);
        ++next;
      });
    }
  });
  double trace_and_bad[2] = {};
  for (std::size_t k = 0; k < norms_.size(); ++k) {
    if (!std::isfinite(norms_[k].hamiltonian + norms_[k].overlap + norms_[k].both)) trace_and_bad[1] += 1;
    const LowerBlock& block = mine_.index[k];
    for (Index i = 0, n = size(block.row); block.row == block.col && i < n; ++i)
      trace_and_bad[0] += static_cast<double>(
          real_part(mine_.hamiltonian[static_cast<std::size_t>(block.element + i * (n + 1))]));
  }
  runtime_.all_reduce_sum(trace_and_bad, 2);
  if (trace_and_bad[1] > 0)
    throw IterationEnded{{StatusCode::not_finite, "submatrix", 0, "NaN or infinity in the matrices"}};
  mean_energy_ = trace_and_bad[0] / std::max<double>(1, static_cast<double>(dimension_->elements()));
  if (runtime_.size() == 1) return;
  const auto pieces = runtime_.all_gather(std::as_bytes(std::span<const PairNorms>(norms_)));
  norms_.clear();
  for (const auto& piece : pieces) {
    const std::size_t old = norms_.size();
    norms_.resize(old + piece.size() / sizeof(PairNorms));
    std::memcpy(static_cast<void*>(norms_.data() + old), piece.data(), piece.size());
  }
}

template <class T>
typename ScaledBlocks<T>::PairNorms ScaledBlocks<T>::scale(const LowerBlock& block, const T* h, const T* s) {
  const Index m = size(block.row), n = size(block.col), elements = m * n;
  T* const to_h = mine_.hamiltonian.get() + block.element;
  const auto scaled = [&](const T* from, T* to) {
    if (!from)
      std::fill_n(to, elements, T(0));
    else if (!has_overlap_)
      std::copy_n(from, elements, to);
    else
      multiply_block(Op::adjoint, factor(block.row), {from, m, n, m}, Op::none, factor(block.col),
                     {to, m, n, m});
  };
  scaled(h, to_h);
  PairNorms norms{block.row, block.col, 0, 0, 0};
  const T* to_s = nullptr;
  if (has_overlap_) {
    T* const to = mine_.overlap.get() + block.element;
    scaled(s, to);
    to_s = to;
  }
  for (Index k = 0; k < elements; ++k) {
    norms.hamiltonian += static_cast<double>(std::norm(to_h[k]));
    if (!to_s) continue;
    norms.both += static_cast<double>(real_part(conjugate(to_h[k]) * to_s[k]));
    norms.overlap += static_cast<double>(std::norm(to_s[k]));
  }
  return norms;
}

template <class T>
BlockGraph ScaledBlocks<T>::graph(double shift) const {
  BlockGraph graph;
  graph.sizes.assign(dimension_->sizes().begin(), dimension_->sizes().end());
  graph.begin.assign(graph.sizes.size() + 1, 0);
  for (const PairNorms& pair : norms_)
    if (pair.row != pair.col) {
      ++graph.begin[static_cast<std::size_t>(pair.row) + 1];
      ++graph.begin[static_cast<std::size_t>(pair.col) + 1];
    }
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  graph.edges.resize(static_cast<std::size_t>(graph.begin.back()));
  std::vector<Index> next(graph.begin.begin(), graph.begin.end() - 1);
  for (const PairNorms& pair : norms_) {
    if (pair.row == pair.col) continue;
    const double square = pair.hamiltonian - 2 * shift * pair.both + shift * shift * pair.overlap;
    const auto coupling = static_cast<float>(std::sqrt(std::max(square, 0.0)));
    graph.edges[static_cast<std::size_t>(next[static_cast<std::size_t>(pair.row)]++)] = {pair.col, coupling};
    graph.edges[static_cast<std::size_t>(next[static_cast<std::size_t>(pair.col)]++)] = {pair.row, coupling};
  }
  constexpr Index at_once = 64;
  parallel_for(host_threads(runtime_), ceil_div(graph.blocks(), at_once), [&](Index part, int) {
    for (Index b = part * at_once; b < std::min(graph.blocks(), (part + 1) * at_once); ++b)
      std::sort(graph.edges.begin() + graph.begin[static_cast<std::size_t>(b)],
                graph.edges.begin() + graph.begin[static_cast<std::size_t>(b) + 1],
                [](const BlockGraph::Edge& x, const BlockGraph::Edge& y) {
                  return x.coupling != y.coupling ? x.coupling > y.coupling : x.block < y.block;
                });
  });
  return graph;
}

template <class T>
typename ScaledBlocks<T>::Blocks ScaledBlocks<T>::wanted_of_all(const std::vector<char>& wanted) const {
  const auto requests = runtime_.all_gather(std::as_bytes(std::span<const char>(wanted)));
  std::vector<std::vector<std::byte>> pieces;
  for (const auto& request : requests) {
    const auto* const of_rank = reinterpret_cast<const char*>(request.data());
    auto& piece = pieces.emplace_back();
    for (const LowerBlock& block : mine_.index) {
      if (!of_rank[block.row] || !of_rank[block.col]) continue;
      const auto elements = static_cast<std::size_t>(size(block.row) * size(block.col));
      append(piece, &block, 1);
      append(piece, mine_.hamiltonian.get() + block.element, elements);
      if (has_overlap_) append(piece, mine_.overlap.get() + block.element, elements);
    }
  }
  const auto received = runtime_.all_to_all(std::move(pieces));
  Blocks all;
  Index elements = 0;
  const auto for_each = [&](const auto& visit) {
    for (const auto& piece : received)
      for (const std::byte *at = piece.data(), *const end = at + piece.size(); at != end;) {
        LowerBlock block;
        std::memcpy(static_cast<void*>(&block), at, sizeof block);
        at += sizeof block;
        const Index of_block = size(block.row) * size(block.col);
        visit(block, at);
        at += static_cast<std::size_t>((has_overlap_ ? 2 : 1) * of_block) * sizeof(T);
      }
  };
  for_each([&](LowerBlock block, const std::byte*) {
    block.element = elements;
    all.index.push_back(block);
    elements += size(block.row) * size(block.col);
  });
  all.reserve(elements, has_overlap_);
  auto next = all.index.begin();
  for_each([&](const LowerBlock&, const std::byte* at) {
    const LowerBlock& block = *next++;
    const std::size_t bytes = static_cast<std::size_t>(size(block.row) * size(block.col)) * sizeof(T);
    std::memcpy(static_cast<void*>(all.hamiltonian.get() + block.element), at, bytes);
    if (has_overlap_) std::memcpy(static_cast<void*>(all.overlap.get() + block.element), at + bytes, bytes);
  });
  return all;
}

template <class T>
SubmatrixSource ScaledBlocks<T>::source(const std::vector<char>& wanted) const {
  return runtime_.size() == 1 ? by_columns(mine_) : by_columns(wanted_of_all(wanted));
}

template <class T>
SubmatrixSource ScaledBlocks<T>::by_columns(const Blocks& lower) const {
  struct Entry {
    std::int32_t row;
    std::int32_t mirrored;
    Index element;  // of the lower block
  };
  const auto columns = static_cast<std::size_t>(dimension_->blocks());
  std::vector<Index> begins(columns + 1, 0), first_element(columns + 1, 0);
  for (const LowerBlock& block : lower.index) {
    ++begins[static_cast<std::size_t>(block.col) + 1];
    first_element[static_cast<std::size_t>(block.col) + 1] += size(block.row) * size(block.col);
    if (block.row == block.col) continue;
    ++begins[static_cast<std::size_t>(block.row) + 1];
    first_element[static_cast<std::size_t>(block.row) + 1] += size(block.row) * size(block.col);
  }
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::partial_sum(first_element.begin(), first_element.end(), first_element.begin());
  std::vector<Entry> entries(static_cast<std::size_t>(begins.back()));
  std::vector<Index> next(begins.begin(), begins.end() - 1);
  for (const LowerBlock& block : lower.index) {
    entries[static_cast<std::size_t>(next[static_cast<std::size_t>(block.col)]++)] = {block.row, 0,
                                                                                      block.element};
    if (block.row != block.col)
      entries[static_cast<std::size_t>(next[static_cast<std::size_t>(block.row)]++)] = {block.col, 1,
                                                                                        block.element};
  }
  const auto array = [&](std::size_t bytes) {
    return Data::bytes(runtime_, std::max<std::size_t>(bytes, sizeof(Index) * 2), Data::every_rank);
  };
  SubmatrixSource source{array(begins.size() * sizeof(Index)), array(entries.size() * sizeof(ColumnBlock)),
                         array(static_cast<std::size_t>(first_element.back()) * sizeof(T)), Data()};
  if (has_overlap_) source.overlap = array(static_cast<std::size_t>(first_element.back()) * sizeof(T));
  const HostAccess to_begins(source.begins, HostAccess::Mode::write),
      to_blocks(source.blocks, HostAccess::Mode::write), to_h(source.hamiltonian, HostAccess::Mode::write);
  std::optional<HostAccess> to_s;
  if (has_overlap_) to_s.emplace(source.overlap, HostAccess::Mode::write);
  std::copy(begins.begin(), begins.end(), to_begins.array<Index>().begin());
  const auto copy = [&](const Entry& entry, Index col, const T* from, T* to) {
    const Index m = size(entry.row), n = size(col);
    const T* const block = from + entry.element;
    if (!entry.mirrored) {
      std::copy_n(block, m * n, to);
      return;
    }
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < m; ++i) to[i + j * m] = conjugate(block[j + i * n]);
  };
  constexpr Index at_once = 64;
  parallel_for(host_threads(runtime_), ceil_div(static_cast<Index>(columns), at_once), [&](Index part, int) {
    for (Index col = part * at_once; col < std::min(static_cast<Index>(columns), (part + 1) * at_once);
         ++col) {
      const Index begin = begins[static_cast<std::size_t>(col)],
                  end = begins[static_cast<std::size_t>(col) + 1];
      std::sort(entries.begin() + begin, entries.begin() + end,
                [](const Entry& x, const Entry& y) { return x.row < y.row; });
      Index element = first_element[static_cast<std::size_t>(col)];
      for (Index k = begin; k < end; ++k) {
        const Entry& entry = entries[static_cast<std::size_t>(k)];
        to_blocks.array<ColumnBlock>()[static_cast<std::size_t>(k)] = {
            entry.row, static_cast<std::int32_t>(size(entry.row)), element};
        copy(entry, col, lower.hamiltonian.get(), to_h.array<T>().data() + element);
        if (to_s) copy(entry, col, lower.overlap.get(), to_s->array<T>().data() + element);
        element += size(entry.row) * size(col);
      }
    }
  });
  return source;
}

#define TESSERA_INSTANTIATE(T) template class ScaledBlocks<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
