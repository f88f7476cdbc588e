// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <tessera/algorithms/dense/split_space.hpp>
#include <tessera/algorithms/dense/stage_arguments.hpp>
#include <tessera/algorithms/dense/task_memory.hpp>
#include <tessera/algorithms/dense/tridiagonal_eigen.hpp>
#include <tessera/algorithms/dense/tridiagonal_sizes.hpp>
#include <tessera/codelets/dense/copy.hpp>
#include <tessera/codelets/divide_and_conquer/leaf_tasks.hpp>
#include <tessera/codelets/divide_and_conquer/merge_tasks.hpp>
#include <tessera/codelets/linalg/split_products.hpp>

namespace tessera::detail {

namespace {

using divide_and_conquer::Child;
using divide_and_conquer::MergePanel;
using divide_and_conquer::MergeRecord;
using divide_and_conquer::MergeShape;
using divide_and_conquer::NodeSpectrum;
using divide_and_conquer::ScaledTridiagonal;

int value_priority(int depth) {
  return 64 + depth;
}
int pack_priority(int depth) {
  return 4 * depth + 3;
}
int update_priority(int depth) {
  return 4 * depth + 3;
}
int secular_priority(int depth) {
  return 4 * depth + 2;
}
int slab_priority() {
  return 4;
}

/// A leading dimension that keeps columns aligned.
Index aligned(Index rows) {
  return ceil_div(rows, 8) * 8;
}

}  // namespace

template <class T>
TridiagonalEigen<T>::TridiagonalEigen(Sequence& sequence, Index n, const Data& d, const Data& e,
                                      bool want_vectors)
    : runtime_(&sequence.runtime()), n_(n), want_vectors_(want_vectors) {
  const auto check = [&] {
    if (n < 1) throw InvalidArgument("n", std::to_string(n), "at least 1");
    require_made("d", d);
    require_made("e", e);
  };
  collectively(*runtime_, "TridiagonalEigen", argument_hash(sizeof(T), is_complex<T>, n, want_vectors), check,
               [&] { submit_values(sequence, d, e); });
}

template <class T>
void TridiagonalEigen<T>::submit_values(Sequence& sequence, const Data& d, const Data& e) {
  leaf_ = choose_leaf(*runtime_, n_, want_vectors_, sizeof(Real));
  const Index leaves = ceil_div(n_, leaf_);
  plan(0, leaves, 0);
  const int deepest = std::max_element(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
                        return a.depth < b.depth;
                      })->depth;
  const Data scratch = Data::scratch(*runtime_, divide_and_conquer::merge_scratch_bytes(n_));
  values_ = Data::bytes(*runtime_, static_cast<std::size_t>(n_) * sizeof(Real), Data::every_rank);
  const Data scaled = Data::bytes(*runtime_, ScaledTridiagonal::bytes(n_), Data::every_rank);
  sequence.insert(
      divide_and_conquer::ScaleAndCut<Real>{.d = d, .e = e, .scaled = scaled, .n = n_, .leaf = leaf_},
      {.priority = value_priority(deepest + 1)});
  submit_leaves(sequence, value_priority(deepest), scaled);
  for (Node& node : nodes_)
    if (node.leaves > 1) submit_merge(sequence, node, scaled, scratch, &node == &nodes_.back());
  sequence.insert(
      divide_and_conquer::Unscale<Real>{
          .scaled = scaled, .spectrum = nodes_.back().spectrum, .values = values_, .n = n_},
      {.priority = value_priority(0)});
  nodes_.back().spectrum.release();
}

