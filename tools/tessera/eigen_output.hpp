// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/column_slabs.hpp>

#include "session.hpp"

namespace tessera::program {

/// A matrix beside the eigenpairs, column-major: a dataset of the HDF5 file. Matrix Market files have none.
struct NamedMatrix {
  std::string name;
  Index rows, columns;
  std::vector<double> values;
};

/// Checks that write_eigenpairs can write to `prefix`, the value of --output, with or without
/// vectors. Does nothing if the prefix is empty.
/// @throws InvalidArgument
void require_eigenpairs_writable(const std::string& prefix, bool vectors);

/// Writes PREFIX_values.mtx and, if there are vectors, PREFIX_vectors.mtx; or one HDF5 file with
/// `values` and `vectors`, if the prefix ends in .h5. Either all files are written or none
/// (output_file.hpp): both get their final names only when both are complete. If a SIGKILL comes
/// between the two renames, the comments `solve <16 hex digits>` differ; in files of the same solve
/// they are equal. Collective; rank 0 writes, and holds one slab at a time in memory.
/// @throws InputError on all ranks
template <class T>
void write_eigenpairs(Session& session, const std::string& prefix, const std::vector<RealOf<T>>& values,
                      const ColumnSlabs<T>& vectors);
/// The same, with all vectors in host memory, column-major, on every rank.
template <class T>
void write_eigenpairs(Session& session, const std::string& prefix, const std::vector<RealOf<T>>& values,
                      const std::vector<T>& vectors, const std::vector<NamedMatrix>& beside = {});

}  // namespace tessera::program
