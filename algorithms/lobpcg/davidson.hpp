// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/lobpcg/search_basis.hpp>
#include <tessera/lobpcg.hpp>

namespace tessera::detail {

/// Columns of the generalized Davidson method's vectors, from resolved options.
struct DavidsonSizes {
  Index vectors = 0;  ///< pairs whose residuals are looked at, and start vectors (davidson_vectors)
  Index targets = 0;  ///< of these, the most that get a new direction in a step: the block
  BasisSizes basis;
};
/// For so many wanted pairs, or at least the block. @param several  groups of pairs, where those behind the wanted ones
/// get directions, too
Index davidson_vectors(Index count, Index block, bool several);
/// @param most_columns the basis may have: resolved options' `basis`
DavidsonSizes davidson_sizes(Index vectors, Index block, Index most_columns);
/// The least `basis` for which davidson_sizes has space.
Index least_davidson_basis(Index vectors, Index block);

/// The generalized Davidson method, GD+k (Stathopoulos and Saad, Electron. Trans. Numer. Anal. 7 (1998) 163;
/// Stathopoulos, SIAM J. Sci. Comput. 29 (2007) 481; Stathopoulos and McCombs, ACM Trans. Math. Softw. 37 (2010)
/// 21): solve_lobpcg() with this method.
template <class T>
LobpcgResult<T> solve_davidson(Runtime& runtime, const LobpcgProblem<T>& problem,
                               const LobpcgOptions& resolved);

}  // namespace tessera::detail
