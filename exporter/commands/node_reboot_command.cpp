#include "exporter/commands/node_reboot_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "core/command_line/duration_option.h"
#include "core/command_line/examples.h"
#include "core/runtime/child.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"
#include "exporter/commands/until_signal.h"
#include "exporter/config/exit_code.h"
#include "exporter/host/boot.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

#include "exporter/commands/node_reboot_waiter.inc"

constexpr std::array kNodeRebootExamples = {
    Example{"node-reboot", "gpuward-exporter node-reboot --boot-id=BOOT_ID"}};

// One unit per node, so that a second Job of the same boot finds that of the first.
constexpr const char* kUnit = "gpuward-node-reboot.service";
// systemctl and systemd-run wait 25 s for an answer of systemd. A refusal comes at once.
constexpr seconds kEndsWithin{40}, kRefusesWithin{20};

struct Answer {
  bool is_good = false;
  bool is_missing = false;  // neither good nor a refusal
  std::string words;        // in one line
};

// Runs programs of the node in the node's own root.
class NodeSystemd {
 public:
  NodeSystemd(HostPaths host, Clock& clock) : host_(std::move(host)), clock_(clock) {}

  // bash waits without starting another program. systemd-shutdown spares a process whose name
  // begins with "@" (systemd, ROOT_STORAGE_DAEMONS.md).
  [[nodiscard]] Answer start_waiter(const NodeRebootWish& wish) const {
    std::vector<std::string> words = {
        "systemd-run", "--quiet", "--collect", std::string("--unit=") + kUnit,
        "--description=Restart of this machine, asked for by gpuward",
        "--property=DefaultDependencies=no", "--property=IgnoreOnIsolate=yes",
        // A kexec skips the firmware, which resets the GPUs; a soft
        // reboot even skips the kernel.
        "--setenv=SYSTEMCTL_SKIP_AUTO_KEXEC=1", "--setenv=SYSTEMCTL_SKIP_AUTO_SOFT_REBOOT=1", "--"};
    const std::string script(kNodeRebootWaiter);
    const std::vector<std::string> waiter =
        is_file(root() / "bin/bash")
            ? std::vector<std::string>{"/bin/bash", "-c",
                                       R"(exec -a @gpuward-node-reboot /bin/bash -c "$0" "$@")",
                                       script}
            : std::vector<std::string>{"/bin/sh", "-c", script};
    words.insert(words.end(), waiter.begin(), waiter.end());
    for (const std::string& word :
         {std::string("gpuward-node-reboot"), std::to_string(wish.ask_after.count()),
          std::to_string(wish.force_after.count()), std::to_string(wish.keys_after.count()),
          std::to_string(wish.key_gap.count())})
      words.push_back(word);
    return call(std::move(words));
  }
  [[nodiscard]] Answer has_waiter() const {
    return call({"systemctl", "is-active", "--quiet", "--", kUnit});
  }
  // SIGKILL, because the waiter ignores SIGTERM.
  void end_waiter() const {
    static_cast<void>(call({"systemctl", "kill", "--signal=KILL", "--", kUnit}));
  }
  [[nodiscard]] Answer version() const { return call({"systemctl", "show", "--property=Version"}); }

 private:
  [[nodiscard]] std::filesystem::path root() const { return host_.proc / "1/root"; }
  [[nodiscard]] static bool is_file(const std::filesystem::path& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  }
  // A stop of the command does not end the call, so that a restart is not left half done.
  [[nodiscard]] Answer call(std::vector<std::string> words) const {
    ChildCommand command;
    command.program = "chroot";
    command.arguments = {root().string()};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.timeout = kEndsWithin;
    const auto begun = clock_.steady();
    const auto ended = run_child(command, clock_);
    const std::string what = words[0] == "systemctl" ? words[0] + " " + words[1] : words[0];
    Answer answer;
    if (!ended) {
      answer.is_missing = ended.error().kind == ErrorKind::kTimeout;
      answer.words = what + ": " + ended.error().message;
      return answer;
    }
    const std::string said = to_valid_utf8(trim(ended->complaint));
    answer.is_good = ended->exit_code == 0;
    answer.is_missing = !answer.is_good && clock_.steady() - begun >= kRefusesWithin;
    answer.words = what + " " + how_it_ended(*ended) + (said.empty() ? "" : ": " + said);
    return answer;
  }

  HostPaths host_;
  Clock& clock_;
};

