// --help and completion of the real command lines of both programs.
#include <gmock/gmock.h>

#include <functional>
#include <sstream>

#include "core/command_line/table.h"
#include "exporter/commands/all.h"
#include "remediator/cli/ctl/parse.h"
#include "remediator/config/flags.h"
#include "tests/support/process.h"

namespace gpuward {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;
using Words = std::vector<std::string>;

// Returns the exit code if the program has nothing more to do or the words are wrong.
using Parse = std::function<std::optional<int>(const Words&)>;

template <typename Flags>
Parse parse_with(std::variant<Flags, int> (*parse_flags)(int, const char* const*)) {
  return [parse_flags](const Words& words) -> std::optional<int> {
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    const auto flags = parse_flags(static_cast<int>(argv.size()), argv.data());
    if (const int* exit_code = std::get_if<int>(&flags)) return *exit_code;
    return std::nullopt;
  };
}

std::variant<exporter::CommandLine, int> exporter_line(int argc, const char* const* argv) {
  return exporter::parse_command_line(argc, argv, exporter::all_commands());
}

struct Program {
  std::string name;
  Parse parse;
};

const std::array<Program, 3>& programs() {
  static const std::array<Program, 3> kPrograms{
      Program{"gpuward-exporter", parse_with(exporter_line)},
      Program{"gpuward-remediator", parse_with(remediator::parse_flags)},
      Program{"gpuwardctl", parse_with(remediator::parse_ctl_line)}};
  return kPrograms;
}

Words words_of(const std::string& line) {
  std::istringstream in(line);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Returns the output of the program for the words `path` and then `more`.
std::string said_by(const Program& program, const std::string& path, const std::string& more) {
  ::testing::internal::CaptureStdout();
  const auto exit_code = program.parse(words_of(program.name + " " + path + " " + more));
  std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(exit_code, 0) << program.name << " " << path << " " << more;
  return text;
}

// The lines of --help below a title, without the blanks in front.
Words section_of(const std::string& help, const std::string& title) {
  std::istringstream in(help);
  Words lines;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == title) {
      inside = true;
    } else if (inside && line.starts_with("  ")) {
      lines.push_back(line.substr(2));
    } else {
      inside = false;
    }
  }
  return lines;
}

// The commands of all groups.
Words commands_in(const std::string& help) {
  std::istringstream in(help);
  Words commands;
  for (std::string title; std::getline(in, title);) {
    const bool is_other = title == "Options:" || title == "Positionals:" || title == "Examples:" ||
                          title == "Which cluster:";
    if (title.starts_with(" ") || !title.ends_with(":") || is_other) continue;
    for (const std::string& line : section_of(help, title)) {
      if (line.starts_with(" ")) continue;
      const std::string command = words_of(line).front();  // of "exclusions list" too
      if (std::ranges::find(commands, command) == commands.end()) commands.push_back(command);
    }
  }
  return commands;
}

// Calls `look` with the path of the program and of each of its commands.
void walk(const Program& program, const std::string& path,
          const std::function<void(const std::string& path, const std::string& help)>& look) {
  const std::string help = said_by(program, path, "--help");
  look(path, help);
  for (const std::string& command : commands_in(help)) walk(program, path + " " + command, look);
}

// Returns the words of the program itself in `source <(program completion bash)` and in `program
// ... < file`.
Words command_in(const Program& program, const std::string& line) {
  const auto from = line.find(program.name + " ");
  if (from == std::string::npos) return {};
  return words_of(line.substr(from, line.find_first_of(")<>", from) - from));
}

TEST(Help, EndsWithExamplesThatTheProgramUnderstands) {
  for (const Program& program : programs()) {
    walk(program, "", [&](const std::string& path, const std::string& help) {
      const Words examples = section_of(help, "Examples:");
      EXPECT_THAT(examples, Not(IsEmpty())) << program.name << path;
      for (const std::string& example : examples) {
        const Words words = command_in(program, example);
        ASSERT_THAT(words, Not(IsEmpty())) << example;
        EXPECT_THAT(example, HasSubstr(program.name + path)) << example;
        ::testing::internal::CaptureStdout();
        EXPECT_EQ(program.parse(words).value_or(0), 0) << example;
        ::testing::internal::GetCapturedStdout();
      }
    });
  }
}

