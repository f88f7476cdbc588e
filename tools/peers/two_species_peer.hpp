// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "rows_peer.hpp"

namespace tessera::program {

/// The product of a shell model's matrix that is not stored: a TwoSpeciesOperator of protons and neutrons.
/// @param one_precision  whether the matrix's values have type T, too, which it needs
template <class T>
std::unique_ptr<RowsPeer<T>> make_two_species_peer(Runtime& runtime, bool one_precision);

}  // namespace tessera::program
