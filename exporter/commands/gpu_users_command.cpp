#include "exporter/commands/gpu_users_command.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <iostream>
#include <ostream>
#include <vector>

#include "core/command_line/examples.h"
#include "core/runtime/text.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kGpuUsersExamples = {Example{"gpu-users", "gpuward-exporter gpu-users"}};
constexpr std::string_view kDevices = "nvidia";
// The words of a Job that has ended are kept to 1 KiB.
constexpr std::size_t kMostNamed = 12;

}  // namespace

void add_gpu_users_command(CLI::App& app, Commands& commands) {
  CLI::App* command =
      app.add_subcommand("gpu-users", "Print which processes have an NVIDIA GPU open");
  command->fallthrough();
  add_examples(app, kGpuUsersExamples);
  commands.emplace_back(command,
                        [](const Flags& flags) { return run_gpu_users(flags.host, std::cout); });
}

std::string gpu_users_text(const DeviceUsers& users) {
  std::vector<std::string> first;
  std::size_t processes = 0;
  const Process* last = nullptr;
  for (const DeviceUser& user : users.all) {
    const bool is_next = last == nullptr || last->pid != user.process.pid;
    last = &user.process;
    if (is_next) ++processes;
    if (processes > kMostNamed) continue;
    if (is_next) {
      first.push_back(to_valid_utf8(user.process.name) + " (pid " +
                      std::to_string(user.process.pid) + ": " + user.device);
    } else {
      first.back() += ", " + user.device;
    }
  }
  for (std::string& one : first) one += ")";
  const std::string blind =
      users.is_complete ? "" : "; not every process could be looked at: needs root and hostPID";
  if (first.empty()) return "no process has a GPU open" + blind;
  return "the GPUs are open in " + list_first(first, processes) + blind;
}

int run_gpu_users(const HostPaths& host, std::ostream& out) {
  out << gpu_users_text(list_device_users(host, list_processes(host), kDevices)) << "\n";
  return kDone;
}

}  // namespace gpuward::exporter
