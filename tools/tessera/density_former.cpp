// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "density_former.hpp"

#include <cmath>

#include <fmt/format.h>

#include <tessera/error.hpp>

namespace tessera::program {
using namespace detail;

template <class T>
DensityFormer<T> read_former(Session& session, const DensityProgramOptions& options,
                             const DensityMatrices<T>& matrices) {
  DensityFormer<T> former{.gap = options.gap_bounds};
  if (options.restart.empty()) return former;
  former.state = read_density_state<T>(session.runtime(), options.restart);
  const DensityState<T>& state = *former.state;
  const BlockDimension& rows = *matrices.hamiltonian.layout().rows;
  session.together([&] {
    const BlockDimension& theirs = *state.density.layout().rows;
    if (!theirs.same_sizes(rows))
      throw InputError(options.restart, 0,
                       fmt::format("is of {} functions in {} blocks, the Hamiltonian of {} in {}{}",
                                   theirs.elements(), theirs.blocks(), rows.elements(), rows.blocks(),
                                   theirs.elements() == rows.elements() && theirs.blocks() == rows.blocks()
                                       ? " of other sizes"
                                       : ""));
    if (state.inverse_factor.valid() && !matrices.overlap.valid())
      throw InputError(options.restart, 0, "has an inverse factor, and there is no overlap");
  });
  const bool takes_gap = options.temperature == 0 && !options.mu && options.method != DensityMethod::dense;
  if (former.gap || !takes_gap) return former;
  // Without the former H it is not known how far states have moved.
  const double gap = state.gap.lumo.lower - state.gap.homo.upper;
  former.moved = options.moved.value_or(0.25 * gap);
  former.gap = narrowed(state.gap, *former.moved);
  if (!std::isfinite(*former.moved)) former.moved.reset();
  return former;
}

#define TESSERA_INSTANTIATE(T) \
  template DensityFormer<T> read_former<T>(Session&, const DensityProgramOptions&, const DensityMatrices<T>&);
TESSERA_FOR_SCALARS(TESSERA_INSTANTIATE)
#undef TESSERA_INSTANTIATE

}  // namespace tessera::program
