// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#include "option_table.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::program {

namespace {

/// The default as the help text shows it.
std::string shown_default(const Json& value) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_float()) return fmt::format("{:g}", value.get<double>());
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& part : value) parts.push_back(shown_default(part));
    return fmt::format("{}", fmt::join(parts, ","));
  }
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

OptionEntry& OptionEntry::by_default(std::string text) {
  fallback = std::move(text);
  return *this;
}

OptionEntry& OptionEntry::chosen(std::string how, Json unset) {
  unresolved = std::move(unset);
  return by_default(std::move(how));
}

OptionEntry& OptionEntry::needs(std::function<bool()> met, std::string what) {
  applies = std::move(met);
  needed = std::move(what);
  return *this;
}

OptionEntry& OptionEntry::shown_as(std::string word) {
  value = std::move(word);
  return *this;
}

OptionEntry& OptionEntry::suggests(std::vector<std::string> values) {
  suggestions = std::move(values);
  return *this;
}

OptionEntry& OptionEntry::at_place(std::string of) {
  place = std::move(of);
  return *this;
}

OptionEntry& OptionEntry::reads(FileFormat what) {
  format = what;
  return *this;
}

OptionEntry& OptionEntry::required() {
  necessary = true;
  return *this;
}

std::string OptionEntry::key() const {
  std::string text = name.substr(name.starts_with("--") ? 2 : 0);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string OptionEntry::remarks() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (!range.empty()) add(range);
  if (!needed.empty()) add("only with " + needed);
  if (!fallback.empty()) add("default: " + fallback);
  return text.empty() ? text : " (" + text + ")";
}

OptionTable::OptionTable(std::string command, std::string description)
    : command_(std::move(command)), description_(std::move(description)) {}

OptionEntry& OptionTable::add(OptionEntry entry) {
  entry.group = group_;
  if (entry.fallback.empty() && !entry.value.empty()) entry.fallback = shown_default(entry.get());
  if (!entry.words.empty()) {
    constexpr std::size_t longest = 40;  // longest list that fits beside the name in the help
    entry.fallback = shown_default(entry.get());
    entry.value = fmt::format("{}", fmt::join(entry.words, "|"));
    if (entry.value.size() > longest) {
      entry.value = "WORD";
      entry.help += "; " + one_of(entry.words);
    }
  }
  entries_.push_back(std::move(entry));
  return entries_.back();
}

