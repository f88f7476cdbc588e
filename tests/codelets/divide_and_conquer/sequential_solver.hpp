// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <tessera/codelets/divide_and_conquer/kernels/deflate.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/leaf.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/merge_vectors.hpp>
#include <tessera/codelets/divide_and_conquer/kernels/secular.hpp>

/// The complete divide and conquer as plain recursion over the kernels, with the chunks and tiles
/// of the task graph.
namespace tessera::test {
using namespace detail;

template <class R>
class SequentialSolver {
 public:
  Index status = 0;
  Index evaluations = 0;  ///< of secular functions
  Index roots = 0;
  std::vector<R> w;  ///< all eigenvalues
  std::vector<R> q;  ///< eigenvectors lo..hi-1, n x (hi - lo)

  SequentialSolver(const std::vector<R>& d, const std::vector<R>& e, Index leaf, Index chunk, Index lo,
                   Index hi)
      : n_(static_cast<Index>(d.size())), leaf_(leaf), chunk_(chunk), lo_(lo), hi_(hi), d_(n_), e_(n_) {
    int exponent = 0;
    status = kernels::scale_and_cut(n_, d.data(), e.data(), leaf, d_.data(), e_.data(), &exponent);
    if (status != 0 || n_ == 0) return;
    Node root = solve(0, (n_ + leaf - 1) / leaf, true);
    w.resize(n_);
    kernels::unscale_values(root.spectrum.data(), 0, n_, exponent, w.data());
    q.assign(n_ * (hi - lo), R(0));
    for (std::size_t b = 0; b < root.blocks.size(); ++b)
      for (Index j = 0; j < hi - lo; ++j)
        std::copy_n(root.blocks[b].data() + j * rows(b), rows(b),
                    q.data() + j * n_ + static_cast<Index>(b) * leaf_);
  }

 private:
  struct Node {
    Index order;
    std::vector<double> spectrum;
    std::vector<std::vector<R>> blocks;  ///< one per leaf, rows(leaf) x columns
  };

  Index rows(Index block) const { return std::min(leaf_, n_ - block * leaf_); }

  Node solve(Index first, Index last, bool root) {
    if (last - first == 1) return solve_leaf(first, root);
    const Index middle = (first + last + 1) / 2;
    Node left = solve(first, middle, false), right = solve(middle, last, false);
    return merge(first, left, right, e_[middle * leaf_ - 1], root);
  }

  Node solve_leaf(Index leaf, bool root) {
    const Index m = rows(leaf), start = leaf * leaf_;
    Node node{m, std::vector<double>(3 * m), {std::vector<R>(m * m)}};
    std::vector<double> reals(kernels::leaf_real_scratch(m));
    std::vector<int> integers(kernels::leaf_integer_scratch(m));
    status |= kernels::leaf_eigenvectors(m, d_.data() + start, e_.data() + start,
                                         divide_and_conquer::NodeSpectrum(node.spectrum.data(), m),
                                         node.blocks[0].data(), m, reals.data(), integers.data());
    if (root) node.blocks[0].erase(node.blocks[0].begin(), node.blocks[0].begin() + lo_ * m);
    return node;
  }

  Node merge(Index first, Node& left, Node& right, double off_diagonal, bool root) {
    using divide_and_conquer::NodeSpectrum;
    const Index m1 = left.order, m2 = right.order, m = m1 + m2;
    std::vector<char> buffer(divide_and_conquer::MergeRecord::bytes(m));
    divide_and_conquer::MergeRecord record(buffer.data(), m);
    std::vector<double> reals(kernels::deflate_real_scratch(m));
    std::vector<Index> integers(kernels::deflate_index_scratch(m));
    kernels::deflate(NodeSpectrum(left.spectrum.data(), m1), m1, NodeSpectrum(right.spectrum.data(), m2), m2,
                     off_diagonal, std::numeric_limits<R>::epsilon(), record, reals.data(), integers.data());
    status |= record.header->status;
    const Index poles = record.poles();
    roots += poles;
    const auto chunks = [&](auto&& work) {
      for (Index k = 0; k < poles; k += chunk_) work(k, std::min(k + chunk_, poles));
    };
    chunks([&](Index k, Index end) {
      evaluations += kernels::secular_roots(record, k, end, record.base + k, record.offset + k);
    });
    std::vector<double> weights(poles);
    chunks([&](Index k, Index end) { kernels::secular_weights(record, k, end, weights.data() + k); });
    kernels::place_weights(weights.data(), record);
    chunks([&](Index k, Index end) {
      kernels::secular_rows(record, k, end, record.root_first + k, record.root_last + k);
    });
    Node node{m, std::vector<double>(3 * m), {}};
    kernels::order_spectrum(record, true, NodeSpectrum(node.spectrum.data(), m));
    const Index begin = root ? lo_ : 0, end = root ? hi_ : m;
    for (std::size_t b = 0; b < left.blocks.size(); ++b)
      node.blocks.push_back(update(record, divide_and_conquer::Child::left, m1, left.blocks[b], begin, end));
    for (std::size_t b = 0; b < right.blocks.size(); ++b)
      node.blocks.push_back(
          update(record, divide_and_conquer::Child::right, m2, right.blocks[b], begin, end));
    static_cast<void>(first);
    return node;
  }

  std::vector<R> update(const divide_and_conquer::MergeRecord& record, divide_and_conquer::Child child,
                        Index child_columns, const std::vector<R>& block, Index begin, Index end) {
    const Index r = static_cast<Index>(block.size()) / child_columns, poles = record.poles();
    std::vector<const R*> tiles;
    for (Index c = 0; c < child_columns; c += chunk_) tiles.push_back(block.data() + c * r);
    std::vector<R> packed(r * record.header->packed_columns(child)), out(r * (end - begin)), s;
    kernels::pack_rows(record, child, r, tiles.data(), chunk_, r, packed.data(), r);
    for (Index c = begin; c < end; c += chunk_) {
      const Index stop = std::min(c + chunk_, end);
      const auto [root, count] = record.roots_of(c, stop);
      s.assign(poles * count, R(0));
      kernels::secular_vectors(record, root, root + count, s.data(), poles);
      kernels::update_rows(record, child, r, packed.data(), r, c, stop, s.data(), poles,
                           out.data() + (c - begin) * r, r);
    }
    return out;
  }

  Index n_, leaf_, chunk_, lo_, hi_;
  std::vector<double> d_, e_;
};

}  // namespace tessera::test
