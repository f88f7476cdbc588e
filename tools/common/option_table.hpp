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

/// All options of a command in one table, each bound to a variable. The parser, the help, the
/// defaults and the options in the record are all derived from the table.
namespace tessera::program {

/// A row of the table. The chained functions set properties that only some options have.
struct OptionEntry {
  std::string name{};                             ///< `--n`; without dashes: positional only
  std::string place{};                            ///< positional name (FILE); empty: none
  std::string group{};                            ///< heading in the help
  std::string value{};                            ///< name of the value in the help; empty: a flag
  std::string help{};                             ///< line breaks in the text are kept
  std::string range{};                            ///< in words
  std::string fallback{};                         ///< the default in words
  std::vector<std::string> words{};               ///< all possible values, if there are few
  std::vector<std::string> suggestions{};         ///< some of many possible values, for completion
  std::function<void(const std::string&)> set{};  ///< parses and stores a value. @throws UsageError
  std::function<Json()> get{};                    ///< value for the record; null: not given
  std::function<bool()> applies{};                ///< if the option has an effect; empty: always
  std::string needed{};                           ///< condition for an effect, in words
  std::optional<Json> unresolved{};               ///< value for: the program chooses one
  FileFormat format = FileFormat::none;
  bool necessary = false;
  bool given = false;  ///< on the command line
  std::string said{};  ///< value as written on the command line

  /// Describes the default in words, if the variable's value does not show it.
  OptionEntry& by_default(std::string text);
  /// The value `unset` means that the program chooses one. The record has null until it is chosen.
  OptionEntry& chosen(std::string how, Json unset);
  /// Unless this condition is met, the option has no effect: it is rejected, and left out of the
  /// record.
  OptionEntry& needs(std::function<bool()> met, std::string what);
  OptionEntry& shown_as(std::string word);
  /// Values that a shell offers among others. One that ends in a colon goes on.
  OptionEntry& suggests(std::vector<std::string> values);
  OptionEntry& at_place(std::string of);
  OptionEntry& reads(FileFormat what);
  OptionEntry& required();

  /// The option's name in the record: `update_width`.
  std::string key() const;
  /// Range, condition and default in words, in brackets; empty if there are none.
  std::string remarks() const;
};

class OptionTable {
 public:
  /// @param command  as the user calls it: `tessera eigen`, `bench_dense`
  explicit OptionTable(std::string command, std::string description);

  const std::string& command() const noexcept { return command_; }
  const std::string& description() const noexcept { return description_; }
  /// An existing row.
  OptionEntry& entry(const std::string& name);
  /// Whether the option is on the command line.
  bool given(const std::string& name) const;
  const std::deque<OptionEntry>& entries() const noexcept { return entries_; }

  /// Heading in the help for the options that are added after this call.
  void group(std::string name) { group_ = std::move(name); }
  /// Example for the end of the help: a command line without the command, and what it does.
  void example(std::string words, std::string what) {
    examples_.emplace_back(std::move(words), std::move(what));
  }

  const std::vector<std::pair<std::string, std::string>>& examples() const noexcept { return examples_; }

  /// Sets a function that is called with the table after parsing and check().
  void then(std::function<void(const OptionTable&)> work) { then_ = std::move(work); }

  OptionEntry& text(std::string name, std::string& value, std::string shown, std::string help);
  /// A list with commas, unless there is a file of the whole name. In the record one text stands alone.
  OptionEntry& texts(std::string name, std::vector<std::string>& values, std::string shown, std::string help);
  OptionEntry& flag(std::string name, bool& value, std::string help);
  OptionEntry& yes_no(std::string name, bool& value, std::string help);
  OptionEntry& real(std::string name, double& value, const RealRange& range, std::string help);
  OptionEntry& real(std::string name, std::optional<double>& value, const RealRange& range, std::string help);
  OptionEntry& reals(std::string name, std::vector<double>& values, const RealRange& range, std::string help);
  OptionEntry& integers(std::string name, std::vector<Index>& values, Index least, Index most,
                        std::string help);
  /// One of a list of words.
  OptionEntry& word(std::string name, std::string& value, const std::vector<std::string>& words,
                    std::string help);
  /// The same for a variable of another type. A value without a word is null in the record.
  template <class T>
  OptionEntry& choice(std::string name, T& value, const std::vector<std::pair<std::string, T>>& named,
                      std::string help);
  template <class Integer>
  OptionEntry& integer(std::string name, Integer& value, Index least, Index most, std::string help);
  /// A value with its own syntax. @param parse throws UsageError, @param show returns the value for
  /// the record
  template <class T, class Parse, class Show>
  OptionEntry& form(std::string name, T& value, std::string shown, Parse parse, Show show, std::string help);

  /// The help text, with at most 100 columns.
  std::string help() const;

  /// The current values of the options that have an effect, by their keys in the record.
  Json json() const;

  /// Rejects files that are clearly not of the format that the option reads. @throws InputError
  void require_formats() const;

  /// Called after parsing: rejects unknown words, and options without effect. @throws UsageError
  void check(const CLI::App& command) const;

 private:
  friend void parse_by_table(CLI::App&, OptionTable);
  /// Registers the options with a parser. The parser owns the table.
  static void register_options(CLI::App& command, const std::shared_ptr<OptionTable>& table);
  /// False for one of several commands of a program, such as `tessera eigen`.
  bool is_program() const { return command_.find(' ') == std::string::npos; }
  OptionEntry& add(OptionEntry entry);
  [[noreturn]] void refuse_word(const std::string& word) const;

  std::string command_, description_, group_ = "Options";
  std::vector<std::pair<std::string, std::string>> examples_;
  std::deque<OptionEntry> entries_;
  std::function<void(const OptionTable&)> then_;
};

/// Sets up the command's parser from the table: options, help, and the checks after parsing. The
/// parser owns the table.
void parse_by_table(CLI::App& command, OptionTable table);

/// Converts an error of the parser library to the text form that all errors have.
UsageError usage_error_of(const CLI::ParseError& error);

/// Index of `text` in `words`. @throws UsageError with a suggestion
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
