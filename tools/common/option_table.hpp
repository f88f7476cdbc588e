// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "common_options.hpp"
#include "file_kind.hpp"
#include "option_values.hpp"
#include "usage_error.hpp"

/// The options of a command in one table, each bound to a variable: parser, help, defaults and the
/// options of the record all come from it.
namespace tessera::program {

/// A row of the table. What is set by name in a chain says how the option differs from the usual.
struct OptionEntry {
  std::string name{};                             ///< `--n`; without dashes: of a place only
  std::string place{};                            ///< of FILE if it may stand without the option's name
  std::string group{};                            ///< of the help
  std::string value{};                            ///< what stands for the value in the help; empty: a flag
  std::string help{};                             ///< a line breaks where it has one
  std::string range{};                            ///< in words
  std::string fallback{};                         ///< the default in words
  std::vector<std::string> words{};               ///< all values, if they are few
  std::function<void(const std::string&)> set{};  ///< @throws UsageError
  std::function<Json()> get{};                    ///< null: not given
  std::function<bool()> applies{};                ///< empty: always
  std::string needed{};                           ///< what it needs, in words
  std::optional<Json> unresolved{};               ///< the value that means: choose one
  FileFormat format = FileFormat::none;
  bool necessary = false;
  bool given = false;  ///< on the command line
  std::string said{};  ///< there

  /// The default in words, where the variable's value does not tell.
  OptionEntry& by_default(std::string text);
  /// The value `unset` means that one is chosen: null in the record unless one has been.
  OptionEntry& chosen(std::string how, Json unset);
  /// Without this it has no effect: refused, and not in the record.
  OptionEntry& needs(std::function<bool()> met, std::string what);
  OptionEntry& shown_as(std::string word);
  OptionEntry& at_place(std::string of);
  OptionEntry& reads(FileFormat what);
  OptionEntry& required();

  /// Its name in the record: `update_width`.
  std::string key() const;
  /// Range, need and default in words, in brackets; empty if there are none.
  std::string remarks() const;
};

class OptionTable {
 public:
  /// @param command  as it is called: `tessera eigen`, `bench_dense`
  explicit OptionTable(std::string command, std::string description);

  const std::string& command() const noexcept { return command_; }
  const std::string& description() const noexcept { return description_; }
  /// A row that is there.
  OptionEntry& entry(const std::string& name);
  /// On the command line.
  bool given(const std::string& name) const;
  const std::deque<OptionEntry>& entries() const noexcept { return entries_; }

  /// What is added from now on stands there in the help.
  void group(std::string name) { group_ = std::move(name); }
  /// A command line for the end of the help, without the command, and what it does.
  void example(std::string words, std::string what) {
    examples_.emplace_back(std::move(words), std::move(what));
  }

  /// What is done with the table after parsing and check().
  void then(std::function<void(const OptionTable&)> work) { then_ = std::move(work); }

  OptionEntry& text(std::string name, std::string& value, std::string shown, std::string help);
  OptionEntry& flag(std::string name, bool& value, std::string help);
  OptionEntry& yes_no(std::string name, bool& value, std::string help);
  OptionEntry& real(std::string name, double& value, const RealRange& range, std::string help);
  OptionEntry& real(std::string name, std::optional<double>& value, const RealRange& range, std::string help);
  OptionEntry& reals(std::string name, std::vector<double>& values, const RealRange& range, std::string help);
  OptionEntry& integers(std::string name, std::vector<Index>& values, Index least, Index most,
                        std::string help);
  /// One of some words.
  OptionEntry& word(std::string name, std::string& value, const std::vector<std::string>& words,
                    std::string help);
  /// The same for a variable of another type; a value that has no word is null in the record.
  template <class T>
  OptionEntry& choice(std::string name, T& value, const std::vector<std::pair<std::string, T>>& named,
                      std::string help);
  template <class Integer>
  OptionEntry& integer(std::string name, Integer& value, Index least, Index most, std::string help);
  /// A value with a form of its own; @param parse throws UsageError, @param show makes the record's value
  template <class T, class Parse, class Show>
  OptionEntry& form(std::string name, T& value, std::string shown, Parse parse, Show show, std::string help);

  /// At most 100 columns.
  std::string help() const;

  /// The options as they are now, by their keys in the record: those that have an effect.
  Json json() const;

  /// Refuses files that are clearly of another kind than the option reads. @throws InputError
  void require_formats() const;

  /// After parsing: unknown words, and options without effect. @throws UsageError
  void check(const CLI::App& command) const;

 private:
  friend void parse_by_table(CLI::App&, OptionTable);
  /// Registers the options with a parser, which keeps the table.
  static void register_options(CLI::App& command, const std::shared_ptr<OptionTable>& table);
  /// Not a command of a program that has several.
  bool is_program() const { return command_.find(' ') == std::string::npos; }
  OptionEntry& add(OptionEntry entry);
  [[noreturn]] void refuse_word(const std::string& word) const;

  std::string command_, description_, group_ = "Options";
  std::vector<std::pair<std::string, std::string>> examples_;
  std::deque<OptionEntry> entries_;
  std::function<void(const OptionTable&)> then_;
};

/// Makes the command's parser from the table, which it keeps: options, help, and the checks after parsing.
void parse_by_table(CLI::App& command, OptionTable table);

/// The uniform text of an error of the parser itself.
UsageError usage_error_of(const CLI::ParseError& error);

/// Which of the words it is. @throws UsageError, with a guess
std::size_t find_word(const std::string& option, const std::string& text,
                      const std::vector<std::string>& words);

template <class T>
OptionEntry& OptionTable::choice(std::string name, T& value,
                                 const std::vector<std::pair<std::string, T>>& named, std::string help) {
  OptionEntry entry{.name = name, .help = std::move(help)};
  for (const auto& [word, meaning] : named) entry.words.push_back(word);
  entry.set = [&value, name, named, words = entry.words](const std::string& text) {
    value = named[find_word(name, text, words)].second;
  };
  entry.get = [&value, named] {
    for (const auto& [word, meaning] : named)
      if (meaning == value) return Json(word);
    return Json();
  };
  return add(std::move(entry));
}

template <class Integer>
OptionEntry& OptionTable::integer(std::string name, Integer& value, Index least, Index most,
                                  std::string help) {
  OptionEntry entry{
      .name = name, .value = "N", .help = std::move(help), .range = range_in_words(least, most)};
  entry.set = [&value, name, least, most](const std::string& text) {
    Index number = 0;
    const std::string problem = problem_of_integer(text, least, most, number);
    if (!problem.empty()) throw UsageError(name + ": " + problem);
    value = static_cast<Integer>(number);
  };
  entry.get = [&value] { return Json(value); };
  return add(std::move(entry));
}

template <class T, class Parse, class Show>
OptionEntry& OptionTable::form(std::string name, T& value, std::string shown, Parse parse, Show show,
                               std::string help) {
  OptionEntry entry{.name = std::move(name), .value = std::move(shown), .help = std::move(help)};
  entry.set = [&value, parse](const std::string& text) { value = parse(text); };
  entry.get = [&value, show] { return Json(show(value)); };
  return add(std::move(entry));
}

}  // namespace tessera::program
