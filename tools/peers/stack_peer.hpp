// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/runtime/runtime.hpp>

/// What block products are compared with: a library's rate on operands that stay in the cache, and the rate
/// of copies, both on all CPU workers at once, where they compute tasks: processors that share a core, and
/// clocks that fall when many cores compute, slow both sides alike.
namespace tessera::program {

/// Seconds for as many products m x n x k as `products`, spread over the CPU workers each with its own
/// blocks, which stay in the cache; `library` is libxsmm or blas, its name for the report in `name`.
/// @throws InvalidArgument where libxsmm is not there, or declines
template <class T>
double time_resident_products(Runtime& runtime, const std::string& library, Index m, Index n, Index k,
                              Index products, std::string& name);

/// Bytes read and written per second by copies of arrays that are larger than the caches, on all CPU workers.
double measure_copy(Runtime& runtime);

}  // namespace tessera::program
