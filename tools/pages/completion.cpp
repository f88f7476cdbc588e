// SPDX-FileCopyrightText: 2026 The Tessera authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Completion for bash, zsh and fish.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "pages.hpp"

namespace tessera::program {

namespace {

/// What may stand for a value.
struct Values {
  std::vector<std::string> words{};
  bool files = false, folders = false;
  /// Nothing is known of the value.
  bool free() const { return words.empty() && !files && !folders; }
};

Values values_of(const OptionEntry& entry) {
  Values values;
  values.words = entry.words.empty() ? entry.suggestions : entry.words;
  const auto says = [&](const char* what) { return entry.value.find(what) != std::string::npos; };
  values.folders = says("DIR");
  values.files = says("FILE") || says("PREFIX");
  return values;
}

bool is_option(const OptionEntry& entry) {
  return entry.name.starts_with("--");
}

/// What the first word without a dash may be.
Values values_of_places(const OptionTable& table) {
  Values values;
  for (const OptionEntry& entry : table.entries())
    if (!entry.place.empty() || !is_option(entry)) {
      const Values of_entry = values_of(entry);
      values.files |= of_entry.files;
      values.folders |= of_entry.folders;
      values.words.insert(values.words.end(), of_entry.words.begin(), of_entry.words.end());
    }
  return values;
}

/// The first part of a help text.
std::string brief(const std::string& help) {
  return help.substr(0, std::min({help.find('\n'), help.find("; "), help.size()}));
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// In quotation marks of bash and zsh.
std::string quoted(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

std::string names_of(const std::vector<CommandOfProgram>& commands) {
  std::vector<std::string> names;
  for (const CommandOfProgram& command : commands) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// ---- bash -------------------------------------------------------------------------------------------------

/// `words=... kind=...`
std::string bash_values(const Values& values) {
  std::string text;
  if (!values.words.empty()) text += " words=" + quoted(fmt::format("{}", fmt::join(values.words, " ")));
  if (values.files) text += " kind=-f";
  if (values.folders) text += " kind=-d";
  return text;
}

std::string bash_command(const CommandOfProgram& command) {
  std::string options, text;
  std::vector<std::string> without_values;
  for (const OptionEntry& entry : command.table.entries()) {
    if (!is_option(entry)) continue;
    options += entry.name + ' ';
    if (entry.value.empty()) continue;
    const std::string when = command.name + "/" + entry.name;
    if (const Values values = values_of(entry); values.free())
      without_values.push_back(when);
    else
      text += fmt::format("      {}){} ;;\n", when, bash_values(values));
  }
  if (!without_values.empty()) text += fmt::format("      {}) return ;;\n", fmt::join(without_values, " | "));
  const Values places = values_of_places(command.table);
  text += fmt::format("      {}/*)\n        words={}\n", command.name, quoted(options + "--help"));
  if (!places.free())
    text += fmt::format("        [[ $current == -* ]] || {{ words=''{}; }}\n", bash_values(places));
  return text + "        ;;\n";
}

// ---- zsh --------------------------------------------------------------------------------------------------

std::string zsh_escaped(std::string text) {
  for (const char* special : {"\\", ":", "[", "]"})
    text = replaced(text, special, std::string("\\") + special);
  return text;
}

/// `:WORD:ACTION`
std::string zsh_values(const std::string& shown, const Values& values) {
  std::vector<std::string> actions, open;
  std::string closed;
  for (const std::string& word : values.words)
    if (word.ends_with(':'))
      open.push_back(zsh_escaped(word));
    else
      closed += ' ' + zsh_escaped(word);
  if (!closed.empty()) actions.push_back("compadd --" + closed);
  if (!open.empty()) actions.push_back(fmt::format("compadd -S \"\" -- {}", fmt::join(open, " ")));
  if (values.files) actions.emplace_back("_files");
  if (values.folders) actions.emplace_back("_files -/");
  const std::string action = actions.empty() ? " " : fmt::format("{{{}}}", fmt::join(actions, "; "));
  return ":" + zsh_escaped(shown) + ":" + action;
}

std::string zsh_command(const CommandOfProgram& command) {
  std::string text = fmt::format(
      "      {})\n        _arguments '(- *)'{{-h,--help}}'[print the help and exit]'", command.name);
  for (const OptionEntry& entry : command.table.entries()) {
    text += " \\\n          ";
    if (is_option(entry)) {
      const std::string name = entry.name + (entry.value.empty() ? "" : "=");
      text += quoted(name + "[" + zsh_escaped(brief(entry.help)) + "]" +
                     (entry.value.empty() ? "" : zsh_values(entry.value, values_of(entry))));
    }
    if (!is_option(entry)) text += quoted(zsh_values(entry.value, values_of(entry)));
  }
  const Values places = values_of_places(command.table);
  const bool places_of_options = std::ranges::any_of(
      command.table.entries(), [](const OptionEntry& entry) { return !entry.place.empty(); });
  if (places_of_options) text += " \\\n          " + quoted("*" + zsh_values("FILE", places));
  return text + "\n        ;;\n";
}

// ---- fish -------------------------------------------------------------------------------------------------

std::string fish_quoted(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_values(const Values& values) {
  std::string text;
  if (!values.words.empty()) text += " -a " + fish_quoted(fmt::format("{}", fmt::join(values.words, " ")));
  if (values.folders) return " -x -a '(__fish_complete_directories)'" + text;
  return (values.files ? " -r -F" : " -x") + text;
}

std::string fish_command(const CommandOfProgram& command) {
  const std::string start =
      fmt::format("complete -c tessera -n '__fish_seen_subcommand_from {}'", command.name);
  std::string text;
  for (const OptionEntry& entry : command.table.entries())
    if (is_option(entry))
      text += fmt::format("{} -l {}{} -d {}\n", start, entry.name.substr(2),
                          entry.value.empty() ? "" : fish_values(values_of(entry)),
                          fish_quoted(brief(entry.help)));
  const Values places = values_of_places(command.table);
  if (places.files) text += start + " -F\n";
  if (places.folders) text += start + " -a '(__fish_complete_directories)'\n";
  return text;
}

}  // namespace

std::string bash_completion(const std::vector<CommandOfProgram>& commands) {
  std::string text = R"(# Completion of tessera for bash. Made from the tables of options of the program.

_tessera() {
  local current previous word words='' kind='' head
  local -a typed=()
  # bash takes a value apart at = and at colons.
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if ((${#typed[@]} > 2)) && [[ $word == [=:]* || ${typed[-1]} == *[=:] ]]; then
      typed[-1]+=$word
    else
      typed+=("$word")
    fi
  done
  COMPREPLY=()
  current=${typed[-1]}
  previous=${typed[-2]}
  if [[ $current == --*=* ]]; then
    previous=${current%%=*}
    current=${current#*=}
  fi
  if ((${#typed[@]} == 2)); then
    words='@COMMANDS@ --help --version'
  else
    case ${typed[1]}/$previous in
@CASES@    esac
  fi
  if [[ $kind ]]; then
    mapfile -t COMPREPLY < <(compgen "$kind" -- "$current")
    compopt -o filenames 2>/dev/null
  fi
  mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$current")
  if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2>/dev/null; fi
  if [[ $COMP_WORDBREAKS == *:* ]]; then
    head=${current%"${current##*:}"}
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
  fi
}

complete -F _tessera tessera
)";
  std::string cases;
  for (const CommandOfProgram& command : commands) cases += bash_command(command);
  return replaced(replaced(text, "@COMMANDS@", names_of(commands)), "@CASES@", cases);
}

std::string zsh_completion(const std::vector<CommandOfProgram>& commands) {
  std::string text = R"(#compdef tessera
# Completion of tessera for zsh. Made from the tables of options of the program.

local curcontext=$curcontext state
local -a commands line
typeset -A opt_args
commands=(
@COMMANDS@)
_arguments -C '(- *)'{-h,--help}'[print the help and exit]' '(- *)--version[print the version and exit]' \
  '1:command:->command' '*::argument:->arguments' && return

case $state in
  command) _describe -t commands command commands ;;
  arguments)
    case $words[1] in
@CASES@    esac
    ;;
esac
)";
  std::string list, cases;
  for (const CommandOfProgram& command : commands) {
    list += "  " + quoted(command.name + ":" + replaced(command.table.description(), ":", "\\:")) + '\n';
    cases += zsh_command(command);
  }
  return replaced(replaced(text, "@COMMANDS@", list), "@CASES@", cases);
}

std::string fish_completion(const std::vector<CommandOfProgram>& commands) {
  std::string text =
      "# Completion of tessera for fish. Made from the tables of options of the program.\n"
      "complete -c tessera -f\n"
      "complete -c tessera -s h -l help -d 'print the help and exit'\n"
      "complete -c tessera -n __fish_use_subcommand -l version -d 'print the version and exit'\n";
  for (const CommandOfProgram& command : commands)
    text += fmt::format("complete -c tessera -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        fish_quoted(command.table.description()));
  for (const CommandOfProgram& command : commands) text += fish_command(command);
  return text;
}

}  // namespace tessera::program
