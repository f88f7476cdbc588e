// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/column_slabs.hpp>

#include "session.hpp"

namespace tessera::program {

/// That write_eigenpairs can write what --output names, if anything, with or without vectors.
/// @throws InvalidArgument
void require_eigenpairs_writable(const std::string& prefix, bool vectors);

/// Writes PREFIX_values.mtx and, if there are vectors, PREFIX_vectors.mtx; or one HDF5 file with `values` and
/// `vectors` if the prefix ends in .h5. All or nothing (output_file.hpp): the two get their names only when
/// both are complete. A SIGKILL between the two renames is seen in the comments `solve <16 hex digits>`,
/// which are equal in files of one solve. Collective; rank 0 writes, one slab at a time in memory. @throws
/// InputError on all ranks
template <class T>
void write_eigenpairs(Session& session, const std::string& prefix, const std::vector<RealOf<T>>& values,
                      const ColumnSlabs<T>& vectors);
/// The same with all vectors in host memory, column-major, on every rank.
template <class T>
void write_eigenpairs(Session& session, const std::string& prefix, const std::vector<RealOf<T>>& values,
                      const std::vector<T>& vectors);

}  // namespace tessera::program
