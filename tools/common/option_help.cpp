// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "option_table.hpp"

namespace tessera::program {

namespace {

constexpr std::size_t width = 100, column = 26;

/// Breaks text into lines of at most `width` columns. All lines except the first are indented by
/// `indent`. Line breaks in the text are kept; a continuation line after such a break is indented
/// by two more columns.
std::string wrapped(const std::string& text, std::size_t at, std::size_t indent) {
  std::string lines;
  std::size_t used = at, hanging = indent;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (used + word.size() > width && used > hanging) {
      while (lines.ends_with(' ')) lines.pop_back();
      lines += '\n' + std::string(hanging, ' ');
      used = hanging;
    }
    lines += word;
    used += word.size();
    if (end < text.size() && text[end] == '\n') {
      lines += '\n' + std::string(indent, ' ');
      used = indent;
      hanging = indent + 4;
    } else if (end < text.size()) {
      lines += ' ';
      ++used;
    }
    begin = end + 1;
  }
  return lines;
}

std::string line_of(const OptionEntry& entry) {
  std::string line = "  " + entry.name + (entry.value.empty() ? "" : " " + entry.value);
  if (!entry.name.starts_with("--")) line = "  " + entry.value;
  if (line.size() + 2 > column)
    line += '\n' + std::string(column, ' ');
  else
    line.resize(column, ' ');
  std::string help = entry.help;
  // A list in the help text stays last, after the remarks.
  const std::size_t list = std::min(help.find('\n'), help.size());
  help.insert(list, entry.remarks() + (list < help.size() ? ":" : ""));
  return line + wrapped(help, column, column) + '\n';
}

}  // namespace

std::string OptionTable::help() const {
  std::string places;
  std::vector<std::string> groups;
  for (const OptionEntry& entry : entries_) {
    if (!entry.name.starts_with("--")) places += " " + entry.value;
    if (!entry.place.empty()) places += " [" + entry.place + "]";
    if (std::find(groups.begin(), groups.end(), entry.group) == groups.end()) groups.push_back(entry.group);
  }
  std::string text = wrapped(fmt::format("{}: {}", command_, description_), 0, 0) + '\n';
  text += fmt::format("Usage: {}{} [OPTIONS]\n", command_, places);
  for (const std::string& group : groups) {
    text += fmt::format("\n{}:\n", group);
    for (const OptionEntry& entry : entries_)
      if (entry.group == group) text += line_of(entry);
  }
  text += fmt::format("  {:<{}}print this help and exit\n", "-h, --help", column - 2);
  if (is_program()) text += fmt::format("  {:<{}}print the version and exit\n", "--version", column - 2);
  if (!examples_.empty()) text += "\nExamples:\n";
  for (const auto& [words, what] : examples_)
    text += fmt::format("  {} {}\n", command_, words) + "      " + wrapped(what, 6, 6) + '\n';
  return text + "\nExit code: 0 all checks passed, 1 a check failed, 2 bad usage or input.\n";
}

}  // namespace tessera::program
