// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include <tessera/multiply.hpp>

#include "report.hpp"

/// How evenly a block-sparse product is dealt to the ranks.
namespace tessera::program {

/// Largest / mean; 1 where all are zero.
double max_over_mean(const std::vector<double>& of_ranks);

/// For "products", "flop" and "elements" (stored ones of the matrices): the number of each rank, `ranks`, and
/// `max_over_mean`. A matrix that is named twice counts once.
Json rank_balance(const Runtime& runtime, const MultiplyResult& result,
                  const std::vector<const BlockPattern*>& matrices);

/// The same in a line.
std::string text_of_balance(const Json& balance);

}  // namespace tessera::program
