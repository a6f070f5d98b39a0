#include "core/command_line/completion.h"

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "core/command_line/suggestion.h"

namespace gpuward {
namespace {

constexpr int kWrongUsage = 2;

using Words = std::vector<std::string>;

std::string join(const Words& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// The values that CLI::IsMember allows; only the name of the type contains them:
// "TEXT:{table,json}".
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

// Returns the source of the option's names; null if it has none.
const NameSource* source_of(const CLI::Option& option, NameSources sources) {
  const auto found = std::ranges::find(sources, option.get_type_name(), &NameSource::type);
  return found == sources.end() ? nullptr : &*found;
}

// The parts of the script about words: patterns and branches of its case statements. A path is the
// commands given so far, with a blank before each.
struct Parts {
  NameSources names;
  Words commands;      // 'path word' of each command
  Words valued;        // options that take a value
  std::string values;  // branches: the possible values
  std::string words;   // branches: the words that may follow
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
  if (here.empty()) return;
  if (const NameSource* const source = source_of(option, parts.names))
    parts.values += "    " + join(here, "|") + ") names=" + std::string(source->type) + " ;;\n";
  if (values.empty()) return;
  parts.values += "    " + join(here, "|") + ") words='" + join(values, " ") + "' ;;\n";
}

void append_command(const std::string& path, const CLI::App& command, Parts& parts) {
  Words long_names;
  Words follow;
  const NameSource* source = nullptr;
  for (const CLI::Option* option : options_taken_by(command)) {
    append_option(path, *option, parts);
    for (const std::string& name : option->get_lnames()) long_names.push_back("--" + name);
    if (!option->get_positional()) continue;
    std::ranges::copy(values_of(*option), std::back_inserter(follow));
    if (source == nullptr) source = source_of(*option, parts.names);
  }
  for (const CLI::App* next : commands_of(command)) follow.push_back(next->get_name());
  parts.words += "    '" + path + ":-'*) words='" + join(long_names, " ") + "' ;;\n";
  if (source != nullptr) {
    parts.words += "    '" + path + ":'*) names=" + std::string(source->type) + " ;;\n";
  } else if (!follow.empty()) {
    parts.words += "    '" + path + ":'*) words='" + join(follow, " ") + "' ;;\n";
  }
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

// bash splits `--option=value` into three words.
constexpr std::string_view kDeclare =
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} path='' words='' "
    "names='' i\n"
    "  local -a given=()\n"
    "  COMPREPLY=()\n"
    "  if [[ $word == = ]]; then\n"
    "    word=''\n"
    "  elif [[ $before == = ]]; then\n"
    "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "  fi\n";

// The options of the program itself: they select the source of the names.
Words patterns_of_given(const CLI::App& app) {
  Words patterns;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() == 0) continue;
    for (const std::string& name : names_of(*option)) patterns.push_back("'" + name + "'");
  }
  return patterns;
}

// Collects the given ones, for the call that lists the names.
std::string keeping_text(const CLI::App& app) {
  return "    case \"${COMP_WORDS[i]}\" in\n      " + join(patterns_of_given(app), "|") +
         ")\n        given+=(\"${COMP_WORDS[i]}\")\n"
         "        if [[ ${COMP_WORDS[i+1]} == = ]]; then given+=(\"${COMP_WORDS[i+2]}\")\n"
         "        else given+=(\"${COMP_WORDS[i+1]}\"); fi ;;\n    esac\n";
}

std::string function_text(const CLI::App& app, NameSources names) {
  Parts parts{.names = names, .commands = {}, .valued = {}, .values = {}, .words = {}};
  append_command("", app, parts);
  const std::string valued = join(parts.valued, "|");
  std::string text = function_name(app.get_name()) + "() {\n";
  text += kDeclare;
  text += "  for ((i = 1; i < COMP_CWORD; ++i)); do\n";
  if (!names.empty()) text += keeping_text(app);
  text += "    case \"$path ${COMP_WORDS[i]}\" in\n";
  text += "      " + join(parts.commands, "|") + ") path=\"$path ${COMP_WORDS[i]}\" ;;\n";
  text += "      " + valued + ") [[ ${COMP_WORDS[i+1]} == = ]] && ((++i)); ((++i)) ;;\n";
  text += "    esac\n  done\n  case \"$path $before\" in\n" + parts.values;
  text += "    " + valued + ") return ;;\n  esac\n";
  text += "  [[ -n $words$names ]] || case \"$path:$word\" in\n" + parts.words + "  esac\n";
  for (const NameSource& source : names) {
    text += "  [[ $names != " + std::string(source.type) + " ]] || words=$(" + app.get_name() +
            " " + std::string(source.command) + " \"${given[@]}\" 2>/dev/null)\n";
  }
  return text + "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n";
}

// The `cases` that fish distinguishes: 'path word' of each command.
std::string fish_path_text(const CLI::App& app, const Parts& parts) {
  Words valued;
  for (const std::string& pattern : parts.valued)
    valued.push_back(pattern.substr(3, pattern.size() - 4));
  const std::string function = "_" + function_name(app.get_name());
  return "function " + function +
         "\n  set -l path ''\n  set -l skip 0\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    if test $skip = 1\n      set skip 0\n      continue\n    end\n"
         "    switch \"$path $word\"\n      case " +
         join(parts.commands, " ") +
         "\n        set path \"$path $word\"\n      case '*'\n        contains -- $word " +
         join(valued, " ") + "; and set skip 1\n    end\n  end\n  echo $path\nend\n";
}

std::string in_fish_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text)
    out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

