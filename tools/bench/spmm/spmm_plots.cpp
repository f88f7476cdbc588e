// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "spmm_plots.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace tessera::program {

SizeHistogram::SizeHistogram(std::string title_text, std::string what_text, const std::vector<Index>& sizes)
    : title(std::move(title_text)), what(std::move(what_text)), count(static_cast<Index>(sizes.size())) {
  if (sizes.empty()) return;
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  smallest = *least;
  largest = *most;
  mean = std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(count);
  const auto bin_of = [](Index size) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::max<Index>(size, 0))));
  };
  for (int bin = bin_of(smallest); bin <= bin_of(largest); ++bin)
    bins.push_back({bin == 0 ? 0 : Index(1) << (bin - 1), (Index(1) << bin) - 1, 0});
  for (const Index size : sizes) ++bins[static_cast<std::size_t>(bin_of(size) - bin_of(smallest))].count;
}

Json to_json(const SizeHistogram& histogram) {
  Json json{{"of", histogram.what},         {"count", histogram.count}, {"smallest", histogram.smallest},
            {"largest", histogram.largest}, {"mean", histogram.mean},   {"bins", Json::array()}};
  for (const SizeHistogram::Bin& bin : histogram.bins)
    json["bins"].push_back({{"first", bin.first}, {"last", bin.last}, {"count", bin.count}});
  return json;
}

std::vector<std::string> table_of(const SizeHistogram& histogram) {
  std::vector<std::string> lines{fmt::format("{}: {} in all, from {} to {}, {:.1f} in the mean",
                                             histogram.what, histogram.count, histogram.smallest,
                                             histogram.largest, histogram.mean)};
  for (const SizeHistogram::Bin& bin : histogram.bins)
    lines.push_back(
        fmt::format("{:>10} to {:>10}{:>12}{:>8.1f} %", bin.first, bin.last, bin.count,
                    100. * static_cast<double>(bin.count) / static_cast<double>(histogram.count)));
  return lines;
}

namespace {

std::string escaped_text(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

std::string label(double x, double y, const char* anchor, const std::string& text, double size = 13) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"{:.0f}\">{}</text>\n", x,
                     y, anchor, size, escaped_text(text));
}

std::string box(double x, double y, double width, double height, const std::string& fill) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" stroke=\"#ffffff\"/>\n",
      x, y, width, height, fill);
}

std::string document(double width, double height, const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n{2}</svg>\n",
      width, height, content);
}

/// 512, 4k, 2M: a power of two in short.
std::string short_size(Index size) {
  if (size >= Index(1) << 20) return fmt::format("{}M", size >> 20);
  return size >= 1 << 10 ? fmt::format("{}k", size >> 10) : fmt::format("{}", size);
}

std::string bars(const SizeHistogram& histogram, double left, double top, double width, double height) {
  Index most = 1;
  for (const SizeHistogram::Bin& bin : histogram.bins) most = std::max(most, bin.count);
  const double step = width / static_cast<double>(std::max<std::size_t>(histogram.bins.size(), 1));
  std::string text = label(left + width / 2, top - 20, "middle", histogram.title, 15);
  for (std::size_t b = 0; b < histogram.bins.size(); ++b) {
    const SizeHistogram::Bin& bin = histogram.bins[b];
    const double x = left + step * static_cast<double>(b),
                 tall = height * static_cast<double>(bin.count) / static_cast<double>(most);
    text += box(x, top + height - tall, step, tall, "#0072b2");
    if (bin.count > 0)
      text += label(x + step / 2, top + height - tall - 4, "middle", fmt::to_string(bin.count), 10);
    text += label(x, top + height + 16, "middle", short_size(bin.first), 11);
  }
  text +=
      fmt::format("<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"#000000\"/>\n",
                  left, left + width, top + height);
  return text + label(left + width / 2, top + height + 38, "middle", histogram.what);
}

/// Blue above 1, orange below; pale where the ratio is near 1. A factor of 16 has the full colour.
std::string colour_of(double ratio) {
  const double depth = std::clamp(std::abs(std::log2(ratio)) / 4, 0.0, 1.0);
  const auto mix = [&](double full) { return static_cast<int>(std::lround(255 + depth * (full - 255))); };
  return ratio >= 1 ? fmt::format("#{:02x}{:02x}{:02x}", mix(0), mix(114), mix(178))
                    : fmt::format("#{:02x}{:02x}{:02x}", mix(213), mix(94), mix(0));
}

constexpr double cell_width = 84, cell_height = 30, names_width = 250, map_top = 64;

double height_of(const HeatMap& map) {
  return map_top + cell_height * static_cast<double>(map.rows.size()) + 64;
}

std::string cells_of(const HeatMap& map, double top) {
  const double width = cell_width * static_cast<double>(map.columns.size());
  std::string text = label(names_width + width / 2, top + 28, "middle", map.title, 15);
  for (std::size_t c = 0; c < map.columns.size(); ++c)
    text += label(names_width + cell_width * (static_cast<double>(c) + 0.5), top + map_top - 8, "middle",
                  map.columns[c]);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    const double y = top + map_top + cell_height * static_cast<double>(r);
    text += label(names_width - 8, y + cell_height / 2 + 5, "end", map.rows[r]);
    for (std::size_t c = 0; c < map.columns.size(); ++c) {
      const std::optional<double>& value = map.values[r][c];
      const double x = names_width + cell_width * static_cast<double>(c);
      text += box(x, y, cell_width, cell_height, value ? colour_of(*value) : "#eeeeee");
      text += label(x + cell_width / 2, y + cell_height / 2 + 5, "middle",
                    value ? fmt::format("{:.2f}", *value) : "-");
    }
  }
  return text + label(names_width + width / 2,
                      top + map_top + cell_height * static_cast<double>(map.rows.size()) + 24, "middle",
                      map.column_axis);
}

}  // namespace

std::string svg(const std::vector<SizeHistogram>& histograms) {
  constexpr double left = 40, top = 64, width = 520, height = 320;
  std::string text;
  for (std::size_t k = 0; k < histograms.size(); ++k)
    text += bars(histograms[k], left + static_cast<double>(k) * (width + 2 * left), top, width, height);
  return document(static_cast<double>(histograms.size()) * (width + 2 * left), top + height + 64, text);
}

std::string svg(const std::vector<HeatMap>& maps) {
  double top = 0, width = names_width + 4 * cell_width;
  std::string text;
  for (const HeatMap& map : maps) {
    text += cells_of(map, top);
    top += height_of(map);
    width = std::max(width, names_width + cell_width * static_cast<double>(map.columns.size()) + 40);
  }
  return document(width, std::max(top, map_top), text);
}

std::vector<std::string> table_of(const HeatMap& map) {
  std::vector<std::string> lines{map.title};
  std::string head = fmt::format("{:<40}", map.row_axis);
  for (const std::string& column : map.columns) head += fmt::format("{:>12}", column);
  lines.push_back(head);
  for (std::size_t r = 0; r < map.rows.size(); ++r) {
    std::string line = fmt::format("{:<40}", map.rows[r]);
    for (const auto& value : map.values[r])
      line += value ? fmt::format("{:>12.2f}", *value) : fmt::format("{:>12}", "-");
    lines.push_back(line);
  }
  return lines;
}

}  // namespace tessera::program
