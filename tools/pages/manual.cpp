// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Manual pages in the macros of man(7).
#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include <tessera/error.hpp>

#include "pages.hpp"
#include "program_options.hpp"

namespace tessera::program {

namespace {

constexpr std::size_t width = 78;

/// The character of more than one byte that begins at `at`, as troff writes it; `at` is then its last byte.
std::string troff_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(k < text.size() ? text[k] : 0); };
  const int more = byte(at) >= 0xf0 ? 3 : byte(at) >= 0xe0 ? 2 : 1;
  unsigned code = byte(at) & (0x3fU >> more);
  for (int k = 0; k < more; ++k) code = code << 6 | (byte(++at) & 0x3fU);
  return fmt::format("\\[u{:04X}]", code);
}

/// Text as troff takes it; what stands between `` ` `` is bold.
std::string troff(std::string_view text) {
  std::string result;
  bool bold = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`') {
      result += bold ? "\\fR" : "\\fB";
      bold = !bold;
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\\') {
      result += "\\(rs";
    } else if (c == '^') {
      result += "\\(ha";
    } else if (c == '~') {
      result += "\\(ti";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      result += troff_character(text, at);
    } else {
      result += c;
    }
  }
  return result;
}

/// Lines of a paragraph. None begins like a request of troff.
std::string filled(std::string_view text) {
  std::string lines, line;
  std::istringstream words{troff(text)};
  const auto end_line = [&] {
    if (line.starts_with('.')) line.insert(0, "\\&");
    lines += line + '\n';
    line.clear();
  };
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > width) end_line();
    line += (line.empty() ? "" : " ") + word;
  }
  if (!line.empty()) end_line();
  return lines;
}

std::string bold(std::string_view text) {
  return "\\fB" + troff(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + troff(text) + "\\fR";
}

std::string tagged(const std::string& tag, std::string_view text) {
  return ".TP\n" + tag + '\n' + filled(text);
}

/// A list in the help of an option: `\n  NAME: text` again and again.
std::string list_of(std::string_view text) {
  std::string result = ".RS\n";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t colon = std::min(line.find(": "), line.size());
    result += tagged(bold(line.substr(0, colon)), line.substr(std::min(colon + 2, line.size())));
    begin = end + 1;
  }
  return result + ".RE\n";
}

std::string option(const OptionEntry& entry) {
  std::string tag = italic(entry.value);
  if (entry.name.starts_with("--")) {
    tag = bold(entry.name) + (entry.value.empty() ? "" : " " + italic(entry.value));
    if (!entry.place.empty()) tag = "[" + bold(entry.name) + "] " + italic(entry.value);
  }
  const std::size_t list = std::min(entry.help.find('\n'), entry.help.size());
  const bool has_list = list < entry.help.size();
  std::string text = tagged(tag, entry.help.substr(0, list) + entry.remarks() + (has_list ? ":" : ""));
  if (has_list) text += list_of(std::string_view(entry.help).substr(list + 1));
  return text;
}

std::string head(const std::string& name, const std::string& what, const PageFacts& facts) {
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  return fmt::format(
      ".\\\" Made from the tables of options of the program.\n"
      ".TH {} 1 {} \"tessera {}\" \"User Commands\"\n.SH NAME\n{} \\- {}",
      troff(title), facts.date, facts.version, troff(name), filled(what));
}

std::string exit_status() {
  return ".SH EXIT STATUS\n" + tagged(bold("0"), "all checks passed") + tagged(bold("1"), "a check failed") +
         tagged(bold("2"), "bad usage or input, in one line on standard error") +
         tagged(bold("128") + " + " + italic("N"),
                "ended by signal N: SIGINT, SIGTERM or SIGHUP; files are as before or whole");
}

std::string example(const std::string& command, const std::pair<std::string, std::string>& example) {
  return ".TP\n" + bold(command + " " + example.first) + '\n' + filled(example.second);
}

const std::string usual_options = tagged("\\fB\\-h\\fR, \\fB\\-\\-help\\fR", "print the help and exit");

/// A cell of a table in Markdown: no links, and none in brackets that are nothing else.
std::string without_links(std::string text) {
  for (std::size_t open; (open = text.find("](")) != std::string::npos;) {
    const std::size_t begin = text.rfind('[', open), end = text.find(')', open);
    if (begin == std::string::npos || end == std::string::npos) break;
    if (begin >= 2 && text.compare(begin - 2, 2, " (") == 0 && end + 1 < text.size() && text[end + 1] == ')')
      text.erase(begin - 2, end + 2 - (begin - 2));
    else
      text.replace(begin, end + 1 - begin, text.substr(begin + 1, open - begin - 1));
  }
  return text;
}

std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  for (std::size_t begin = 1; begin < row.size();) {
    const std::size_t end = std::min(row.find('|', begin), row.size());
    std::string cell = row.substr(begin, end - begin);
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
    cells.push_back(without_links(cell));
    begin = end + 1;
  }
  return cells;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> variables_of(const std::string& page,
                                                              const std::string& text) {
  std::vector<std::pair<std::string, std::string>> variables;
  std::istringstream lines(text.substr(std::min(text.find("## Read by Tessera\n"), text.size())));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && !line.starts_with("## ")) {
    const std::vector<std::string> cells = cells_of(line);
    if (!line.starts_with('|') || cells.size() < 3 || cells[0].find('`') == std::string::npos) continue;
    variables.emplace_back(cells[0], cells[1] + (cells[2].empty() ? "" : " (default: " + cells[2] + ")"));
  }
  if (variables.empty()) throw InputError(page, 0, "has no table under '## Read by Tessera'");
  return variables;
}

