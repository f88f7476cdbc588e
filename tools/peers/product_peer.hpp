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

/// A block-sparse product that was just computed.
template <class T>
struct ProductPeerProblem {
  SparseProduct<T> product;
  double filter = 0;  ///< as the user requested
  double flop = 0;
  std::vector<ProductCount> shapes{};  ///< of the block products
  bool fetch = true;                   ///< whether C is needed
};
/// The peer's result C.
template <class T>
struct ProductPeerResult {
  std::vector<T> dense;                 ///< all elements, column-major; empty: C is not dense
  std::optional<BlockMap<T>> blocks{};  ///< none: C is not stored in blocks
  Json record = Json::object();         ///< for PeerRecord::result
};
template <class T>
using ProductPeer = PeerFor<ProductPeerProblem<T>, ProductPeerResult<T>>;

/// @param library  dense (BLAS on the dense matrices), dbcsr, or libxsmm (the same number of block
/// products, with operands that stay in the cache), each with as many threads as the run has
/// workers; or cutensor, on the first GPU; returns null for none
template <class T>
std::unique_ptr<ProductPeer<T>> make_product_peer(Runtime& runtime, const std::string& library);

/// @throws InvalidArgument if the library cannot take such operands of type T
template <class T>
void require_peer_takes(const std::string& library, Op op_a, Op op_b);

/// Runs the peer once on a problem. Returns its result, for checks.
/// @param timed  report to which the time is added, if the library has a routine; may be null
template <class T>
ProductPeerResult<T> run_product_peer(ProductPeer<T>& peer, ProductPeerProblem<T> problem, Report* timed);

/// Compares C with the peer's blocks, and adds the largest difference to `check` and to the peer's
/// record. Does nothing if the peer has no blocks.
template <class T>
void compare_with_peer(const SparseProduct<T>& product, const ProductPeerResult<T>& theirs,
                       const std::string& name, CheckRecord& check, Json& record);

}  // namespace tessera::program
