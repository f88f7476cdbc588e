// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <tessera/algorithms/lobpcg/lobpcg_steps.hpp>
#include <tessera/algorithms/lobpcg/wanted_end.hpp>
#include <tessera/runtime/agreement.hpp>

namespace tessera::detail {

template <class T>
void expect_wanted_end(Sequence& sequence, const LobpcgProblem<T>& problem, const LobpcgOptions& options,
                       MultiplicationCounts& count) {
  constexpr int steps = 3;
  LobpcgProblem<T> bare = problem;
  bare.preconditioner = nullptr;
  bare.guess = nullptr;
  LobpcgOptions one = options;
  one.block = 1;
  one.variant = LobpcgVariant::orthonormal;
  LobpcgContext<T> on(sequence, bare, one);
  LobpcgState<T> s = new_state(on);
  if (!start(on, s)) return;
  ResidualSquares squares;
  for (int step = 0; step <= steps; ++step) {
    if (step > 0) make_directions(on, s);
    if (orthonormalise(on, s) != StepOutcome::done || s.w.columns < 1) break;
    multiply(on, s);
    if (rayleigh_ritz(on, s) != StepOutcome::done) break;
    make_residuals(on, s, 0);
    squares = on.tasks.wait_for_norms();
    if (!squares.known()) break;
  }
  count.calls += s.multiplications.calls;
  count.columns += s.multiplications.columns;
  if (!squares.known()) return;
  const double residual = std::sqrt(squares.r(0) / squares.x(0));
  agree(sequence.runtime(), 0, [&] { problem.preconditioner->expect(s.ritz_values.front(), residual); });
}

#define TESSERA_INSTANTIATE(T)                                                              \
  template void expect_wanted_end(Sequence&, const LobpcgProblem<T>&, const LobpcgOptions&, \
                                  MultiplicationCounts&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)

}  // namespace tessera::detail
