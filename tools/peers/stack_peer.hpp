// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "peer.hpp"

/// What block products are compared with: a library's rate on operands that stay in the cache, on all CPU
/// workers at once, where they compute tasks: processors that share a core, and clocks that fall when many
/// cores compute, slow both sides alike.
namespace tessera::program {

/// The program was built with libxsmm; `1.17`, or empty.
bool has_libxsmm();
std::string libxsmm_version();

/// Products m x n x k.
struct StackPeerProblem {
  Index m = 0, n = 0, k = 0, products = 0;
};
using StackPeer = PeerFor<StackPeerProblem, NoResult>;

/// @param library  libxsmm or blas; null for none
template <class T>
std::unique_ptr<StackPeer> make_stack_peer(Runtime& runtime, const std::string& library);

/// Seconds for as many products m x n x k as `products`, spread over the CPU workers each with its own
/// blocks, which stay in the cache; `library` is libxsmm or blas, its name for the report in `name`.
/// @throws InvalidArgument where libxsmm is not there, or declines
template <class T>
double time_resident_products(Runtime& runtime, const std::string& library, Index m, Index n, Index k,
                              Index products, std::string& name);

}  // namespace tessera::program