template <class T>
int TridiagonalEigen<T>::plan(Index first_leaf, Index leaves, int depth) {
  Node node{first_leaf, leaves, first_leaf * leaf_, 0, depth, -1, -1, {}, {}, {}};
  node.order = std::min(n_, (first_leaf + leaves) * leaf_) - node.start;
  if (leaves > 1) {
    const Index half = (leaves + 1) / 2;
    node.left = plan(first_leaf, half, depth + 1);
    node.right = plan(first_leaf + half, leaves - half, depth + 1);
  }
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

template <class T>
int TridiagonalEigen<T>::block_owner(Index leaf) const {
  return static_cast<int>(leaf % runtime_->size());
}

/// Row blocks of neighbouring leaves share a GPU: most merges are then one GPU's alone, and of the others
/// each GPU needs no more than the record.
template <class T>
int TridiagonalEigen<T>::block_gpu(Index leaf) const {
  const Index ranks = runtime_->size(), leaves = ceil_div(n_, leaf_), first = leaf % ranks;
  return runtime_->gpu_of_part(leaf / ranks, (leaves - first - 1) / ranks + 1);
}

template <class T>
Data TridiagonalEigen<T>::spectrum_piece(Index order, int owner) const {
  const auto doubles = static_cast<std::size_t>(NodeSpectrum::doubles(order));
  return Data::bytes(*runtime_, doubles * sizeof(double), owner);
}

template <class T>
void TridiagonalEigen<T>::submit_leaves(Sequence& sequence, int priority, const Data& scaled) {
  std::vector<Node*> leaves;
  for (Node& node : nodes_)
    if (node.leaves == 1) {
      node.spectrum = spectrum_piece(node.order, Data::every_rank);
      leaves.push_back(&node);
    }
  if (want_vectors_)
    submit_leaf_vectors(sequence, priority, scaled, leaves);
  else
    submit_leaf_values(sequence, priority, scaled, leaves);
}

template <class T>
void TridiagonalEigen<T>::submit_leaf_values(Sequence& sequence, int priority, const Data& scaled,
                                             const std::vector<Node*>& leaves) {
  const bool on_gpu = runtime_->info().cuda_workers > 0;  // of this rank
  const Data scratch = Data::scratch(*runtime_, divide_and_conquer::subtree_scratch_bytes(leaf_, on_gpu));
  for (const Node* leaf : leaves)
    sequence.insert(
        divide_and_conquer::SubtreeValues{.scaled = scaled,
                                          .spectrum = leaf->spectrum,
                                          .work = scratch,
                                          .rows = {.n = n_, .start = leaf->start, .m = leaf->order},
                                          .epsilon = double(precision<Real>),
                                          .boundary_rows = nodes_.size() > 1},
        {.priority = priority});
}

/// One rank computes a leaf, all ranks use its spectrum.
template <class T>
void TridiagonalEigen<T>::submit_leaf_vectors(Sequence& sequence, int priority, const Data& scaled,
                                              const std::vector<Node*>& leaves) {
  const bool on_gpu = runtime_->info().cuda_workers > 0;  // of this rank
  const Index count = std::ssize(leaves), ranks = runtime_->size(),
              together = leaves_together(*runtime_, leaf_, sizeof(Real));
  const Index largest = std::min(together, ceil_div(count, ranks));
  const Data scratch = Data::scratch(
      *runtime_, divide_and_conquer::leaf_scratch_bytes({largest * leaf_, leaf_, leaf_}, on_gpu));
  for (Node* leaf : leaves) {
    leaf->vectors =
        Data::matrix(*runtime_, leaf->order, leaf->order, sizeof(Real), block_owner(leaf->first_leaf));
    leaf->vectors.set_gpu(block_gpu(leaf->first_leaf));
  }
  for (Index rank = 0; rank < ranks; ++rank)
    for (Index first = rank; first < count; first += together * ranks) {
      std::vector<Node*> forest;
      for (Index leaf = first; leaf < count && std::ssize(forest) < together; leaf += ranks)
        forest.push_back(leaves[static_cast<std::size_t>(leaf)]);
      submit_forest(sequence, priority, scaled, scratch, forest, static_cast<int>(rank));
    }
}

/// Some leaves as one task of a rank, which sends their spectra to all.
template <class T>
void TridiagonalEigen<T>::submit_forest(Sequence& sequence, int priority, const Data& scaled,
                                        const Data& scratch, const std::vector<Node*>& leaves, int rank) {
  const int ranks = runtime_->size();
  divide_and_conquer::Forest forest{0, leaf_, ranks * leaf_};
  std::vector<Data> computed;
  for (const Node* leaf : leaves) {
    forest.rows += leaf->order;
    if (ranks > 1) computed.push_back(spectrum_piece(leaf->order, rank));
  }
  std::vector<const Data*> pieces;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    pieces.push_back(&leaves[i]->vectors);
    pieces.push_back(ranks > 1 ? &computed[i] : &leaves[i]->spectrum);
  }
  sequence.insert(divide_and_conquer::LeafVectors<Real>{.scaled = scaled,
                                                        .work = scratch,
                                                        .leaves = pieces,
                                                        .n = n_,
                                                        .start = leaves.front()->start,
                                                        .forest = forest,
                                                        .epsilon = double(precision<Real>)},
                  {.priority = priority});
  for (std::size_t i = 0; i < computed.size(); ++i)
    for (int to = 0; to < ranks; ++to)
      sequence.insert(CopyBytes{.source = computed[i], .destination = leaves[i]->spectrum},
                      {.priority = priority, .execute_on = to});
}

