// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tessera/matgen.hpp>

namespace tessera::detail {

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

}  // namespace tessera::detail
