// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <type_traits>

#include <tessera/algorithms/dense/solver_choice.hpp>

namespace tessera {
namespace {

/// Largest orders for which cuSOLVER's driver on one GPU is at least as fast as our two stages.
struct DriverOrders {
  Index vectors;  ///< more than half of the eigenvectors
  Index values;   ///< values alone, or at most half of the vectors
};

/// On one H200, in double: all vectors, 0.095 to 0.11 s by cuSOLVER's Xsyevd and 0.124 s by two stages at
/// n = 4096; at 8192 two stages are faster by 1.65; values alone, the two meet at about 4096. The other types
/// have the orders of double.
template <class T>
constexpr DriverOrders driver_orders = [] {
  if constexpr (std::is_same_v<T, float>)
    return DriverOrders{.vectors = 2300, .values = 2300};
  else if constexpr (std::is_same_v<T, double>)
    return DriverOrders{.vectors = 2300, .values = 2300};
  else if constexpr (std::is_same_v<T, std::complex<float>>)
    return DriverOrders{.vectors = 2300, .values = 2300};
  else
    return DriverOrders{.vectors = 2300, .values = 2300};
}();

/// From measurements in double on 2 and 16 cores: LAPACK wins where tasks would be tiny; with all vectors one
/// stage wins while the matrix stays in the caches, since the second back-transform costs more than the
/// reduction's memory traffic.
Solver choose_on_cpus(Index n, bool most_vectors, int workers) {
  if (n <= 200) return Solver::vendor;
  return most_vectors && n <= (workers <= 4 ? 1500 : 700) ? Solver::one_stage : Solver::two_stage;
}

}  // namespace

template <class T>
Solver choose_solver(Index n, Index wanted, int workers, bool gpu_driver) {
  const bool most_vectors = wanted > n / 2;
  if (!gpu_driver) return choose_on_cpus(n, most_vectors, workers);
  const Index largest = most_vectors ? driver_orders<T>.vectors : driver_orders<T>.values;
  return n <= largest ? Solver::vendor : Solver::two_stage;
}

#define TESSERA_INSTANTIATE(T) template Solver choose_solver<T>(Index, Index, int, bool);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera
