// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/types.hpp>

namespace tessera {

/// What is known exactly about a matrix's eigenvalues, counted with their multiplicity. The functions give at
/// most `count` (>= 0) of them, fewer where no more are known; they are empty where none is.
struct KnownSpectrum {
  std::string text;                                         ///< one sentence
  std::function<std::vector<double>(Index count)> lowest;   ///< ascending
  std::function<std::vector<double>(Index count)> largest;  ///< descending
};

/// Numbers in ascending order: value(k) for 0 <= k < length.
struct AscendingList {
  Index length;
  std::function<double(Index k)> value;
};
AscendingList ascending_list(std::vector<double> values);

/// All eigenvalues are the sums of one number of each list.
KnownSpectrum spectrum_of_sums(std::string text, std::vector<AscendingList> lists);

/// The lowest (or the largest) few.
KnownSpectrum spectrum_of_lowest(std::string text, std::vector<double> values);
KnownSpectrum spectrum_of_largest(std::string text, std::vector<double> values);

}  // namespace tessera
