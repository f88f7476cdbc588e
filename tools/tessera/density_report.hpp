// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tessera/density_matrix.hpp>

#include "density_check.hpp"
#include "report.hpp"

/// Results of density matrices in the record and the printed report.
namespace tessera::program {

/// Where and why.
std::string failure_of(const Status& status);

/// [lower, upper], null for what is not known.
Json interval_json(const SpectralInterval& interval);
/// `-0.0798 to -0.0797`, `at most 0.03`, `not known`
std::string interval_text(const SpectralInterval& interval);

/// The gap that these bounds leave.
SpectralInterval gap_of(const GapBounds& bounds);

/// Energies, electrons, errors, steps; null for what is not known.
/// @param n  order of the matrices
/// @param molecules  0: not known
template <class T>
Json density_summary(const DensityResult<T>& result, const DensityErrors& errors, Index n, Index molecules);

}  // namespace tessera::program
