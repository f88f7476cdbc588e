// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <tessera/density_state.hpp>

#include "density_problem.hpp"
#include "options.hpp"
#include "session.hpp"

namespace tessera::program {

/// What --restart and --gap-bounds give a computation to begin with.
template <class T>
struct DensityFormer {
  std::optional<DensityState<T>> state{};  ///< of --restart
  std::optional<GapBounds> gap{};          ///< given, or of the restart, narrowed
  std::optional<double> moved{};           ///< by which it was narrowed

  const BlockSparseMatrix<T>* factor_if_any() const {
    return state && state->inverse_factor.valid() ? &state->inverse_factor : nullptr;
  }
};

/// Reads it; collective. @throws InputError on all ranks if the state does not fit the matrices
template <class T>
DensityFormer<T> read_former(Session& session, const DensityProgramOptions& options,
                             const DensityMatrices<T>& matrices);

}  // namespace tessera::program
