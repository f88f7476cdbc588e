// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/eigensolve.hpp>

namespace tessera::detail {

/// For calls whose options must be the same on all ranks (agreement.hpp).
std::uint64_t hash_of(const EigensolveOptions& options) noexcept;

/// Bytes of a Hermitian matrix of order n in lower tiles, on a rank.
double lower_tiles_memory(const Runtime& runtime, Index n, Index tile, std::size_t element_bytes);

/// Bytes of the host's memory that a solve needs on this rank at its peak, beside its input and the arrays or
/// tiles that the vectors go to. With GPUs it is what they do not hold, and the vectors.
/// @param options resolved (resolve_options); a range by value counts as all
/// @param makes_factor it has tiles of B of its own
/// @param vectors_to array: the vectors are made in place
template <class T>
double eigensolve_memory(const Runtime& runtime, Index n, const EigensolveOptions& options, bool makes_factor,
                         MatrixKind vectors_to = MatrixKind::none);

/// The same of check_eigenpairs, with `count` vectors.
template <class T>
double check_eigenpairs_memory(const Runtime& runtime, Index n, Index count, bool generalized);

}  // namespace tessera::detail
