// SPDX-License-Identifier: Apache-2.0
// assay man, assay completion: what the command line knows of itself, for man and for shells.
#include "oracles/exact/accuracy.h"
#include "reference/sequence.h"
#include "suites/triage/glossary.h"
#include "suites/workers/catalogue.h"
#include "tools/verbs/verbs.h"
#include "tools/verbs/words.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

namespace assay::tools {
namespace {

// What a value of an option may be, by the name of the option or of the positional: {"--level", …}.
using Vocabulary = std::map<std::string, std::function<std::vector<std::string>()>, std::less<>>;

// Text for troff: hyphens that stay hyphens when copied, and no line that is taken for a request.
std::string troff(std::string_view text) {
  std::string out;
  for (char letter : text) {
    if (out.empty() && (letter == '.' || letter == '\'')) out += "\\&";
    if (letter == '\\')
      out += "\\e";
    else if (letter == '-')
      out += "\\-";
    else
      out += letter == '\n' ? ' ' : letter;
  }
  return out;
}

bool is_flag(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

std::vector<const CLI::App*> shown_verbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); });
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return filtered(app.get_options(), [](const CLI::Option* option) { return !option->get_group().empty(); });
}

// The choices of a CLI::IsMember, which CLI11 keeps as words only: "TEXT:{full,short}".
std::vector<std::string> members(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

// "\fIfull\fR|\fIshort\fR", or the kind of value.
std::string value_of(const CLI::Option& option) {
  std::string words = joined(members(option), "|", [](const std::string& member) { return troff(member); });
  if (!words.empty()) return "\\fI" + words + "\\fR";
  const std::string type = option.get_type_name();
  return "\\fI" + troff(type.substr(0, type.find(':'))) + "\\fR";
}

void write_option(std::ostream& out, const CLI::Option& option) {
  out << ".TP\n";
  if (option.nonpositional()) {
    std::string names;
    for (const std::string& name : option.get_snames()) names += "\\fB" + troff("-" + name) + "\\fR, ";
    names += "\\fB" + troff(long_name(option)) + "\\fR";
    out << names << (is_flag(option) ? "" : " " + value_of(option)) << "\n";
  } else {
    out << "\\fI" << troff(option.get_name()) << "\\fR\n";
  }
  out << troff(option.get_description());
  if (!option.get_default_str().empty()) out << " (default: " << troff(option.get_default_str()) << ")";
  out << "\n";
}

void write_verb(std::ostream& out, const CLI::App& verb, const std::string& before) {
  const std::string name = before + " " + verb.get_name();
  out << ".SS " << troff(name) << "\n" << troff(verb.get_description()) << ".\n";
  for (const CLI::Option* option : options_of(verb))
    if (option->get_name() != "--help") write_option(out, *option);
  for (const CLI::App* nested : shown_verbs(verb)) write_verb(out, *nested, name);
}

std::vector<std::string> that_begin_with(std::vector<std::string> words, const std::string& typed) {
  std::erase_if(words, [&](const std::string& word) { return !word.starts_with(typed); });
  std::ranges::sort(words);
  return words;
}

std::vector<std::string> values_of(const CLI::Option& option, const Vocabulary& vocabulary) {
  const std::string name = option.nonpositional() ? long_name(option) : option.get_name(true);
  if (const auto found = vocabulary.find(name); found != vocabulary.end()) return found->second();
  return members(option);
}

// `typed` is the value so far, `before` what stands before it in the same word: "--ops=", or a list as far as its
// comma.
std::vector<std::string> completed(const CLI::Option& option, std::string before, std::string typed,
                                   const Vocabulary& vocabulary) {
  if (const auto comma = typed.rfind(','); option.get_delimiter() == ',' && comma != std::string::npos) {
    before += typed.substr(0, comma + 1);
    typed = typed.substr(comma + 1);
  }
  std::vector<std::string> words = that_begin_with(values_of(option, vocabulary), typed);
  for (std::string& word : words) word.insert(0, before);
  return words;
}

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : options_of(app))
    if (option->nonpositional() && option->check_name(word)) return option;
  return nullptr;
}

const CLI::Option* first_positional(const CLI::App& app) {
  for (const CLI::Option* option : options_of(app))
    if (!option->nonpositional()) return option;
  return nullptr;
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& verbs) {
  return transformed<std::string>(verbs, [](const CLI::App* verb) { return verb->get_name(); });
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options_of(app))
    if (!long_name(*option).empty()) names.push_back(long_name(*option));
  return names;
}

// The words of a line, the last of which is being typed and may be empty.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  for (char letter : line) {
    if (letter != ' ' && letter != '\t')
      words.back() += letter;
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

