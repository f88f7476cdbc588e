// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <starpu.h>

#include <tessera/runtime/cache_directory.hpp>
#include <tessera/runtime/model_files.hpp>

namespace tessera::detail {

namespace {

/// What is wrong, thrown to the one that asked.
struct Flaw {
  std::string text;
};

/// A file line by line, each a row of words between blanks.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// The next line that is neither empty nor a comment. @return false: there is none
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      if (end == std::string_view::npos) fail_at(line_ + 1, "has no end");
      line_text_ = rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      ++line_;
      if (line_text_.empty() || line_text_.front() == '#') continue;
      // StarPU reads a measurement into 256 bytes.
      if (line_text_.size() > longest_line) fail("is too long");
      return true;
    }
    return false;
  }
  void need(std::string_view what) {
    if (!next()) throw Flaw{fmt::format("ends before {}", what)};
  }
  /// Takes the comment behind the words away.
  void drop_comment() { line_text_ = line_text_.substr(0, line_text_.find('#')); }

  bool more_words() {
    const std::size_t begin = line_text_.find_first_not_of(" \t");
    line_text_.remove_prefix(begin == std::string_view::npos ? line_text_.size() : begin);
    return !line_text_.empty();
  }
  std::string_view word(std::string_view what) {
    if (!more_words()) fail(fmt::format("has no {}", what));
    const std::string_view found = line_text_.substr(0, line_text_.find_first_of(" \t"));
    line_text_.remove_prefix(found.size());
    return found;
  }
  void end_of_line() {
    if (more_words()) fail("is longer than it should be");
  }

  template <class Number>
  Number whole(std::string_view what, Number least, Number most, int base = 10) {
    const std::string_view text = word(what);
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
      fail(fmt::format("has a wrong {}", what));
    return value;
  }
  /// Any number that StarPU writes, also nan and inf.
  double any_real(std::string_view what) {
    const std::string_view text = word(what);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail(fmt::format("has a wrong {}", what));
    return value;
  }
  void real(std::string_view what, bool may_be_nan, bool may_be_negative) {
    const double value = any_real(what);
    const bool good =
        std::isnan(value) ? may_be_nan : std::isfinite(value) && (may_be_negative || value >= 0);
    if (!good) fail(fmt::format("has a wrong {}", what));
  }
  /// One number on a line of its own.
  template <class Number>
  Number line_with(std::string_view what, Number least, Number most) {
    need(what);
    const Number value = whole(what, least, most);
    end_of_line();
    return value;
  }

  [[noreturn]] void fail(std::string_view what) const { fail_at(line_, what); }

 private:
  static constexpr std::size_t longest_line = 250;
  [[noreturn]] static void fail_at(long line, std::string_view what) {
    throw Flaw{fmt::format("line {} {}", line, what)};
  }
  std::string_view rest_, line_text_;
  long line_ = 0;
};

template <class Check>
std::string flaw_found_by(std::string_view text, Check check) {
  if (text.empty()) return "is empty";
  if (text.size() > largest_model_file) return "is too large";
  try {
    check();
  } catch (const Flaw& flaw) {
    return flaw.text;
  }
  return {};
}

void check_regressions(Lines& lines) {
  lines.need("the linear regression");
  for (int k = 0; k < 4; ++k) lines.real("sum", false, true);
  for (int k = 0; k < 2; ++k) lines.real("coefficient", true, true);
  lines.whole<std::uint32_t>("number of samples", 0, UINT32_MAX);
  for (int k = 0; k < 2; ++k) lines.whole<std::uint64_t>("size", 0, UINT64_MAX);
  lines.end_of_line();
  lines.need("the non-linear regression");
  for (int k = 0; k < 3; ++k) lines.real("coefficient", true, true);
  lines.end_of_line();
  lines.need("the multiple regression");
  const auto coefficients = lines.whole<std::uint32_t>("number of coefficients", 0, 64);
  for (std::uint32_t k = 0; k < coefficients; ++k) lines.real("coefficient", true, true);
  lines.end_of_line();
}

void check_measurement(Lines& lines) {
  lines.need("the last measurement");
  lines.whole<std::uint32_t>("footprint", 0, UINT32_MAX, 16);
  lines.whole<std::uint64_t>("size", 0, UINT64_MAX);
  lines.real("number of flops", true, false);
  for (const char* what : {"mean", "deviation", "sum", "sum of squares"}) lines.real(what, false, false);
  lines.whole<std::uint32_t>("number of samples", 0, UINT32_MAX);
  lines.end_of_line();
}