template <class T>
void TridiagonalEigen<T>::submit_merge(Sequence& sequence, Node& node, const Data& scaled,
                                       const Data& scratch, bool root) {
  Node &left = nodes_[static_cast<std::size_t>(node.left)],
       &right = nodes_[static_cast<std::size_t>(node.right)];
  const Index m = node.order;
  node.record = Data::bytes(*runtime_, MergeRecord::bytes(m), Data::every_rank);
  node.spectrum = spectrum_piece(m, Data::every_rank);
  const MergeShape shape{.n = n_,
                         .cut = right.start,
                         .left = left.order,
                         .right = right.order,
                         .epsilon = double(precision<Real>),
                         .weights = want_vectors_ || !root,
                         .rows = !root};
  const divide_and_conquer::Merge merge{.scaled = scaled,
                                        .left = left.spectrum,
                                        .right = right.spectrum,
                                        .record = node.record,
                                        .merged = node.spectrum,
                                        .work = scratch,
                                        .shape = shape};
  const TaskOptions options{.priority = value_priority(node.depth)};
  const Index count = merge_parts(*runtime_, m, node.depth);
  if (count == 1) {
    sequence.insert(merge, options);
  } else {
    const auto doubles = static_cast<std::size_t>(2 * divide_and_conquer::merge_part_capacity(m, count));
    std::vector<Data> parts;
    for (Index p = 0; p < count; ++p)
      parts.push_back(Data::bytes(*runtime_, doubles * sizeof(double), Data::every_rank));
    insert_merge_in_parts(sequence, merge, parts, options);
  }
  left.spectrum.release();
  right.spectrum.release();
  if (!want_vectors_) node.record.release();
}

/// One submission of eigenvectors: the row blocks of every node whose parent has not been done yet.
template <class T>
struct TridiagonalEigen<T>::VectorPass {
  /// The rows of a node, for each of its leaves: tiles of `width` columns.
  struct RowBlocks {
    Index width = 0;
    std::vector<std::vector<Data>> owned;
    std::span<const Data> leaf;  ///< instead, for a leaf: kept by the solver
    std::span<const Data> tiles(std::size_t block) const {
      return owned.empty() ? leaf : std::span<const Data>(owned[block]);
    }
  };
  /// A row block as the merge needs it.
  struct PackedBlock {
    Data packed;
    Child child;
    Index rows, inner;
    int owner;
  };

  Sequence& sequence;
  const TridiagonalEigen& solver;
  Index lo;
  const ColumnSlabs<T>& z;
  const bool split_products;
  const SplitSpace split{
      *solver.runtime_,
      split_products ? split_product_bytes<Real>({solver.leaf_, tile_columns(), solver.n_}) : 0};
  std::vector<RowBlocks> blocks = std::vector<RowBlocks>(solver.nodes_.size());

  void run() {
    for (std::size_t i = 0; i < solver.nodes_.size(); ++i) {
      const Node& node = solver.nodes_[i];
      if (node.leaves == 1)
        blocks[i] = RowBlocks{node.order, {}, std::span<const Data>(&node.vectors, 1)};
      else if (i + 1 < solver.nodes_.size())
        blocks[i] = merge(node);
      else
        merge_into_slabs(node);
    }
    if (solver.nodes_.size() == 1) copy_leaf_into_slabs();
  }

  std::vector<PackedBlock> pack(const Node& node) {
    std::vector<PackedBlock> result;
    for (const auto& [index, child] :
         {std::pair{node.left, Child::left}, std::pair{node.right, Child::right}}) {
      const Node& source = solver.nodes_[static_cast<std::size_t>(index)];
      RowBlocks& rows = blocks[static_cast<std::size_t>(index)];
      for (Index leaf = 0; leaf < source.leaves; ++leaf) {
        const Index global = source.first_leaf + leaf;
        PackedBlock block{{}, child, solver.block_rows(global), source.order, solver.block_owner(global)};
        block.packed =
            Data::matrix(*solver.runtime_, aligned(block.rows), node.order, sizeof(Real), block.owner);
        block.packed.set_gpu(solver.block_gpu(global));
        const auto tiles = pointers_to(rows.tiles(static_cast<std::size_t>(leaf)));
        sequence.insert(divide_and_conquer::PackRows<Real>{.record = node.record,
                                                           .packed = block.packed,
                                                           .tiles = tiles,
                                                           .m = node.order,
                                                           .child = child,
                                                           .rows = block.rows,
                                                           .tile_columns = rows.width},
                        {.priority = pack_priority(node.depth)});
        result.push_back(std::move(block));
      }
      rows = {};
    }
    return result;
  }