std::string manual_of_program(const std::vector<CommandOfProgram>& commands, const PageFacts& facts) {
  std::string text =
      head("tessera", "dense and sparse eigenproblems, block-sparse products and density matrices", facts);
  text += ".SH SYNOPSIS\n\\fBtessera\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n";
  text += filled(
      std::string(program_description) +
      ", on CPU cores, NVIDIA GPUs and, under mpirun, several nodes. Each command has a page of its own.");
  text += ".SH COMMANDS\n";
  for (const auto& [name, table] : commands)
    text += tagged(bold("tessera-" + name) + "(1)", table.description());
  text += ".SH OPTIONS\n" + usual_options + tagged(bold("--version"), "print the version and exit");
  text += exit_status() + ".SH ENVIRONMENT\n";
  text += filled("What an option says wins over the environment. A value that cannot be used is an error.");
  for (const auto& [names, meaning] : facts.variables) text += tagged(troff(names), meaning);
  text += ".SH FILES\n";
  text += tagged(italic("share/tessera/perfmodels"), "of the installation: performance models by machine");
  text += tagged(
      italic("~/.cache/tessera"),
      "kernels compiled at run time, their tuned parameters, and performance models that were measured");
  text += ".SH EXAMPLES\n";
  for (const auto& [name, table] : commands)
    if (!table.examples().empty()) text += example(table.command(), table.examples().front());
  text += ".SH SEE ALSO\n";
  for (const auto& [name, table] : commands)
    text += ".BR " + troff("tessera-" + name) + (name == commands.back().name ? " (1)\n" : " (1),\n");
  return text;
}

std::string manual_of_command(const CommandOfProgram& command, const PageFacts& facts) {
  const OptionTable& table = command.table;
  std::string text = head("tessera-" + command.name, table.description(), facts);
  text += ".SH SYNOPSIS\n" + bold(table.command());
  std::vector<std::string> groups;
  for (const OptionEntry& entry : table.entries()) {
    if (!entry.name.starts_with("--")) text += " " + italic(entry.value);
    if (!entry.place.empty()) text += " [" + italic(entry.place) + "]";
    if (std::find(groups.begin(), groups.end(), entry.group) == groups.end()) groups.push_back(entry.group);
  }
  text += " [\\fIOPTIONS\\fR]\n.SH OPTIONS\n";
  for (const std::string& group : groups) {
    text += ".SS " + troff(group) + '\n';
    for (const OptionEntry& entry : table.entries())
      if (entry.group == group) text += option(entry);
  }
  text += usual_options + exit_status() + ".SH ENVIRONMENT\nSee\n.BR tessera (1).\n";
  if (!table.examples().empty()) text += ".SH EXAMPLES\n";
  for (const auto& words : table.examples()) text += example(table.command(), words);
  return text + ".SH SEE ALSO\n.BR tessera (1)\n";
}

}  // namespace tessera::program