// The words that bash would offer for `line`, whose last word is the one at the cursor.
Words offered(const Program& program, const Words& line, const std::string& shell = "bash",
              const std::string& before = "") {
  std::string script = before + "complete() { :; }\nautoload() { :; }\nbashcompinit() { :; }\n";
  script += said_by(program, "", "completion " + shell) + "COMP_WORDS=(" + program.name;
  for (const std::string& word : line) script += " '" + word + "'";
  std::string function = "_" + program.name;
  std::ranges::replace(function, '-', '_');
  script += ")\nCOMP_CWORD=" + std::to_string(line.size()) + "\n" + function +
            "\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
  const auto ended = support::Process::run({.argv = {"bash", "--norc", "-c", script}});
  EXPECT_TRUE(ended && ended->exit_code == 0 && ended->error_output.empty())
      << (ended ? ended->error_output : ended.error().message);
  return ended ? words_of(ended->output) : Words();
}

TEST(Completion, OffersEveryCommandAndEveryOption) {
  for (const Program& program : programs()) {
    walk(program, "", [&](const std::string& path, const std::string& help) {
      Words line = words_of(path);
      line.emplace_back();
      EXPECT_THAT(offered(program, line), IsSupersetOf(commands_in(help))) << program.name << path;
      line.back() = "--";
      const Words options = offered(program, line);
      for (const std::string& known : section_of(help, "Options:")) {
        const auto dashes = known.find("--");
        if (!known.starts_with("-") || dashes == std::string::npos) continue;
        EXPECT_THAT(options,
                    Contains(known.substr(dashes, known.find_first_of(" ,", dashes) - dashes)))
            << program.name << path;
      }
    });
  }
}

TEST(Completion, OffersWhatFitsThePlaceAndTheWord) {
  const Program& ctl = programs()[2];
  EXPECT_THAT(offered(ctl, {"exclusions", "re"}), ElementsAre("remove"));
  EXPECT_THAT(offered(ctl, {"list", "--since"}), IsEmpty());
  EXPECT_THAT(offered(ctl, {"replay", "p.yaml", "--since"}), ElementsAre("--since"));
  EXPECT_THAT(offered(ctl, {"list", "--kubec"}), ElementsAre("--kubeconfig"));
  EXPECT_THAT(offered(ctl, {"--namespace", "list", "bre"}), ElementsAre("breaker"));
  EXPECT_THAT(offered(ctl, {"--namespace", "=", "list", "bre"}), ElementsAre("breaker"));
  EXPECT_THAT(offered(ctl, {"--kubeconfig", ""}), IsEmpty()) << "files are the shell's";
  EXPECT_THAT(offered(programs()[0], {"gpu-w"}), IsEmpty()) << "is hidden";
}