  /// A ring of buffers for panels of secular vectors: as many as keep the workers busy with the row blocks of
  /// this and the other nodes. Each rank computes its panels itself. Where row blocks stay on their GPUs each
  /// GPU computes its panels itself, too, which is faster than to send them.
  struct PanelPool {
    int gpu;      ///< of the row blocks that use it; -1: all
    bool needed;  ///< by a row block of this rank
    std::vector<Data> panels;
  };

  std::vector<PanelPool> panel_pools(const Node& node, const std::vector<PackedBlock>& packed, Index width,
                                     Index most, bool sparing) const {
    const Runtime& runtime = *solver.runtime_;
    const Index leaves = ceil_div(ceil_div(solver.n_, solver.leaf_), Index(runtime.size()));
    std::vector<PanelPool> pools;
    for (const PackedBlock& block : packed) {
      auto pool = std::find_if(pools.begin(), pools.end(),
                               [&](const PanelPool& known) { return known.gpu == block.packed.gpu(); });
      if (pool == pools.end()) pool = pools.insert(pool, {block.packed.gpu(), false, {}});
      pool->needed = pool->needed || block.owner == runtime.rank();
    }
    for (PanelPool& pool : pools) {
      const Index sharing = pool.gpu < 0 ? Index(runtime.gpus()) : 1;
      const Index wanted = sparing              ? sharing
                           : runtime.gpus() > 0 ? 1 + sharing
                                                : 2 + ceil_div(2 * Index(runtime.common_workers()), leaves);
      for (Index p = 0; p < std::min(wanted, most); ++p) {
        pool.panels.push_back(Data::matrix(*solver.runtime_, aligned(node.order), std::min(width, node.order),
                                           sizeof(Real), Data::every_rank));
        pool.panels.back().set_gpu(pool.gpu);
      }
      if (pool.needed && pool.gpu >= 0) node.record.prefetch(pool.gpu, false);
    }
    return pools;
  }

  /// Output columns [begin, end) of all row blocks, one new tile each: panel number `number` of the node.
  std::vector<Data> columns(const Node& node, const std::vector<PackedBlock>& packed, Index begin, Index end,
                            const std::vector<PanelPool>& pools, Index number) {
    const auto panel = [&](const PanelPool& pool) -> const Data& {
      return pool.panels[static_cast<std::size_t>(number) % pool.panels.size()];
    };
    const Data outline =
        Data::bytes(*solver.runtime_, sizeof(divide_and_conquer::PanelOutline), Data::every_rank);
    const MergePanel which{.m = node.order, .begin = begin, .end = end};
    const auto needed = [](const PanelPool& pool) { return pool.needed; };
    if (std::any_of(pools.begin(), pools.end(), needed))
      sequence.insert(
          divide_and_conquer::OutlinePanel{.record = node.record, .outline = outline, .panel = which},
          {.priority = pack_priority(node.depth)});
    for (const PanelPool& pool : pools)
      if (pool.needed)
        sequence.insert(
            divide_and_conquer::SecularVectors<Real>{
                .outline = outline, .record = node.record, .s = panel(pool), .panel = which},
            {.priority = secular_priority(node.depth)});
    std::vector<Data> tiles;
    for (const PackedBlock& block : packed) {
      const PanelPool& pool = *std::find_if(pools.begin(), pools.end(), [&](const PanelPool& known) {
        return known.gpu == block.packed.gpu();
      });
      tiles.push_back(Data::matrix(*solver.runtime_, block.rows, end - begin, sizeof(Real), block.owner));
      tiles.back().set_gpu(pool.gpu);
      sequence.insert(
          divide_and_conquer::UpdateRows<Real>{
              .outline = outline,
              .record = node.record,
              .packed = block.packed,
              .s = panel(pool),
              .out = tiles.back(),
              .split = split.operand(),
              .panel = which,
              .block = {.child = block.child, .rows = block.rows, .inner = block.inner}},
          {.priority = update_priority(node.depth)});
    }
    return tiles;
  }

