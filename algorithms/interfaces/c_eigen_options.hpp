// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/algorithms/interfaces/c_interface.hpp>
#include <tessera/eigensolve.hpp>

/// @file
/// Options of eigensolve, of the C interface and of C++.
namespace tessera::c_interface {

static_assert(static_cast<int>(Solver::vendor) == TESSERA_VENDOR);
static_assert(static_cast<int>(Solver::two_stage) == TESSERA_TWO_STAGE);
static_assert(static_cast<int>(EigenRange::Kind::value) == TESSERA_RANGE_VALUE);
static_assert(static_cast<int>(EigenRange::Kind::index) == TESSERA_RANGE_INDEX);

/// @throws InvalidArgument for numbers that are no solver or range
inline EigensolveOptions eigen_options_of(const tessera_eigen_options* given, bool vectors) {
  EigensolveOptions options{.vectors = vectors};
  if (!given) return options;
  if (given->solver < TESSERA_SOLVER_AUTOMATIC || given->solver > TESSERA_VENDOR)
    throw InvalidArgument("solver", std::to_string(given->solver), "one of enum tessera_solver");
  options.solver = static_cast<Solver>(given->solver);
  switch (given->range) {
    case TESSERA_RANGE_ALL:
      break;
    case TESSERA_RANGE_INDEX:
      options.range = index_range(given->lo, given->hi);
      break;
    case TESSERA_RANGE_VALUE:
      options.range = value_range(given->above, given->upto);
      break;
    default:
      throw InvalidArgument("range", std::to_string(given->range), "one of enum tessera_eigen_range");
  }
  options.tile = given->tile;
  options.band = given->band;
  options.update_width = given->update_width;
  options.slab_width = given->slab_width;
  options.column_groups = given->column_groups;
  options.split_products = given->split_products != 0;
  return options;
}

inline tessera_eigen_options eigen_options_from(const EigensolveOptions& used) {
  return {.solver = static_cast<int>(used.solver),
          .range = static_cast<int>(used.range.kind),
          .lo = used.range.lo,
          .hi = used.range.hi,
          .above = used.range.above,
          .upto = used.range.upto,
          .tile = used.tile,
          .band = used.band,
          .update_width = used.update_width,
          .slab_width = used.slab_width,
          .column_groups = used.column_groups,
          .split_products = used.split_products ? 1 : 0};
}

}  // namespace tessera::c_interface
