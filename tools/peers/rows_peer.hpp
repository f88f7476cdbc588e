// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <tessera/sparse_matrix.hpp>

#include "peer.hpp"

namespace tessera::program {

/// Y := A X of a sparse symmetric matrix and a few vectors.
template <class T>
struct RowsPeerProblem {
  const SymmetricRows* a = nullptr;
  const std::vector<T>* x = nullptr;  ///< order x columns, row-major
  Index columns = 0;
  Index segments = 1;  ///< into which our vectors are cut
  bool fetch = true;   ///< Y is wanted
};
/// @return Y, as x; empty unless it was wanted. Both triangles are made at the first prepare(), and stay.
template <class T>
using RowsPeer = PeerFor<RowsPeerProblem<T>, std::vector<T>>;

/// Matrix values in V, vectors in T, both triangles by rows.
/// @param library  csr (our own tasks) or cusparse (on the first GPU); null for none
template <class V, class T>
std::unique_ptr<RowsPeer<T>> make_rows_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