// The command that fish runs to list the names.
std::string fish_names(const CLI::App& root, const NameSource& source) {
  return in_fish_quotes("(" + root.get_name() + " " + std::string(source.command) +
                        " 2>/dev/null)");
}

std::string fish_option(const std::string& line, const CLI::Option& option, const CLI::App& root,
                        NameSources sources) {
  std::string text = line;
  for (const std::string& name : option.get_lnames()) text += " -l " + name;
  for (const std::string& name : option.get_snames()) text += " -s " + name;
  const Words values = values_of(option);
  if (const NameSource* const source = source_of(option, sources)) {
    text += " -x -a " + fish_names(root, *source);
  } else if (!values.empty()) {
    text += " -x -a " + in_fish_quotes(join(values, " "));
  } else if (option.get_items_expected_max() > 0) {
    text += " -r";
  }
  return text + " -d " + in_fish_quotes(option.get_description()) + "\n";
}

std::string fish_command(const std::string& path, const CLI::App& command, const CLI::App& root,
                         NameSources sources) {
  const std::string& program = root.get_name();
  const std::string line =
      "complete -c " + program + " -n \"test (_" + function_name(program) + ") = '" + path + "'\"";
  std::string text;
  for (const CLI::App* next : commands_of(command)) {
    text += line + " -f -a " + next->get_name() + " -d " + in_fish_quotes(next->get_description()) +
            "\n";
  }
  for (const CLI::Option* option : options_taken_by(command)) {
    if (!option->get_positional()) {
      text += fish_option(line, *option, root, sources);
    } else if (const NameSource* const source = source_of(*option, sources)) {
      text += line + " -f -a " + fish_names(root, *source) + "\n";
    } else if (const Words values = values_of(*option); !values.empty()) {
      text += line + " -f -a " + in_fish_quotes(join(values, " ")) + "\n";
    }
  }
  for (const CLI::App* next : commands_of(command))
    text += fish_command(path + " " + next->get_name(), *next, root, sources);
  return text;
}

std::string fish_script(const CLI::App& app, NameSources names) {
  Parts parts{.names = names, .commands = {}, .valued = {}, .values = {}, .words = {}};
  append_command("", app, parts);
  return "# Completion for " + app.get_name() + ": " + app.get_name() +
         " completion fish | source\n" + fish_path_text(app, parts) +
         fish_command("", app, app, names);
}

// The script for `shell` to source. It completes commands, long options, the values of options with
// a fixed set of words, and names; for all other words it completes file names.
std::string script_for(const CLI::App& app, NameSources names, const std::string& shell) {
  if (shell == "fish") return fish_script(app, names);
  const std::string& program = app.get_name();
  // zsh runs bash's functions unchanged, with array indexes as in ksh.
  const std::string loading = shell == "zsh"
                                  ? "(( $+functions[compdef] )) || { autoload -U compinit && "
                                    "compinit }\nautoload -U bashcompinit && bashcompinit\n"
                                  : "";
  return "# Completion for " + program + ": source <(" + program + " completion " + shell + ")\n" +
         loading + function_text(app, names) + "complete -o default -F " + function_name(program) +
         " " + program + "\n";
}

// Returns a `--name=` without a value, for which CLI11 would take the next word; nullptr if there
// is none.
const char* flag_without_value(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    if (word.starts_with("--") && word.find('=') == word.size() - 1) return argv[i];
  }
  return nullptr;
}

}  // namespace

std::optional<int> parse_words(CLI::App& app, std::span<const Example> examples, int argc,
                               const char* const* argv, NameSources names) {
  std::string shell;
  app.add_subcommand("completion", "Print the completion script for a shell")
      ->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  add_examples(app, examples);
  if (const char* const flag = flag_without_value(argc, argv)) {
    std::cerr << "error: " << flag << " has no value; give it one, or leave the flag out\nsee '"
              << app.get_name() << " --help'\n";
    return kWrongUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool is_wrong = error.get_exit_code() != 0;
    if (!is_wrong) return app.exit(error);
    const WordFault fault = fault_in(app, argc, argv);
    std::cerr << "error: " << (fault.what.empty() ? error.what() : fault.what) << "\nsee '"
              << fault.command << " --help'\n";
    return kWrongUsage;
  }
  if (shell.empty()) return std::nullopt;
  std::cout << script_for(app, names, shell);
  return 0;
}

}  // namespace gpuward