TEST(Completion, OffersTheValuesOfAnOptionThatTakesFew) {
  const Program& ctl = programs()[2];
  const auto values = IsSupersetOf({"table", "json", "yaml"});
  EXPECT_THAT(offered(ctl, {"replay", "p.yaml", "-o", ""}), values);
  EXPECT_THAT(offered(ctl, {"replay", "p.yaml", "--output", ""}), values);
  EXPECT_THAT(offered(ctl, {"replay", "p.yaml", "--output", "="}), values);
  EXPECT_THAT(offered(ctl, {"replay", "--output", "=", "j"}), ElementsAre("json"));
  EXPECT_THAT(offered(ctl, {"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST(Completion, IsTheSameInZshOnceItsOwnIsLoaded) {
  for (const Program& program : programs()) {
    const std::string bash = said_by(program, "", "completion bash");
    const std::string zsh = said_by(program, "", "completion zsh");
    const std::string function = bash.substr(bash.find('\n'));
    EXPECT_TRUE(zsh.ends_with("autoload -U bashcompinit && bashcompinit" + function));
    EXPECT_THAT(zsh, AllOf(StartsWith("# Completion for " + program.name), HasSubstr("compinit")));
    const auto checked = support::Process::run({.argv = {"zsh", "-n"}, .input = zsh});
    if (!checked) continue;  // no zsh here
    EXPECT_EQ(checked->exit_code, 0) << checked->error_output;
  }
}

TEST(Completion, OffersTheNodesThatTheProgramLists) {
  const Program& ctl = programs()[2];
  // Replaces the program that the script calls.
  const std::string listed =
      "gpuwardctl() { [[ \"$*\" == 'list --all -o nodes --context prod' ]] && echo gpu-01 gpu-02; "
      "}\n";

  EXPECT_THAT(offered(ctl, {"--context", "prod", "explain", "gpu"}, "bash", listed),
              ElementsAre("gpu-01", "gpu-02"));
  EXPECT_THAT(offered(ctl, {"--context", "=", "prod", "explain", ""}, "bash", listed),
              ElementsAre("gpu-01", "gpu-02"));
  EXPECT_THAT(
      offered(ctl, {"--context", "prod", "policy", "explain", "a", "--node", ""}, "bash", listed),
      ElementsAre("gpu-01", "gpu-02"));
  EXPECT_THAT(offered(ctl, {"--context", "prod", "status", "gpu"}, "bash", listed), IsEmpty());
}

TEST(Completion, OffersTheAlertsThatHaveARunbook) {
  const Program& ctl = programs()[2];
  const std::string listed =
      "gpuwardctl() { [[ \"$*\" == 'runbook -o name' ]] && echo GpuLost GpuHot; }\n";

  EXPECT_THAT(offered(ctl, {"runbook", "GpuL"}, "bash", listed), ElementsAre("GpuLost"));
  EXPECT_THAT(offered(ctl, {"runbook", ""}, "bash", listed), ElementsAre("GpuLost", "GpuHot"));
  EXPECT_THAT(said_by(ctl, "", "completion fish"),
              HasSubstr("= ' runbook'\" -f -a '(gpuwardctl runbook -o name 2>/dev/null)'"));
}

TEST(Completion, IsAFishScriptThatFishUnderstands) {
  for (const Program& program : programs()) {
    const std::string script = said_by(program, "", "completion fish");
    walk(program, "", [&](const std::string& path, const std::string&) {
      EXPECT_THAT(script, HasSubstr("= '" + path + "'\" -l help")) << program.name << path;
    });
    const auto checked = support::Process::run({.argv = {"fish", "-n"}, .input = script});
    if (!checked) continue;  // no fish here
    EXPECT_EQ(checked->exit_code, 0) << checked->error_output;
  }
  EXPECT_THAT(
      said_by(programs()[2], "", "completion fish"),
      AllOf(HasSubstr("= ' explain'\" -f -a '(gpuwardctl list --all -o nodes 2>/dev/null)'"),
            HasSubstr("-l output -s o -x -a 'table wide json yaml name nodes'")));
}

// Returns the program's error for wrong words.
std::string refused(const Program& program, const std::string& words) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(program.parse(words_of(program.name + " " + words)), 2) << words;
  return ::testing::internal::GetCapturedStderr();
}

TEST(WrongWords, AreToldFromTheRightOnes) {
  const Program& ctl = programs()[2];
  EXPECT_THAT(refused(ctl, "expalin gpu-01"),
              HasSubstr("unknown command \"expalin\": did you mean \"explain\"?"));
  EXPECT_THAT(refused(ctl, "--context prod stauts"), HasSubstr("did you mean \"status\"?"));
  EXPECT_THAT(refused(ctl, "lsit"), HasSubstr("did you mean \"list\"?"));
  EXPECT_THAT(refused(ctl, "mach gpu-01"), HasSubstr("did you mean \"machine-replaced\"?"));
  EXPECT_THAT(refused(ctl, "exclusions lst"),
              AllOf(HasSubstr("error: unknown command \"lst\": did you mean \"list\"?\n"),
                    HasSubstr("see 'gpuwardctl exclusions --help'\n")));
  EXPECT_THAT(refused(ctl, "list --kubecofnig=a"),
              HasSubstr("unknown flag \"--kubecofnig\": did you mean \"--kubeconfig\"?"));
  EXPECT_THAT(refused(ctl, "xyzzy"), AllOf(HasSubstr("unknown command \"xyzzy\"\n"),
                                           HasSubstr("see 'gpuwardctl --help'")));
  EXPECT_THAT(refused(ctl, "list -z"), HasSubstr("unknown flag \"-z\""));
  EXPECT_EQ(refused(ctl, "exclusions"),
            "error: a command is required, one of: list, remove, import\nsee 'gpuwardctl "
            "exclusions --help'\n");
  EXPECT_THAT(refused(programs()[0], "sweap"), HasSubstr("did you mean \"sweep\"?"));
  EXPECT_THAT(refused(programs()[0], "gpu-worke"), Not(HasSubstr("\"gpu-worker\""))) << "is hidden";
}

TEST(WrongWords, AreRefusedInOneWayByAllPrograms) {
  EXPECT_EQ(refused(programs()[0], "check --nothing"),
            "error: unknown flag \"--nothing\"\nsee 'gpuward-exporter check --help'\n");
  EXPECT_EQ(refused(programs()[1], "--nothing"),
            "error: unknown flag \"--nothing\"\nsee 'gpuward-remediator --help'\n");
  EXPECT_EQ(refused(programs()[2], "explain"),
            "error: node is required\nsee 'gpuwardctl explain --help'\n");
  EXPECT_EQ(refused(programs()[2], "exclude a --for=9999d"),
            "error: --for: must be at most 366d\nsee 'gpuwardctl exclude --help'\n");
}

// The variable of `--kubeconfig=$KUBECONFIG` may be unset. The next word is not the flag's value.
TEST(WrongWords, IsAFlagWithoutAValue) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(programs()[2].parse({"gpuwardctl", "list", "--kubeconfig=", "-o", "json"}), 2);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("--kubeconfig= has no value; give it one, or leave the flag out"));
}

