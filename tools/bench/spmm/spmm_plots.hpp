// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common_options.hpp"

/// Pictures of products: histograms of a matrix's tiles, and heat maps of speedups.
namespace tessera::program {

/// How many things have which size, by powers of two.
struct SizeHistogram {
  std::string title, what;  ///< `rows of a tile`: of the horizontal axis
  struct Bin {
    Index first, last;  ///< sizes
    Index count;
  };
  std::vector<Bin> bins;  ///< ascending, from the smallest to the largest that is not empty
  Index count = 0, smallest = 0, largest = 0;
  double mean = 0;

  SizeHistogram(std::string title, std::string what, const std::vector<Index>& sizes);
};
Json to_json(const SizeHistogram& histogram);
/// A line for each bin: sizes, count, share.
std::vector<std::string> table_of(const SizeHistogram& histogram);
/// Bars, side by side for several histograms. An SVG document.
std::string svg(const std::vector<SizeHistogram>& histograms);

/// Ratios by two names; none where there is no measurement.
struct HeatMap {
  std::string title, row_axis, column_axis;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<std::optional<double>>> values;  ///< of each row
};
/// Colours by the logarithm, white at 1, and the numbers; maps one below the other. An SVG document.
std::string svg(const std::vector<HeatMap>& maps);
/// One map as a table in lines.
std::vector<std::string> table_of(const HeatMap& map);

}  // namespace tessera::program
