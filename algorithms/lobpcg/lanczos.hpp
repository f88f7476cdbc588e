// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/lobpcg.hpp>

namespace tessera::detail {

struct ProblemSizes;

/// The default sizes of block and basis of block Lanczos, where they are 0, as far as the problem allows.
void choose_lanczos_sizes(const Runtime& runtime, const ProblemSizes& problem, LobpcgOptions& options);
/// Whether block and basis fit. @throws InvalidArgument
void check_lanczos_sizes(const ProblemSizes& problem, const LobpcgOptions& options);
/// Whether a basis of the wanted pairs has space within the problem, the given sizes and the memory of the GPUs.
bool lanczos_fits(const Runtime& runtime, const ProblemSizes& problem, const LobpcgOptions& options);
/// Columns of vectors of a solve. @param sized options
Index lanczos_columns(const LobpcgOptions& sized) noexcept;

/// Block Lanczos with full orthogonalisation and thick restarts (Wu and Simon, SIAM J. Matrix Anal. Appl. 22 (2000)
/// 602): solve_lobpcg() with this method.
template <class T>
LobpcgResult<T> solve_lanczos(Runtime& runtime, const LobpcgProblem<T>& problem,
                              const LobpcgOptions& resolved);

}  // namespace tessera::detail
