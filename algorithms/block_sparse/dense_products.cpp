// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <limits>

#include <tessera/algorithms/block_sparse/dense_products.hpp>
#include <tessera/algorithms/block_sparse/task_list.hpp>
#include <tessera/runtime/agreement.hpp>
#include <tessera/runtime/host_memory.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

namespace {

/// Elements along the largest panel of a dimension.
Index largest_extent(const BlockDimension& dimension) {
  Index largest = 0;
  for (Index p = 0; p < dimension.panels(); ++p) largest = std::max(largest, dimension.extent(p));
  return largest;
}

bool everything(const MultiplyLimits& limits, Index rows, Index cols, Index inner) {
  return limits.first_row == 0 && limits.first_col == 0 && limits.first_inner == 0 &&
         limits.end_row >= rows && limits.end_col >= cols && limits.end_inner >= inner;
}

/// Bytes of the dense arrays that the owners of some row (column) of the process grid need of A (B), at most,
/// and of the lists of blocks from which they are made.
template <class T>
Index dense_bytes(const BlockPattern& operand, bool by_rows, UseDense use) {
  const ProcessGrid& grid = operand.layout().grid;
  std::vector<Index> sums(static_cast<std::size_t>(by_rows ? grid.rows : grid.cols), 0);
  for (Index p = 0; p < operand.panels(); ++p) {
    const Index row = operand.row_panel(p), col = operand.col_panel(p);
    const Index elements = operand.rows().extent(row) * operand.cols().extent(col),
                stored = operand.panel_elements(p);
    const double least = use == UseDense::always ? 0 : least_dense_share * static_cast<double>(elements);
    if (stored == 0 || static_cast<double>(stored) < least) continue;
    const int owner = by_rows ? operand.rows().panel_owner(row) : operand.cols().panel_owner(col);
    sums[static_cast<std::size_t>(owner)] += elements * static_cast<Index>(sizeof(T)) +
                                             operand.panel_blocks(p) * static_cast<Index>(sizeof(DenseBlock));
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

/// A quarter of the memory of a GPU, or of a rank's share of the host memory: the smallest of all ranks.
/// Collective.
double memory_for_dense(const Runtime& runtime) {
  struct Host {
    std::uint64_t name;
    std::int64_t bytes;
  };
  const Host mine{hash_of(runtime.info().host),
                  std::min(runtime.info().memory_bytes,
                           static_cast<std::int64_t>(std::min<std::size_t>(
                               host_memory_limit(), std::numeric_limits<std::int64_t>::max())))};
  std::vector<Host> hosts;
  for (const auto& piece : runtime.all_gather(std::as_bytes(std::span(&mine, 1))))
    std::memcpy(&hosts.emplace_back(), piece.data(), sizeof mine);
  double least = std::numeric_limits<double>::max();
  for (const Host& host : hosts) {
    const auto ranks =
        std::count_if(hosts.begin(), hosts.end(), [&](const Host& h) { return h.name == host.name; });
    least = std::min(least, static_cast<double>(host.bytes) / static_cast<double>(ranks));
  }
  const auto gpu = static_cast<double>(runtime.info().gpu_memory_bytes);
  return (gpu > 0 ? std::min(least, gpu) : least) / 4;
}

/// The blocks of a panel and their places in its dense array, on this rank.
Data describe(const BlockPattern& pattern, Index p) {
  const PanelIndex& index = pattern.index(p);
  Data entries = Data::bytes(pattern.runtime(), index.column.size() * sizeof(DenseBlock), Data::every_rank);
  const auto of_rows = pattern.rows().panel(pattern.row_panel(p)),
             of_cols = pattern.cols().panel(pattern.col_panel(p));
  struct Column {
    std::int32_t first, size;
  };
  std::vector<Column> columns;
  std::int32_t first = 0;
  for (const Index block : of_cols) {
    columns.push_back({first, static_cast<std::int32_t>(pattern.cols().size(block))});
    first += columns.back().size;
  }
  const HostAccess access(entries, HostAccess::Mode::write);
  DenseBlock* const blocks = access.array<DenseBlock>().data();
  std::int32_t row = 0;
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    const auto rows = static_cast<std::int32_t>(pattern.rows().size(of_rows[i]));
    for (auto b = static_cast<std::size_t>(index.row_begin[i]);
         b < static_cast<std::size_t>(index.row_begin[i + 1]); ++b) {
      const Column& column = columns[static_cast<std::size_t>(index.column[b])];
      blocks[b] = {static_cast<std::int32_t>(index.offset[b]), row, column.first, rows, column.size};
    }
    row += rows;
  }
  return entries;
}

}  // namespace

template <class T>
DenseRule dense_rule(const MultiplyOptions& options, const ProductOperands<T>& operands,
                     const BlockPattern& c) {
  const BlockPattern &a = operands.a().pattern(), &b = operands.b().pattern();
  Runtime& runtime = c.runtime();
  if (options.dense == UseDense::never ||
      !everything(options.limits, c.rows().elements(), c.cols().elements(), a.cols().elements()))
    return {};
  const Index rows = largest_extent(c.rows()), cols = largest_extent(c.cols()),
              inner = largest_extent(a.cols());
  // Tasks count the elements of a panel in 32 bits.
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  const auto too_large = [&](Index m, Index n) { return n > 0 && m > most / n; };
  if (too_large(rows, cols) || too_large(rows, inner) || too_large(inner, cols)) return {};
  const Index of_a = dense_bytes<T>(a, true, options.dense), of_b = dense_bytes<T>(b, false, options.dense);
  if (of_a == 0 || of_b == 0) return {};
  // Panels of C that are computed at the same time. Their blocks are not known yet, so all are counted.
  constexpr Index results = 4;
  const Index of_c = results * rows * cols * static_cast<Index>(sizeof(T) + sizeof(DenseBlock));
  if (static_cast<double>(of_a + of_b + of_c) > memory_for_dense(runtime)) return {};
  return {options.dense, runtime.gpus() > 0 ? WorkerKind::gpu : WorkerKind::cpu,
          static_cast<int>(sizeof(RealOf<T>)), is_complex<T>};
}

template <class T>
DenseProducts<T>::DenseProducts(Sequence& sequence, const ProductOperands<T>& operands,
                                const ProductPlan& plan)
    : sequence_(sequence),
      plan_(plan),
      c_(*plan.pattern()),
      elsewhere_(stand_in(sequence.runtime(), sizeof(DenseBlock))),
      a_(expanded(operands.a(), plan.a())),
      b_(expanded(operands.b(), plan.b())) {
  for (Index p = 0; p < c_.panels(); ++p)
    for (Index inner = 0; inner < plan.inner_panels(); ++inner)
      if (plan.dense(p, inner)) {
        ++a_.uses[static_cast<std::size_t>(operands.a().pattern().panel(c_.row_panel(p), inner))];
        ++b_.uses[static_cast<std::size_t>(operands.b().pattern().panel(inner, c_.col_panel(p)))];
      }
}

template <class T>
typename DenseProducts<T>::Expanded DenseProducts<T>::expanded(const BlockSparseMatrix<T>& matrix,
                                                               const BlockPattern& known) const {
  const BlockPattern& pattern = matrix.pattern();
  const auto panels = static_cast<std::size_t>(pattern.panels());
  return {&matrix, &known, std::vector<Data>(panels), std::vector<std::vector<int>>(panels),
          std::vector<Index>(panels, 0)};
}

template <class T>
bool DenseProducts<T>::any(Index panel) const noexcept {
  for (Index inner = 0; inner < plan_.inner_panels(); ++inner)
    if (plan_.dense(panel, inner)) return true;
  return false;
}

/// The dense array of a panel; inserts the task that makes it on `rank` if there is none yet.
template <class T>
const Data& DenseProducts<T>::expand(int priority, Expanded& operand, Index panel, int rank) {
  const auto at = static_cast<std::size_t>(panel);
  const BlockPattern& pattern = operand.matrix->pattern();
  Runtime& runtime = sequence_.runtime();
  Data& dense = operand.panels[at];
  if (!dense.valid())
    dense = Data::matrix(runtime, pattern.rows().extent(pattern.row_panel(panel)),
                         pattern.cols().extent(pattern.col_panel(panel)), sizeof(T), Data::every_rank);
  std::vector<int>& ranks = operand.ranks[at];
  if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) return dense;
  ranks.push_back(rank);
  Data blocks;
  if (rank == runtime.rank()) blocks = describe(*operand.known, panel);
  sequence_.insert(ExpandPanel<T>{.blocks = blocks.valid() ? blocks : elsewhere_,
                                  .values = operand.matrix->panel(panel),
                                  .dense = dense},
                   {.priority = priority, .execute_on = rank});
  return dense;
}

