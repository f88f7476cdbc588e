// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <tessera/column_slabs.hpp>
#include <tessera/matrix_arguments.hpp>
#include <tessera/runtime/sequence.hpp>

namespace tessera::detail {

/// Where in memory vectors are made in place: in the caller's array, if it is all this process' (column-major
/// with output.ld()); else null.
template <class T>
T* array_in_one_process(const Runtime& runtime, const MatrixOutput<T>& output) noexcept;

/// output := z; the slabs are gone. The owner of a slab sends each rank what that rank wants of it, straight to
/// its place in a block-cyclic array; into tiles that several slabs have columns of, through a piece of its
/// owner. The pieces of the caller's array are returned: it is up to date when they are released, once the
/// sequence is over.
/// @pre the output has room for z
template <class T>
[[nodiscard]] std::vector<Data> move_vectors(Sequence& sequence, ColumnSlabs<T>&& z,
                                             const MatrixOutput<T>& output);

}  // namespace tessera::detail
