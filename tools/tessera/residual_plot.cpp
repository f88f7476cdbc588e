// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "residual_plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tessera::program {

namespace {

constexpr double left = 84, top = 48, width = 640, height = 400, legend = 150;

/// Colours that people with colour vision deficiency can distinguish (Okabe and Ito). Dashes, if
/// there are more curves than colours.
constexpr std::array<const char*, 7> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                             "#e69f00", "#56b4e9", "#000000"};
constexpr std::array<const char*, 3> dashes{"", "7,3", "2,3"};

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return result;
}

/// Uses Unicode superscripts, because not every SVG viewer supports shifted baselines.
std::string superscript(int number) {
  constexpr std::array<const char*, 10> digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text;
  for (const char c : fmt::format("{}", number))
    text += c == '-' ? "⁻" : digits[static_cast<std::size_t>(c - '0')];
  return text;
}

bool drawable(double x) {
  return std::isfinite(x) && x > 0;
}

/// Range of the axes: the powers of ten that enclose all values, and the last iteration.
struct Axes {
  int low = 0, high = 1;
  double last = 1;

  explicit Axes(const ResidualPlot& plot) {
    double least = HUGE_VAL, largest = 0;
    const auto include = [&](double x) {
      if (!drawable(x)) return;
      least = std::min(least, x);
      largest = std::max(largest, x);
    };
    for (const auto& curve : plot.curves) std::for_each(curve.begin(), curve.end(), include);
    include(plot.tolerance);
    if (largest > 0) {
      low = static_cast<int>(std::floor(std::log10(least)));
      high = std::max(low + 1, static_cast<int>(std::ceil(std::log10(largest))));
    }
    if (!plot.iterations.empty()) last = std::max(1.0, plot.iterations.back());
  }
  double x(double iteration) const { return left + width * iteration / last; }
  double y(double residual) const { return top + height * (high - std::log10(residual)) / (high - low); }
};

/// Distance between tick marks for at most ten of them: 1, 2 or 5 times a power of ten.
double mark_distance(double range) {
  const double power = std::pow(10, std::floor(std::log10(std::max(range, 1.0) / 10)));
  for (const double factor : {1., 2., 5., 10.})
    if (factor * power >= 1 && range / (factor * power) <= 10) return factor * power;
  return 10 * power;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     text);
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2,
                     style);
}

std::string grid(const Axes& axes) {
  std::string text;
  const int step = (axes.high - axes.low + 11) / 12;
  for (int power = axes.low; power <= axes.high; power += step) {
    const double y = axes.y(std::pow(10, power));
    text += line(left, y, left + width, y, "stroke=\"#dddddd\"");
    text += text_at(left - 8, y + 4, "end", "10" + superscript(power));
  }
  const double distance = mark_distance(axes.last);
  for (double mark = 0; mark <= axes.last * (1 + 1e-9); mark += distance) {
    text += line(axes.x(mark), top + height, axes.x(mark), top + height + 5, "stroke=\"#000000\"");
    text += text_at(axes.x(mark), top + height + 20, "middle", fmt::format("{:.0f}", mark));
  }
  return text + fmt::format(
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#000000\"/>\n",
                    left, top, width, height);
}

/// A path with gaps. A point without neighbours becomes a disc of this colour.
std::string curve_path(const ResidualPlot& plot, const std::vector<double>& curve, const Axes& axes,
                       const std::string& stroke, const char* colour) {
  constexpr double radius = 4;
  std::string path, discs;
  bool open = false;
  const std::size_t count = std::min(curve.size(), plot.iterations.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (!drawable(curve[i])) {
      open = false;
      continue;
    }
    const double x = axes.x(plot.iterations[i]), y = axes.y(curve[i]);
    if (!open && (i + 1 == count || !drawable(curve[i + 1]))) {
      discs +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n", x, y, radius, colour);
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", open ? "L" : "M", x, y);
    open = true;
  }
  return (path.empty() ? "" : fmt::format("<path d=\"{}\" {}/>\n", path, stroke)) + discs;
}

}  // namespace

std::string svg(const ResidualPlot& plot) {
  const Axes axes(plot);
  const double legend_bottom = top + 18 * static_cast<double>(plot.curves.size() + 1);
  const double whole = std::max(top + height + 56, legend_bottom + 12);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#ffffff\"/>\n",
      left + width + legend, whole);
  text += text_at(left + width / 2, 28, "middle", escaped(plot.title), " font-size=\"15\"");
  text += grid(axes);
  text += text_at(left + width / 2, top + height + 42, "middle", "iteration");
  text +=
      fmt::format("<text transform=\"translate(24,{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                  top + height / 2, escaped(plot.residual));
  for (std::size_t p = 0; p < plot.curves.size(); ++p) {
    const std::string stroke = fmt::format(
        "fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\" stroke-linecap=\"round\" stroke-dasharray=\"{}\"",
        colours[p % colours.size()], dashes[p / colours.size() % dashes.size()]);
    text += curve_path(plot, plot.curves[p], axes, stroke, colours[p % colours.size()]);
    const double y = top + 12 + 18 * static_cast<double>(p);
    text += line(left + width + 12, y, left + width + 36, y, stroke.c_str());
    if (p < plot.labels.size()) text += text_at(left + width + 42, y + 4, "start", escaped(plot.labels[p]));
  }
  if (drawable(plot.tolerance)) {
    const double y = axes.y(plot.tolerance);
    text += line(left, y, left + width, y, "stroke=\"#888888\" stroke-dasharray=\"6,4\"");
    text += text_at(left + 6, y - 5, "start", "tolerance", " fill=\"#666666\"");
  }
  return text + "</svg>\n";
}

}  // namespace tessera::program
