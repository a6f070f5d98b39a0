#include "core/command_line/completion.h"

#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <vector>

namespace gpuward {
namespace {

constexpr int kWrongUsage = 2;

using Words = std::vector<std::string>;

std::string join(const Words& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// What CLI::IsMember allows; it says so in the name of the type alone: "TEXT:{table,json}".
Words values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto open = type.find('{');
  const auto close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

Words names_of(const CLI::Option& option) {
  Words names;
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  return names;
}

// Those of the command, and of the ones around it that it lets through.
std::vector<const CLI::Option*> options_taken_by(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  std::set<std::string> seen;
  for (const CLI::App* app = &command; app != nullptr;
       app = app->get_fallthrough() ? app->get_parent() : nullptr) {
    for (const CLI::Option* option : app->get_options()) {
      if (seen.insert(option->get_name()).second) options.push_back(option);
    }
  }
  return options;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); });
}

// The parts of the script that are about words: patterns and branches of its case statements. A
// path is the commands given so far, each behind a blank.
struct Parts {
  Words commands;      // 'path word' of each command
  Words valued;        // options that take a value
  std::string values;  // branches: which values
  std::string words;   // branches: which words may follow
};

void append_option(const std::string& path, const CLI::Option& option, Parts& parts) {
  if (option.get_items_expected_max() == 0) return;
  Words here;
  for (const std::string& name : names_of(option)) {
    const std::string anywhere = "*' " + name + "'";
    if (std::ranges::find(parts.valued, anywhere) == parts.valued.end())
      parts.valued.push_back(anywhere);
    here.push_back("'" + path + " " + name + "'");
  }
  const Words values = values_of(option);
  if (here.empty() || values.empty()) return;
  parts.values += "    " + join(here, "|") + ") words='" + join(values, " ") + "' ;;\n";
}

void append_command(const std::string& path, const CLI::App& command, Parts& parts) {
  Words long_names;
  Words follow;
  for (const CLI::Option* option : options_taken_by(command)) {
    append_option(path, *option, parts);
    for (const std::string& name : option->get_lnames()) long_names.push_back("--" + name);
    if (option->get_positional()) std::ranges::copy(values_of(*option), std::back_inserter(follow));
  }
  for (const CLI::App* next : commands_of(command)) follow.push_back(next->get_name());
  parts.words += "    '" + path + ":-'*) words='" + join(long_names, " ") + "' ;;\n";
  if (!follow.empty())
    parts.words += "    '" + path + ":'*) words='" + join(follow, " ") + "' ;;\n";
  for (const CLI::App* next : commands_of(command)) {
    const std::string deeper = path + " " + next->get_name();
    parts.commands.push_back("'" + deeper + "'");
    append_command(deeper, *next, parts);
  }
}

std::string function_name(std::string program) {
  std::ranges::replace(program, '-', '_');
  return "_" + program;
}

// bash takes `--option=value` apart into three words.
constexpr std::string_view kFindWord =
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path='' words='' i\n"
    "  COMPREPLY=()\n"
    "  if [[ $word == = ]]; then\n"
    "    word=''\n"
    "  elif [[ $before == = ]]; then\n"
    "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "  fi\n"
    "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
    "    case \"$path ${COMP_WORDS[i]}\" in\n";

std::string function_text(const CLI::App& app) {
  Parts parts;
  append_command("", app, parts);
  const std::string valued = join(parts.valued, "|");
  std::string text = function_name(app.get_name()) + "() {\n";
  text += kFindWord;
  text += "      " + join(parts.commands, "|") + ") path=\"$path ${COMP_WORDS[i]}\" ;;\n";
  text += "      " + valued + ") [[ ${COMP_WORDS[i+1]} == = ]] && ((++i)); ((++i)) ;;\n";
  text += "    esac\n  done\n  case \"$path $before\" in\n" + parts.values;
  text += "    " + valued + ") return ;;\n  esac\n";
  text += "  [[ -n $words ]] || case \"$path:$word\" in\n" + parts.words + "  esac\n";
  return text + "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n";
}

// For `shell` to source. It offers commands, long options, and the values of options that take one
// of a few words; file names for all else.
std::string script_for(const CLI::App& app, const std::string& shell) {
  const std::string& program = app.get_name();
  // zsh runs bash's functions as they are, in ksh's manner of counting.
  const std::string loading = shell == "zsh"
                                  ? "(( $+functions[compdef] )) || { autoload -U compinit && "
                                    "compinit }\nautoload -U bashcompinit && bashcompinit\n"
                                  : "";
  return "# Completion of " + program + ": source <(" + program + " completion " + shell + ")\n" +
         loading + function_text(app) + "complete -o default -F " + function_name(program) + " " +
         program + "\n";
}

}  // namespace

std::optional<int> parse_words(CLI::App& app, std::span<const Example> examples, int argc,
                               const char* const* argv) {
  std::string shell;
  app.add_subcommand("completion", "Print a script that completes this command line in a shell")
      ->add_option("shell", shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  add_examples(app, examples);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }
  if (shell.empty()) return std::nullopt;
  std::cout << script_for(app, shell);
  return 0;
}

}  // namespace gpuward
