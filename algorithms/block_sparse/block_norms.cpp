// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstring>

#include <tessera/algorithms/block_sparse/block_norms.hpp>
#include <tessera/algorithms/block_sparse/copy_blocks.hpp>
#include <tessera/codelets/block_sparse/block_values.hpp>

namespace tessera {
namespace {

/// The blocks of a panel without those below `eps`.
PanelIndex without_small(const PanelIndex& index, std::span<const double> norms, double eps) {
  PanelIndex kept;
  kept.row_begin.assign(1, 0);
  for (std::size_t row = 0; row + 1 < index.row_begin.size(); ++row) {
    for (auto b = index.row_begin[row]; b < index.row_begin[row + 1]; ++b)
      if (!(norms[static_cast<std::size_t>(b)] < eps))
        kept.column.push_back(index.column[static_cast<std::size_t>(b)]);
    kept.row_begin.push_back(static_cast<std::int32_t>(kept.column.size()));
  }
  return kept;
}

}  // namespace

template <class T>
std::vector<Data> submit_block_norms(Sequence& sequence, const BlockSparseMatrix<T>& a) {
  const BlockPattern& pattern = a.pattern();
  std::vector<Data> squares(static_cast<std::size_t>(pattern.panels()));
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (pattern.index(p).blocks() == 0) continue;
    Data& piece = squares[static_cast<std::size_t>(p)];
    piece = Data::bytes(a.runtime(), static_cast<std::size_t>(pattern.index(p).blocks()) * sizeof(double),
                        pattern.panel_owner(p));
    insert_block_norms<T>(sequence, 0, pattern.blocks_of(p), a.panel(p), piece);
  }
  return squares;
}

std::vector<std::vector<double>> local_block_norms(const std::vector<Data>& squares) {
  std::vector<std::vector<double>> norms(squares.size());
  for (std::size_t p = 0; p < squares.size(); ++p) {
    if (!squares[p].valid() || !squares[p].local()) continue;
    const HostAccess access(squares[p], HostAccess::Mode::read);
    for (const double square : access.array<const double>()) norms[p].push_back(std::sqrt(square));
  }
  return norms;
}

std::vector<std::vector<double>> gather_block_norms(const BlockPattern& pattern,
                                                    std::vector<std::vector<double>> local) {
  if (pattern.runtime().size() == 1) return local;
  std::vector<double> mine;
  for (const auto& norms : local) mine.insert(mine.end(), norms.begin(), norms.end());
  const auto all = pattern.runtime().all_gather(std::as_bytes(std::span<const double>(mine)));
  std::vector<std::size_t> at(all.size(), 0);
  for (Index p = 0; p < pattern.panels(); ++p) {
    const auto owner = static_cast<std::size_t>(pattern.panel_owner(p));
    auto& norms = local[static_cast<std::size_t>(p)];
    norms.resize(static_cast<std::size_t>(pattern.index(p).blocks()));
    if (norms.empty()) continue;
    std::memcpy(norms.data(), all[owner].data() + at[owner], norms.size() * sizeof(double));
    at[owner] += norms.size() * sizeof(double);
  }
  return local;
}

template <class T>
Index drop_small_blocks(BlockSparseMatrix<T>& a, double eps) {
  Runtime& runtime = a.runtime();
  const BlockPattern& pattern = a.pattern();
  std::vector<std::vector<double>> norms;
  {
    Sequence sequence(runtime);
    const std::vector<Data> squares = submit_block_norms(sequence, a);
    sequence.wait();
    norms = local_block_norms(squares);
  }
  std::vector<PanelIndex> kept(static_cast<std::size_t>(pattern.panels()));
  double local_dropped = 0;
  for (Index p = 0; p < pattern.panels(); ++p) {
    if (!pattern.panel_local(p)) continue;
    auto& index = kept[static_cast<std::size_t>(p)];
    index = without_small(pattern.index(p), norms[static_cast<std::size_t>(p)], eps);
    local_dropped += static_cast<double>(pattern.index(p).blocks() - index.blocks());
  }
  double dropped = local_dropped;
  runtime.all_reduce_sum(&dropped, 1);
  if (dropped == 0) return 0;
  Sequence sequence(runtime);
  BlockSparseMatrix<T> smaller =
      zero_matrix<T>(sequence, BlockPattern::from_panels(runtime, a.layout(), std::move(kept)));
  copy_blocks(sequence, T(1), a, smaller);
  sequence.wait();
  a = std::move(smaller);
  return static_cast<Index>(dropped);
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template std::vector<Data> submit_block_norms<T>(Sequence&, const BlockSparseMatrix<T>&); \
  template Index drop_small_blocks<T>(BlockSparseMatrix<T>&, double);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
