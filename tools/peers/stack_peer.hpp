// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "peer.hpp"

/// Reference for block products: a library's rate on operands that stay in the cache, on all CPU
/// workers at once, on the processors where they run tasks. Hardware threads that share a core, and
/// lower clock rates under load, slow both sides equally.
namespace tessera::program {

/// Whether the program was built with libxsmm, and its version: `1.17`, or empty.
bool has_libxsmm();
std::string libxsmm_version();

/// Products of size m x n x k.
struct StackPeerProblem {
  Index m = 0, n = 0, k = 0, products = 0;
};
using StackPeer = PeerFor<StackPeerProblem, NoResult>;

/// @param library  libxsmm or blas; returns null for none
template <class T>
std::unique_ptr<StackPeer> make_stack_peer(Runtime& runtime, const std::string& library);

/// Seconds for `products` products of size m x n x k, distributed over the CPU workers. Each worker
/// has its own blocks, which stay in the cache. `library` is libxsmm or blas; `name` receives its
/// name for the report.
/// @throws InvalidArgument if libxsmm is not available, or does not support the product
template <class T>
double time_resident_products(Runtime& runtime, const std::string& library, Index m, Index n, Index k,
                              Index products, std::string& name);

}  // namespace tessera::program
