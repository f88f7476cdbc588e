// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include "peer.hpp"

namespace tessera::program {

/// One routine of a dense library; `none`: no routine solves the problem.
enum class Routine { none, potrf, hegst, hetrd, stedc, trsm, gemm };

template <class T>
struct RoutineProblem {
  Routine routine = Routine::none;
  Index n = 0, columns = 0;
  std::vector<T> a{};               ///< n x n, lower triangle, to factorize or reduce; L of trsm
  std::vector<T> l{};               ///< for hegst: the Cholesky factor
  std::vector<RealOf<T>> d{}, e{};  ///< for stedc: the tridiagonal matrix
  std::string note{};               ///< added to the routine's name, if the problem differs
};
template <class T>
using RoutinePeer = PeerFor<RoutineProblem<T>, NoResult>;

/// trsm solves L^H X = B with `columns` columns; gemm multiplies square matrices.
/// @param library  lapack (with BLAS) or cusolver (with cuBLAS; it has neither hegst nor stedc);
/// returns null for none
template <class T>
std::unique_ptr<RoutinePeer<T>> make_routine_peer(Runtime& runtime, const std::string& library);

}  // namespace tessera::program