template <class T>
void DenseProducts<T>::expand(int priority, Index panel, Index inner) {
  const int owner = c_.panel_owner(panel);
  expand(priority, a_, a_.matrix->pattern().panel(c_.row_panel(panel), inner), owner);
  expand(priority, b_, b_.matrix->pattern().panel(inner, c_.col_panel(panel)), owner);
}

/// One product less to come.
template <class T>
void DenseProducts<T>::used(Expanded& operand, Index panel) {
  const auto at = static_cast<std::size_t>(panel);
  if (--operand.uses[at] == 0) operand.panels[at].release();
}

template <class T>
void DenseProducts<T>::submit(int priority, Index panel, Index first_inner, ProductWorker* ran_on,
                              const WriteOrAdd<Array<T>>& c) {
  const BlockPattern &pa = a_.matrix->pattern(), &pb = b_.matrix->pattern();
  const Index row = c_.row_panel(panel), col = c_.col_panel(panel), inner_panels = plan_.inner_panels();
  const Index m = c_.rows().extent(row), n = c_.cols().extent(col);
  const int owner = c_.panel_owner(panel);
  const bool local = c_.panel_local(panel);
  const Data dense_c = Data::matrix(sequence_.runtime(), m, n, sizeof(T), owner);
  for (Index step = 0; step < inner_panels; ++step) {
    const Index inner = (first_inner + step) % inner_panels;
    if (!plan_.dense(panel, inner)) continue;
    const Index of_a = pa.panel(row, inner), of_b = pb.panel(inner, col);
    const Data &dense_a = expand(priority + 1, a_, of_a, owner),
               &dense_b = expand(priority + 1, b_, of_b, owner);
    std::span<const StackClass> classes;
    if (local) classes = plan_.counts(panel).classes[static_cast<std::size_t>(inner)];
    sequence_.insert(MultiplyDense<T>{.a = dense_a,
                                      .b = dense_b,
                                      .c = dense_c,
                                      .m = m,
                                      .n = n,
                                      .k = a_.known->cols().extent(inner),
                                      .classes = classes,
                                      .ran_on = ran_on + inner},
                     {.priority = priority});
    used(a_, of_a);
    used(b_, of_b);
  }
  Data blocks;
  if (local) blocks = describe(c_, panel);
  sequence_.insert(ExtractBlocks<T>{.blocks = local ? blocks : elsewhere_, .dense = dense_c, .values = c},
                   {.priority = priority});
}

#define TESSERA_INSTANTIATE(T)                                                                              \
  template DenseRule dense_rule<T>(const MultiplyOptions&, const ProductOperands<T>&, const BlockPattern&); \
  template class DenseProducts<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
