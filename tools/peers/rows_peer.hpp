// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/matgen.hpp>
#include <tessera/sparse_matrix.hpp>

#include "peer.hpp"

namespace tessera::program {

/// Y := A X for a sparse symmetric matrix and several vectors.
template <class T>
struct RowsPeerProblem {
  const SymmetricRows* a = nullptr;
  const SparseGenerator* shell_model = nullptr;  ///< of which it is; null for another matrix
  const std::vector<T>* x = nullptr;             ///< order x columns, row-major
  Index columns = 0;
  Index segments = 1;  ///< into which our vectors are divided
  bool fetch = true;   ///< whether Y is needed
};
/// @return Y in the format of x; empty unless needed. The first prepare() builds both triangles,
/// which are kept until release().
template <class T>
class RowsPeer : public PeerFor<RowsPeerProblem<T>, std::vector<T>> {
 public:
  using PeerFor<RowsPeerProblem<T>, std::vector<T>>::PeerFor;
  /// Bytes of the matrix that a product reads: each value and each coordinate as often as its kernels do. After
  /// prepare().
  virtual double matrix_bytes() const = 0;
};

/// Matrix values of type V, vectors of type T.
/// @param library  csr (our own tasks), cusparse (first GPU), naive, atomic, cached (half_blocks.hpp), or free
/// (two_species_peer.hpp); returns null for none
template <class V, class T>
std::unique_ptr<RowsPeer<T>> make_rows_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