  Index tile_columns() const {
    return choose_tile_columns(*solver.runtime_, solver.n_, solver.leaf_, sizeof(Real));
  }

  RowBlocks merge(const Node& node) {
    RowBlocks result{
        tile_columns(), std::vector<std::vector<Data>>(static_cast<std::size_t>(node.leaves)), {}};
    const auto packed = pack(node);
    const Index panels = ceil_div(node.order, result.width);
    const auto pools = panel_pools(node, packed, result.width, panels, false);
    for (Index p = 0; p < panels; ++p) {
      auto tiles =
          columns(node, packed, p * result.width, std::min((p + 1) * result.width, node.order), pools, p);
      for (std::size_t block = 0; block < tiles.size(); ++block)
        result.owned[block].push_back(std::move(tiles[block]));
    }
    return result;
  }

  /// The root's panels go to the slabs as they come, so their tiles are not all there at once.
  void merge_into_slabs(const Node& node) {
    const auto packed = pack(node);
    // With several ranks a panel goes to the rank of one slab only.
    const bool alone = solver.runtime_->size() == 1;
    // Here most of the solver's memory is in use: where that matters, panels are narrower and one fewer.
    const bool sparing = memory_matters(*solver.runtime_, solver.n_, sizeof(T));
    const Index max_columns = sparing ? ceil_div(tile_columns(), Index(2)) : tile_columns();
    const Index largest = std::min(max_columns, z.cols()), slab = std::min(z.width(), z.cols());
    const Index width = alone ? largest : ceil_div(slab, ceil_div(slab, largest));
    const Index panels = ceil_div(z.cols(), width) + z.count();
    const auto pools = panel_pools(node, packed, width, panels, sparing);
    Index number = 0;
    for (Index begin = 0, end = 0; begin < z.cols(); begin = end) {
      const Index first_slab = begin / z.width();
      end = std::min(begin + width, alone ? z.cols() : z.first_col(first_slab) + z.slab_cols(first_slab));
      const auto tiles = columns(node, packed, lo + begin, lo + end, pools, number++);
      for (Index j = first_slab; j < z.count() && z.first_col(j) < end; ++j) {
        const Index first = z.first_col(j), from = std::max(begin, first);
        const Index count = std::min(end, first + z.slab_cols(j)) - from;
        fill_slab(j, pointers_to(tiles), {.from = from - begin, .to = from - first, .count = count});
      }
    }
  }

  void copy_leaf_into_slabs() {
    for (Index j = 0; j < z.count(); ++j)
      fill_slab(j, {&solver.nodes_[0].vectors},
                {.from = lo + z.first_col(j), .to = 0, .count = z.slab_cols(j)});
  }

  void fill_slab(Index j, const std::vector<const Data*>& tiles,
                 const divide_and_conquer::SlabColumns& columns) {
    sequence.insert(
        divide_and_conquer::FillSlab<T>{.slab = columns.to == 0 ? overwrite(z.slab(j)) : add_to(z.slab(j)),
                                        .tiles = tiles,
                                        .block_rows = solver.leaf_,
                                        .columns = columns},
        {.priority = slab_priority()});
  }
};

template <class T>
void TridiagonalEigen<T>::submit_vectors(Sequence& sequence, Index lo, Index hi, const ColumnSlabs<T>& z,
                                         bool split_products) {
  const auto check = [&] {
    if (lo < 0 || hi > n_)
      throw InvalidArgument("range", "[" + std::to_string(lo) + ", " + std::to_string(hi) + ")",
                            "within [0, " + std::to_string(n_) + ")");
    if (hi <= lo) return;
    if (!want_vectors_) throw InvalidArgument("want_vectors", "false", "true for vectors");
    require_rows("z", z, n_);
    if (z.cols() != hi - lo)
      throw InvalidArgument("z", std::to_string(z.cols()) + " columns", std::to_string(hi - lo) + " columns");
  };
  collectively(sequence.runtime(), "TridiagonalEigen::submit_vectors",
               argument_hash(n_, lo, hi, hash_of(z), split_products), check, [&] {
                 if (hi > lo) VectorPass{sequence, *this, lo, z, split_products}.run();
               });
}

#define TESSERA_INSTANTIATE(T) template class TridiagonalEigen<T>;
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
