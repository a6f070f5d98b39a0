#include "remediator/cloud/command_provider.h"

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

Status CommandProvider::reboot(const Machine& machine) {
  const MachineCommands settings = parts_.policy.get()->machines;
  if (settings.reboot.empty())
    return fail(ErrorKind::kNotFound, "machines.reboot names no program");
  ChildCommand command;
  command.program = settings.reboot.front();
  command.arguments.assign(settings.reboot.begin() + 1, settings.reboot.end());
  command.input = to_input("reboot", machine);
  command.max_output_bytes = kMostOutput;
  command.timeout = settings.timeout;
  command.grace = std::chrono::seconds(2);
  const auto ended = run_child(command, parts_.clock);
  if (!ended) {
    // It was killed, after it may have done its work.
    if (ended.error().kind == ErrorKind::kTooLarge)
      return fail(ErrorKind::kTimeout, ended.error().message);
    return std::unexpected(ended.error());
  }
  if (ended->exit_code == 0) return {};
  const std::string what = command.program + " " + how_it_ended(*ended);
  // A signal may have come after the work was done.
  if (ended->exit_code < 0) return fail(ErrorKind::kTimeout, what);
  return fail(ErrorKind::kRefused, what + ": " + first_line(ended->complaint));
}

}  // namespace gpuward::remediator
