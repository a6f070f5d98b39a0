#include "remediator/act/cloud/command_provider.h"

#include "core/runtime/child.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostOutput = 64U << 10U;
constexpr std::size_t kLongestReason = 300;

std::string to_input(std::string_view action, const Machine& machine) {
  return dump_json({{"action", std::string(action)},
                    {"remediation", machine.remediation},
                    {"node", machine.node},
                    {"nodeUID", machine.node_uid},
                    {"providerID", machine.provider_id},
                    {"bootID", machine.boot_id},
                    {"labels", machine.labels}}) +
         "\n";
}

std::string first_line(const std::string& text) {
  return to_valid_utf8(trim(text.substr(0, text.find('\n'))), kLongestReason);
}

}  // namespace

struct CommandProvider::Ended {
  int exit_code = 0;
  std::string words, output;
};

bool CommandProvider::can(MachineAction action, const Machine&) const {
  const MachineCommands settings = parts_.policy.get()->machines;
  return !(action == MachineAction::kReboot ? settings.reboot : settings.terminate).empty();
}

Result<CommandProvider::Ended> CommandProvider::run(const std::vector<std::string>& program,
                                                    std::string_view action,
                                                    const Machine& machine) {
  if (program.empty())
    return fail(ErrorKind::kNotFound, "machines." + std::string(action) + " has no program");
  ChildCommand command;
  command.program = program.front();
  command.arguments.assign(program.begin() + 1, program.end());
  command.input = to_input(action, machine);
  command.max_output_bytes = kMostOutput;
  command.timeout = parts_.policy.get()->machines.timeout;
  command.grace = std::chrono::seconds(2);
  const auto ended = run_child(command, parts_.clock);
  if (!ended) {
    // The program was killed, but it may have done its work before that.
    if (ended.error().kind == ErrorKind::kTooLarge)
      return fail(ErrorKind::kTimeout, ended.error().message);
    return std::unexpected(ended.error());
  }
  const std::string what = command.program + " " + how_it_ended(*ended);
  // The signal may have come after the program had done its work.
  if (ended->exit_code < 0) return fail(ErrorKind::kTimeout, what);
  return Ended{.exit_code = ended->exit_code,
               .words = what + ": " + first_line(ended->complaint),
               .output = std::string(trim(ended->output))};
}

Status CommandProvider::ask(const std::vector<std::string>& program, std::string_view action,
                            const Machine& machine, const Permit& permit) {
  if (auto may = permit(); !may) return may;
  const auto ended = run(program, action, machine);
  if (!ended) return std::unexpected(ended.error());
  if (ended->exit_code == 0) return {};
  return fail(ErrorKind::kRefused, ended->words);
}

Status CommandProvider::reboot(const Machine& machine, const Permit& permit) {
  return ask(parts_.policy.get()->machines.reboot, "reboot", machine, permit);
}

Status CommandProvider::terminate(const Machine& machine, const Permit& permit) {
  return ask(parts_.policy.get()->machines.terminate, "terminate", machine, permit);
}

MachineProofs CommandProvider::proofs(const Machine& machine) {
  const auto program = parts_.policy.get()->machines.power_state;
  if (program.empty()) return {};
  MachineProof proof{.kind = ProofKind::kPower,
                     .sign = ProofSign::kUnknown,
                     .at = {},
                     .words = "machines.power_state did not report the power state"};
  const auto ended = run(program, "power-state", machine);
  proof.at = parts_.clock.wall();
  if (!ended || ended->exit_code != 0) return {std::move(proof)};
  const std::string& word = ended->output;
  if (word == "on") proof.sign = ProofSign::kUp;
  if (word == "off" || word == "unreachable") proof.sign = ProofSign::kDown;
  if (proof.sign != ProofSign::kUnknown) proof.words = "the power state is " + word;
  proof.is_off = word == "off";
  return {std::move(proof)};
}

Result<MachineFate> CommandProvider::fate(const Machine& machine) {
  const auto ended = run(parts_.policy.get()->machines.is_gone, "is-gone", machine);
  if (!ended) return std::unexpected(ended.error());
  if (ended->exit_code > 1) return fail(ErrorKind::kUnavailable, ended->words);
  return ended->exit_code == 0 ? Fate::kGone : Fate::kEnding;
}

}  // namespace gpuward::remediator