// Has the kernel write its file systems, make them read-only and restart, each as far as it can.
// The requests are queued, and none is waited for. Returns the exit code.
int press_keys(const HostPaths& host, const NodeRebootWish& wish, Clock& clock, std::ostream& out) {
  for (const char key : {'s', 'u', 'b'}) {
    std::ofstream trigger(host.proc / "sysrq-trigger", std::ios::app);
    if (!(trigger << key << std::flush)) {
      out << "writing " << (host.proc / "sysrq-trigger").string() << " failed\n";
      return key == 's' ? kWrongUsage : kCouldNotTell;
    }
    out << "SysRq " << key << "\n" << std::flush;
    clock.sleep_until(clock.steady() + wish.key_gap, {});
  }
  return kDone;
}

std::string first_process(const HostPaths& host) {
  return std::string(trim(read_file(host.proc / "1/comm").value_or("not visible")));
}

// Returns whether this is the boot in which the restart was requested.
bool is_of_the_order(const HostPaths& host, const NodeRebootWish& wish, std::ostream& out) {
  const std::string boot_id = read_boot(host).id;
  if (boot_id == wish.boot_id) return true;
  out << (boot_id.empty() ? "the boot ID cannot be read"
                          : "the machine has booted since the restart was ordered")
      << ": nothing was done\n";
  return false;
}

}  // namespace

void add_node_reboot_command(CLI::App& app, Commands& commands) {
  const auto wish = std::make_shared<NodeRebootWish>();
  CLI::App* command = app.add_subcommand(
      "node-reboot", "Restart this machine: by its systemd, or by SysRq keys if that cannot");
  command->fallthrough();
  command
      ->add_option("--boot-id", wish->boot_id,
                   "Do nothing in another boot than this (/proc/sys/kernel/random/boot_id)")
      ->required();
  // Together less than kRestartsWithin of the remediator, which then gives the node back.
  constexpr DurationLimits kWaits{seconds(1), std::chrono::minutes(5)},
      kGaps{seconds(1), seconds(60)};
  add_duration_option(*command, "--force-after", wish->force_after, kWaits,
                      "Time of an orderly shutdown before systemctl reboot --force");
  add_duration_option(*command, "--keys-after", wish->keys_after, kWaits,
                      "Time from there until the SysRq keys s, u and b");
  add_duration_option(*command, "--key-gap", wish->key_gap, kGaps, "Time between two keys");
  add_examples(app, kNodeRebootExamples);
  commands.emplace_back(command, [wish](const Flags& flags) {
    return until_signal([&](const std::stop_token& stop) {
      return run_node_reboot(flags.host, *wish, lasting_clock(), stop, std::cout);
    });
  });
}

int run_node_reboot(const HostPaths& host, const NodeRebootWish& wish, Clock& clock,
                    const std::stop_token& stop, std::ostream& out) {
  if (!is_of_the_order(host, wish, out)) return kFailed;
  if (const std::string name = first_process(host); name != "systemd") {
    out << "process 1 is " << name
        << ", not systemd: the pod needs hostPID, and the node systemd; nothing was done\n";
    return kWrongUsage;
  }
  const NodeSystemd systemd(host, clock);
  if (stop.stop_requested()) {
    out << "stopped before anything was done\n";
    return kFailed;
  }
  const Answer started = systemd.start_waiter(wish);
  const Answer first_look = systemd.has_waiter();
  if (!first_look.is_good) {
    const Answer version = systemd.version();
    const bool is_silent = started.is_missing && first_look.is_missing && version.is_missing;
    if (is_silent) {
      out << "systemd does not answer: " << started.words << "; " << version.words << "\n";
      if (!is_of_the_order(host, wish, out)) return kFailed;
      return press_keys(host, wish, clock, out);
    }
    // A busy systemd may have started the unit in spite of the error.
    if (const Answer look = systemd.has_waiter(); !look.is_good) {
      systemd.end_waiter();
      const bool is_known = !started.is_missing && !look.is_missing;
      out << started.words << "; " << look.words << "; " << version.words << "\n"
          << (is_known ? "systemd runs no " : "systemd perhaps runs ") << kUnit
          << ": no restart was requested\n";
      return is_known ? kWrongUsage : kCouldNotTell;
    }
  }
  if (!is_of_the_order(host, wish, out)) {
    systemd.end_waiter();
    return kFailed;
  }
  out << kUnit << " restarts this machine " << wish.ask_after.count() << " s after its start\n";
  return kDone;
}

}  // namespace gpuward::exporter
