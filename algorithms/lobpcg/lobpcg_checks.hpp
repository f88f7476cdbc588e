// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/error.hpp>
#include <tessera/lobpcg.hpp>

namespace tessera::detail {

/// More pairs are wanted than a block holds: they are found in groups.
bool has_groups(const LobpcgOptions& options) noexcept;
/// The most pairs of a group; all without groups.
Index pairs_of_group(const LobpcgOptions& options) noexcept;

/// Bytes of the vectors of a solve on a rank with `rows` rows. @param sized options (choose_sizes)
double lobpcg_memory(double rows, const LobpcgOptions& sized, bool generalized,
                     std::size_t element_bytes) noexcept;
/// What of a problem decides about the method and its sizes.
struct ProblemSizes {
  Index n = 0;
  Index stored_entries = 0;  ///< SymmetricOperator's
  Index constraints = 0;
  std::size_t wide_bytes = sizeof(double);  ///< of an element of vectors in double
  bool plain = true;                        ///< without B and preconditioner
};
/// The method, where it is automatic, and the default sizes of block and basis, where they are 0, as far as the
/// problem allows.
void choose_sizes(const Runtime& runtime, const ProblemSizes& problem, LobpcgOptions& options);

/// The options with nothing left to choose: the method is one, block, basis (of methods that have one) and
/// tolerance are positive, and all that follows takes them as they are.
/// @throws InvalidArgument, and the exceptions of the caller's operator
template <class T>
LobpcgOptions checked_options(const Runtime& runtime, const LobpcgProblem<T>& problem,
                              const LobpcgOptions& options);

/// The solve itself, on the calling thread, with options of checked_options. Collective.
template <class T>
LobpcgResult<T> solve_lobpcg(Runtime& runtime, const LobpcgProblem<T>& problem,
                             const LobpcgOptions& resolved);

/// Of what must be equal on all ranks, without a look into the operators.
template <class T>
std::uint64_t problem_hash(const LobpcgProblem<T>& problem, const LobpcgOptions& options);

}  // namespace tessera::detail