OptionEntry& OptionTable::text(std::string name, std::string& value, std::string shown, std::string help) {
  OptionEntry entry{.name = std::move(name), .value = std::move(shown), .help = std::move(help)};
  entry.set = [&value](const std::string& text) { value = text; };
  entry.get = [&value] { return value.empty() ? Json() : Json(value); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::flag(std::string name, bool& value, std::string help) {
  OptionEntry entry{.name = std::move(name), .help = std::move(help)};
  entry.set = [&value](const std::string&) { value = true; };
  entry.get = [&value] { return Json(value); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::texts(std::string name, std::vector<std::string>& values, std::string shown,
                                std::string help) {
  OptionEntry entry{.name = name, .value = std::move(shown), .help = std::move(help)};
  entry.set = [&values, name, shown = entry.value](const std::string& text) {
    std::error_code ignored;
    values = std::filesystem::exists(text, ignored) ? std::vector<std::string>{text} : split_list(text);
    if (std::ranges::count(values, std::string()) > 0)
      throw UsageError(name, text, "has an empty name", shown);
  };
  entry.get = [&values] {
    return values.empty() ? Json() : values.size() == 1 ? Json(values[0]) : Json(values);
  };
  return add(std::move(entry));
}

OptionEntry& OptionTable::yes_no(std::string name, bool& value, std::string help) {
  OptionEntry entry{.name = name, .help = std::move(help), .words = {"yes", "no"}};
  entry.set = [&value, name](const std::string& text) { value = find_word(name, text, {"yes", "no"}) == 0; };
  entry.get = [&value] { return Json(value); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::real(std::string name, double& value, const RealRange& range, std::string help) {
  OptionEntry entry{.name = name, .value = "X", .help = std::move(help), .range = range.words};
  entry.set = [&value, name, range](const std::string& text) {
    const std::string problem = problem_of_real(text, range, value);
    if (!problem.empty()) throw UsageError(name + ": " + problem);
  };
  entry.get = [&value] { return Json(value); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::real(std::string name, std::optional<double>& value, const RealRange& range,
                               std::string help) {
  OptionEntry entry{.name = name, .value = "X", .help = std::move(help), .range = range.words};
  entry.set = [&value, name, range](const std::string& text) {
    const std::string problem = problem_of_real(text, range, value.emplace());
    if (!problem.empty()) throw UsageError(name + ": " + problem);
  };
  entry.get = [&value] { return value ? Json(*value) : Json(); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::reals(std::string name, std::vector<double>& values, const RealRange& range,
                                std::string help) {
  OptionEntry entry{.name = name, .value = "X[,X...]", .help = std::move(help), .range = range.words};
  entry.set = [&values, name, range](const std::string& text) {
    values.clear();
    for (const std::string& part : split_list(text)) {
      const std::string problem = problem_of_real(part, range, values.emplace_back());
      if (!problem.empty()) throw UsageError(name + ": " + problem);
    }
  };
  entry.get = [&values] { return Json(values); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::integers(std::string name, std::vector<Index>& values, Index least, Index most,
                                   std::string help) {
  OptionEntry entry{
      .name = name, .value = "N[,N...]", .help = std::move(help), .range = range_in_words(least, most)};
  entry.set = [&values, name, least, most](const std::string& text) {
    values.clear();
    for (const std::string& part : split_list(text)) {
      const std::string problem = problem_of_integer(part, least, most, values.emplace_back());
      if (!problem.empty()) throw UsageError(name + ": " + problem);
    }
  };
  entry.get = [&values] { return Json(values); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::word(std::string name, std::string& value, const std::vector<std::string>& words,
                               std::string help) {
  OptionEntry entry{.name = name, .help = std::move(help), .words = words};
  entry.set = [&value, name, words](const std::string& text) { value = words[find_word(name, text, words)]; };
  entry.get = [&value] { return value.empty() ? Json() : Json(value); };
  return add(std::move(entry));
}

OptionEntry& OptionTable::entry(const std::string& name) {
  return *std::find_if(entries_.begin(), entries_.end(),
                       [&](const OptionEntry& entry) { return entry.name == name; });
}

bool OptionTable::given(const std::string& name) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const OptionEntry& entry) { return entry.name == name && entry.given; });
}

Json OptionTable::json() const {
  Json json = Json::object();
  for (const OptionEntry& entry : entries_) {
    if (entry.applies && !entry.applies()) continue;
    Json value = entry.get();
    if (entry.unresolved)
      json[entry.key()] = value == *entry.unresolved ? Json() : std::move(value);
    else if (!value.is_null())
      json[entry.key()] = std::move(value);
  }
  return json;
}

void OptionTable::require_formats() const {
  for (const OptionEntry& entry : entries_) {
    if (entry.format == FileFormat::none) continue;
    const Json value = entry.get(), files = value.is_array() ? value : Json::array({value});
    for (const Json& file : files)
      if (file.is_string()) require_format(file.get<std::string>(), entry.format);
  }
}

void OptionTable::register_options(CLI::App& command, const std::shared_ptr<OptionTable>& table) {
  for (OptionEntry& entry : table->entries_) {
    const std::string help = entry.help + entry.remarks();
    if (entry.value.empty()) {
      command.add_flag_callback(
          entry.name,
          [table, &entry] {
            entry.given = true;
            entry.set("");
          },
          help);
      continue;
    }
    const auto take = [table, &entry](const std::string& text) {
      if (text.starts_with("--"))
        throw UsageError(fmt::format("{} has no value; expected {}", entry.name, entry.value));
      entry.given = true;
      entry.said = text;
      entry.set(text);
    };
    const std::string names = entry.place.empty() ? entry.name : entry.place + "," + entry.name;
    command.add_option_function<std::string>(names, take, help)->type_name(entry.value);
  }
}

void OptionTable::refuse_word(const std::string& word) const {
  if (!word.starts_with('-'))
    throw UsageError(fmt::format("'{}' is one word too many; {} --help lists the options", word, command_));
  const std::string option = word.substr(0, word.find('='));
  std::vector<std::string> names{"help"};
  if (is_program()) names.emplace_back("version");
  for (const OptionEntry& entry : entries_)
    if (entry.name.starts_with("--")) names.push_back(entry.name.substr(2));
  const std::string bare = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  const std::string nearest = nearest_word(bare, names);
  throw UsageError(nearest.empty()
                       ? fmt::format("{} is not an option; {} --help lists them", option, command_)
                       : fmt::format("{} is not an option; did you mean '--{}'?", option, nearest));
}

void OptionTable::check(const CLI::App& command) const {
  for (const std::string& word : command.remaining())
    if (word != "--") refuse_word(word);
  for (const OptionEntry& entry : entries_) {
    if (entry.necessary && !entry.given)
      throw UsageError(fmt::format("{} is missing; expected {}", entry.value,
                                   entry.words.empty() ? entry.help : one_of(entry.words)));
    if (!entry.given || !entry.applies || entry.applies()) continue;
    const std::string value = entry.value.empty() ? std::string() : ": '" + entry.said + "'";
    throw UsageError(
        fmt::format("{}{} has no effect; expected it only with {}", entry.name, value, entry.needed));
  }
}

void parse_by_table(CLI::App& command, OptionTable table) {
  const auto kept = std::make_shared<OptionTable>(std::move(table));
  OptionTable::register_options(command, kept);
  command.allow_extras();
  command.formatter_fn(
      [kept](const CLI::App*, const std::string&, CLI::AppFormatMode) { return kept->help(); });
  command.parse_complete_callback([kept, &command] {
    kept->check(command);
    if (kept->then_) kept->then_(*kept);
  });
}

UsageError usage_error_of(const CLI::ParseError& error) {
  const std::string text = error.what(), name = text.substr(0, text.find(": "));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) {
    if (text.ends_with(" missing")) {
      const std::string shown = text.substr(0, text.size() - std::string_view(" missing").size());
      return UsageError(
          fmt::format("{} has no value; expected {}", name, shown.substr(shown.rfind(' ') + 1)));
    }
    if (text.find("received") != std::string::npos)
      return UsageError(fmt::format("{} is given more than once; expected it once", name));
  }
  return UsageError(text);
}

std::size_t find_word(const std::string& option, const std::string& text,
                      const std::vector<std::string>& words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found == words.end())
    throw UsageError(option, text, "is unknown", one_of(words) + did_you_mean(text, words));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace tessera::program
