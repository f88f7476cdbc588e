// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "lobpcg_problem.hpp"

/// A Lanczos method as ARPACK's and CuPy's `eigsh` have it, for comparison: thick restarts (Wu and Simon, SIAM J.
/// Matrix Anal. Appl. 22 (2000) 602, the same spaces as ARPACK's implicit restarts with exact shifts), full
/// reorthogonalisation in two passes, max(2 k + 1, 20) vectors. One vector is multiplied at a time.
namespace tessera::program {

/// The vectors V_0, ..., V_m of n elements of a Lanczos method, and A, on the host or on a GPU.
template <class T>
class LanczosSpace {
 public:
  virtual ~LanczosSpace() = default;

  virtual Index order() const = 0;
  /// V_0 := v, of unit length.
  virtual void begin(const std::vector<T>& v) = 0;
  /// V_j+1 := A V_j, made orthogonal to V_0, ..., V_j, and normalised. Does not wait.
  virtual void step(Index j) = 0;
  /// What the steps first, ..., m - 1 have left: V_i^T A V_j in h[i + j m] for i <= j, and in beta[j] the length of
  /// V_j+1 before it was normalised.
  virtual void fetch(Index first, Index m, std::vector<double>& h, std::vector<double>& beta) = 0;
  /// V_0, ..., V_count-1 := V_0, ..., V_m-1 times s (m x count); V_count := V_m.
  virtual void rotate(const std::vector<double>& s, Index m, Index count) = 0;
  /// ||A V_i - theta_i V_i|| / ||V_i|| of the first vectors, computed afresh; the last V is lost.
  virtual std::vector<double> residuals(const std::vector<double>& theta) = 0;
};

struct LanczosOptions {
  Index count = 1;
  bool largest = false;
  double tolerance = 1e-8;
  std::string norm = "backward";  ///< backward, relative or absolute, as of LobpcgNorm
  double a_norm = 0;              ///< bound of ||A||; 0: the largest Ritz value so far
  Index restarts = 500;           ///< at most
};

struct LanczosResult {
  std::vector<double> values;  ///< of the pairs that have converged, by fresh residuals, from the wanted end
  Index restarts = 0, columns_multiplied = 0;
  double largest_residual = 0;  ///< of the wanted pairs, fresh, over the tolerance
};

/// Vectors of the basis for so many pairs: ARPACK's usual choice.
Index lanczos_vectors(Index count, Index n);

/// V_0 := a random vector, which is made on the host and is no part of the time.
template <class T>
void begin_lanczos(LanczosSpace<T>& space, std::uint64_t seed);

/// @param space  with lanczos_vectors(count, n) + 1 vectors, begun
/// @throws Error where LAPACK fails, A gives NaN or infinity, or the Krylov space has less than `count` dimensions
template <class T>
LanczosResult solve_by_lanczos(LanczosSpace<T>& space, const LanczosOptions& options);

/// The vectors on the host: products with both triangles by rows, BLAS for the rest, on so many threads.
template <class T>
std::unique_ptr<LanczosSpace<T>> make_host_lanczos(FullRows<T> a, Index vectors, int threads);

}  // namespace tessera::program