// Writes assay(1) in the man macros of groff.
std::string manual(const CLI::App& app, std::string_view version) {
  std::ostringstream out;
  const std::string& name = app.get_name();
  out << ".TH " << name << " 1 \"\" \"" << troff(version) << "\" \"User Commands\"\n"
      << ".SH NAME\n"
      << name << " \\- " << troff(app.get_description()) << "\n.SH SYNOPSIS\n\\fB" << name
      << "\\fR \\fIVERB\\fR [\\fIOPTION\\fR]...\n.SH VERBS\n";
  for (const CLI::App* verb : shown_verbs(app)) write_verb(out, *verb, name);
  out << ".SH EXIT STATUS\n" << troff(app.get_footer()) << "\n";
  out << ".SH ENVIRONMENT\n"
         ".TP\n\\fBNO_COLOR\\fR\nno colours, also on a terminal\n"
         ".TP\n\\fBASSAY_HOME\\fR\nthe folder that holds suites/ and tools/backends/\n"
         ".TP\n\\fBXDG_CACHE_HOME\\fR\nwhere installed backends are kept, in assay/; otherwise ~/.cache\n"
         ".TP\n\\fBASSAY_CACHE\\fR\nthe folder itself, instead\n";
  return out.str();
}

// Lists what may follow a command line that was typed as far as the cursor, program name included: verbs, options,
// values. Each begins with the word that is being typed. None where any file will do.
std::vector<std::string> completions(const CLI::App& app, std::string_view line, const Vocabulary& vocabulary) {
  std::vector<std::string> words = words_of(line);
  const std::string typed = words.back();
  words.pop_back();
  const CLI::App* at = &app;
  const CLI::Option* awaits = nullptr;  // an option before the cursor whose value is being typed
  for (std::size_t i = 1; i < words.size(); ++i) {
    const CLI::Option* named = awaits ? nullptr : option_named(*at, words[i]);
    awaits = named && !is_flag(*named) ? named : nullptr;
    const auto verbs = shown_verbs(*at);
    const auto verb = std::ranges::find(verbs, words[i], [](const CLI::App* each) { return each->get_name(); });
    if (verb != verbs.end())
      at = *verb;
    else if (!verbs.empty() && !named && !words[i].starts_with("-"))
      return {};  // no verb of that name: whatever follows, it will be refused
  }
  if (awaits) return completed(*awaits, "", typed, vocabulary);
  if (const auto equals = typed.find('='); typed.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* named = option_named(*at, typed.substr(0, equals));
    return named ? completed(*named, typed.substr(0, equals + 1), typed.substr(equals + 1), vocabulary)
                 : std::vector<std::string>();
  }
  if (typed.starts_with("-")) return that_begin_with(long_names(*at), typed);
  if (const auto verbs = shown_verbs(*at); !verbs.empty()) return that_begin_with(names_of(verbs), typed);
  const CLI::Option* positional = first_positional(*at);
  return positional ? completed(*positional, "", typed, vocabulary) : std::vector<std::string>();
}

// Each calls the program itself; where it knows nothing the shell offers files.
constexpr std::string_view bash = R"bash(_assay() {
  local line=${COMP_LINE:0:COMP_POINT} word
  word=${line##*[[:space:]]}
  mapfile -t COMPREPLY < <("$1" complete -- "$line" 2>/dev/null)
  COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[:=]}"}"}")  # bash begins a new word at : and =
}
complete -o default -F _assay assay
)bash";

constexpr std::string_view zsh = R"zsh(#compdef assay
_assay() {
  local -a found
  found=("${(@f)$("$words[1]" complete -- "$LBUFFER" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _assay assay
)zsh";

constexpr std::string_view fish = R"fish(complete -c assay -a '(assay complete -- "$(commandline -cp)" 2>/dev/null)'
)fish";

std::vector<std::string> backend_names() {
  std::vector<std::string> names{"reference", "exec:", "python:"};
  for (const suites::CatalogueEntry& entry : suites::catalogue()) names.push_back(entry.name);
  return names;
}

std::vector<std::string> installable_names() {
  return transformed<std::string>(suites::catalogue(), &suites::CatalogueEntry::name);
}

// Words of several cannot be typed without quotes.
std::vector<std::string> explained_words() {
  std::vector<std::string> words = version_names();
  for (const std::string& word : suites::glossary_words())
    if (word.find_first_of(" \"") == std::string::npos) words.push_back(word);
  return words;
}

Vocabulary vocabulary() {
  return {{"--backend", backend_names}, {"--ops", operator_and_version_names}, {"--types", type_names},
          {"--level", level_names},     {"names", installable_names},          {"word", explained_words},
          {"what", backend_names}};
}

}  // namespace

Verb man_verb(CLI::App& app) {
  CLI::App* command = app.add_subcommand("man", "print the manual page: assay man | man -l -");
  return {command, [&app] {
            std::cout << manual(app, "assay " ASSAY_VERSION);
            return conforms;
          }};
}

Verb completion_verb(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "print the completion for a shell: source <(assay completion bash)");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  return {command, [shell] {
            std::cout << (*shell == "bash" ? bash : *shell == "zsh" ? zsh : fish);
            return conforms;
          }};
}

Verb complete_verb(CLI::App& app) {
  auto line = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("complete", "what the scripts of `assay completion` call");
  command->group("");
  command->add_option("line", *line, "the command line as far as the cursor")->required();
  return {command, [&app, line] {
            for (const std::string& word : completions(app, *line, vocabulary())) std::cout << word << "\n";
            return conforms;
          }};
}

}  // namespace assay::tools
