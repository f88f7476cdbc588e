// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <tessera/multiply.hpp>

#include "peer.hpp"
#include "sparse_probes.hpp"

namespace tessera::program {

/// A block-sparse product that has just been computed.
template <class T>
struct ProductPeerProblem {
  SparseProduct<T> product;
  double filter = 0;  ///< as it was asked for
  double flop = 0;
  std::vector<ProductCount> shapes{};  ///< of the products of blocks
  bool fetch = true;                   ///< C is wanted
};
/// What a peer has of C.
template <class T>
struct ProductPeerResult {
  std::vector<T> dense;                 ///< the whole, column-major; empty: not as a dense matrix
  std::optional<BlockMap<T>> blocks{};  ///< none: not as blocks
  Json record = Json::object();         ///< for PeerRecord::result
};
template <class T>
using ProductPeer = PeerFor<ProductPeerProblem<T>, ProductPeerResult<T>>;

/// @param library  dense (BLAS on the dense matrices), dbcsr, or libxsmm (as many products of blocks that
/// stay in the cache), each on as many threads as the run has workers; null for none
template <class T>
std::unique_ptr<ProductPeer<T>> make_product_peer(Runtime& runtime, const std::string& library);

/// One run of the peer on a problem; what it has computed is for checks.
/// @param timed  the report that its time is added to, unless the library has no routine; null: to none
template <class T>
ProductPeerResult<T> run_product_peer(ProductPeer<T>& peer, ProductPeerProblem<T> problem, Report* timed);

/// Compares C with the blocks of a peer: adds the largest difference to `check`, and to the peer's record.
/// Nothing without blocks.
template <class T>
void compare_with_peer(const SparseProduct<T>& product, const ProductPeerResult<T>& theirs,
                       const std::string& name, CheckRecord& check, Json& record);

}  // namespace tessera::program