TEST(Help, OfACommandThatAsksTheClusterNamesTheFlagsThatSayWhich) {
  const Program& ctl = programs()[2];
  const auto flags = AllOf(HasSubstr("Which cluster:"), HasSubstr("--kubeconfig"),
                           HasSubstr("--context"), HasSubstr("--request-timeout"));
  for (const char* command : {"list", "exclusions remove", "breaker", "policy explain", "version"})
    EXPECT_THAT(said_by(ctl, command, "--help"), flags) << command;
  for (const char* command : {"runbook", "policy check"})
    EXPECT_THAT(said_by(ctl, command, "--help"), Not(HasSubstr("--kubeconfig"))) << command;
}

TEST(Help, OfGpuwardctlHasWhatActsApartFromWhatLooks) {
  const std::string help = said_by(programs()[2], "", "--help");
  EXPECT_THAT(section_of(help, "Look:"), Contains(StartsWith("exclusions list")));
  EXPECT_THAT(section_of(help, "Look:"), Not(Contains(StartsWith("breaker close"))));
  EXPECT_THAT(section_of(help, "Act on all nodes:"), Contains(StartsWith("breaker close")));
  EXPECT_THAT(section_of(help, "Act on one node:"), Contains(StartsWith("exclusions remove")));
}

TEST(Help, OfGpuwardctlFitsAScreenAndNamesCommandsFirst) {
  const std::string help = said_by(programs()[2], "", "--help");
  EXPECT_LE(std::ranges::count(help, '\n'), 45);
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_LT(help.find("  status "), help.find("--kubeconfig"));
}

TEST(Table, HasNoLineThatAValueHasFaked) {
  EXPECT_EQ(table_text({{"NODE", "MESSAGE"}, {"a\033[2J", "x\ngpu-02  Held"}}),
            "NODE        MESSAGE\n"
            "a\\u001b[2J  x\\ngpu-02  Held\n");
}

TEST(Completion, KnowsNoOtherShell) {
  for (const Program& program : programs()) {
    EXPECT_EQ(program.parse({program.name, "completion", "csh"}), 2);
    EXPECT_EQ(program.parse({program.name, "completion"}), 2);
  }
}

}  // namespace
}  // namespace gpuward
