#include "exporter/checks/efa/efa_programs.h"

#include <filesystem>
#include <system_error>

#include "core/runtime/child.h"
#include "core/runtime/text.h"
#include "exporter/checks/check/gpu_use.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::seconds kLongest{30};
constexpr std::chrono::seconds kGrace{2};

ChildCommand command_of(const CheckContext& context, std::string program) {
  ChildCommand command;
  command.program = std::move(program);
  command.search = context.settings.tool_dirs;
  command.timeout = kLongest;
  command.grace = kGrace;
  command.stop = context.stop;
  return command;
}

std::string first_line(const std::string& text) {
  return to_valid_utf8(text.substr(0, text.find('\n')), 200);
}

}  // namespace

std::string judge_provider(const CheckContext& context, FindingList& found) {
  const std::string provider = context.profile ? context.profile->fabric_provider : "efa";
  ChildCommand command = command_of(context, "fi_info");
  command.arguments = {"-p", provider};
  const auto result = run_child(command, context.clock);
  if (!result) {
    found.cannot_tell(Code::kEfaProviderMissing, "");
    return result.error().kind == ErrorKind::kNotFound ? "fi_info is not installed"
                                                       : result.error().message;
  }
  // It ends with 61 (no data) where the provider has nothing to offer.
  if (result->output.find("provider: " + provider) == std::string::npos) {
    found.add(Code::kEfaProviderMissing, "",
              "fi_info -p " + provider + " (exit code " + std::to_string(result->exit_code) +
                  ") does not offer it " + first_line(result->complaint));
  }
  return {};
}

std::string judge_gdrcopy(const CheckContext& context, FindingList& found) {
  const std::filesystem::path program = context.settings.gdrcopy_dir / "bin" / "sanity";
  std::error_code error;
  if (!std::filesystem::exists(program, error)) return {};
  // It takes memory of a GPU: not from a workload.
  if (const auto user = gpu_user(context.snapshot)) {
    found.cannot_tell(Code::kGdrcopyFailed, "");
    return "GDRCopy was not tested: " + *user;
  }
  ChildCommand command = command_of(context, program.string());
  command.arguments = {"-v"};
  const auto result = run_child(command, context.clock);
  if (!result) {
    found.cannot_tell(Code::kGdrcopyFailed, "");
    return "GDRCopy was not tested: " + result.error().message;
  }
  if (result->exit_code != 0) {
    found.add(Code::kGdrcopyFailed, "",
              program.string() + " ended with " + std::to_string(result->exit_code) + " " +
                  first_line(result->complaint));
  }
  return {};
}

}  // namespace gpuward::exporter