/// Checks the devices of a combination and its measurements. StarPU would end the program at a device without
/// a driver.
void check_combination(Lines& lines, std::set<std::vector<int>>& known) {
  std::vector<int> devices(1, lines.line_with("number of devices", 1, 64));
  for (int k = 0; k < devices.front(); ++k) {
    devices.push_back(lines.line_with("device type", 0, static_cast<int>(STARPU_CUDA_WORKER)));
    devices.push_back(lines.line_with("device number", 0, 4095));
    devices.push_back(lines.line_with("number of cores", 0, 65535));
  }
  if (!known.insert(devices).second) lines.fail("repeats a combination");
  const int implementations = lines.line_with("number of implementations", 1, STARPU_MAXIMPLEMENTATIONS);
  for (int k = 0; k < implementations; ++k) {
    const auto entries = lines.line_with<std::uint32_t>("number of entries", 0, UINT32_MAX);
    check_regressions(lines);
    for (std::uint32_t entry = 0; entry < entries; ++entry) check_measurement(lines);
  }
}

}  // namespace

std::string flaw_of_codelet_file(std::string_view text) {
  return flaw_found_by(text, [&] {
    Lines lines(text);
    lines.line_with("version", model_file_version, model_file_version);
    const int combinations = lines.line_with("number of combinations", 0, 10000);
    std::set<std::vector<int>> known;
    for (int k = 0; k < combinations; ++k) check_combination(lines, known);
    if (lines.next()) lines.fail("is beyond the end");
  });
}

std::string flaw_of_bus_config(std::string_view text, BusNodes& nodes) {
  return flaw_found_by(text, [&] {
    Lines lines(text);
    const auto number = [&](const char* what, unsigned least, unsigned most) {
      lines.need(what);
      lines.drop_comment();
      const auto value = lines.whole<unsigned>(what, least, most);
      lines.end_of_line();
      return value;
    };
    number("number of CPUs", 1, 1u << 20);
    nodes = {number("number of NUMA nodes", 1, 4096)};
    for (int type = STARPU_CPU_RAM + 1; type < STARPU_NRAM; ++type) {
      const unsigned count = number("number of devices", 0, 4096);
      nodes.devices += count;
      if (type == STARPU_CUDA_RAM) nodes.gpus = count;
    }
    if (lines.next()) lines.fail("is beyond the end");
  });
}

std::string flaw_of_bus_affinity(std::string_view text, const std::optional<BusNodes>& nodes) {
  return flaw_found_by(text, [&] {
    // The first line is a comment, but StarPU requires its words.
    const std::string_view title = text.substr(0, text.find('\n'));
    if (!title.starts_with("# GPU\tNUMA0\t")) throw Flaw{"line 1 is not the title"};
    unsigned numa = 0;
    for (const char c : title) numa += c == 'N' ? 1 : 0;
    Lines lines(text);
    unsigned devices = 0, last = 0;
    for (; lines.next(); ++devices) {
      // Devices of each kind are counted from 0.
      const auto device = lines.whole<unsigned>("number of a device", 0, devices == 0 ? 0 : last + 1);
      if (device != 0 && device != last + 1) lines.fail("is out of order");
      last = device;
      std::vector<bool> seen(numa, false);
      for (unsigned k = 0; k < numa; ++k) {
        const auto node = lines.whole<unsigned>("NUMA node", 0, numa - 1);
        if (seen[node]) lines.fail("names a NUMA node twice");
        seen[node] = true;
      }
      lines.end_of_line();
    }
    if (nodes && (nodes->numa != numa || nodes->devices != devices))
      throw Flaw{"speaks of other devices than the file of the configuration"};
  });
}

std::string flaw_of_bus_matrix(std::string_view text, const std::optional<BusNodes>& nodes) {
  return flaw_found_by(text, [&] {
    const std::size_t used = nodes ? nodes->numa + nodes->devices : 0;
    Lines lines(text);
    std::size_t rows = 0, columns = 0;
    for (; lines.next(); ++rows) {
      std::size_t column = 0;
      for (; lines.more_words(); ++column) {
        // StarPU divides by times that it has not measured: inf.
        const double value = lines.any_real("number");
        if (value < 0) lines.fail("has a wrong number");
        if (std::isnan(value) && rows < used && column < used) lines.fail("has no number for a node");
        if (!std::isnan(value) && (rows >= STARPU_MAXNODES || column >= STARPU_MAXNODES))
          lines.fail("has more nodes than StarPU was built for");
      }
      if (rows == 0) columns = column;
      if (column != columns) lines.fail("is of another length");
    }
    if (rows != columns || rows == 0 || rows < used) throw Flaw{"is not a square of all nodes"};
  });
}

std::size_t hash_of_lines(std::string_view text) noexcept {
  std::size_t sum = text.size();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    sum += hash_of(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return sum;
}

}  // namespace tessera::detail
