#include "exporter/commands/gpu_users_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <iterator>
#include <memory>
#include <ostream>
#include <tuple>
#include <vector>

#include "core/command_line/examples.h"
#include "core/runtime/text.h"
#include "exporter/config/exit_code.h"

namespace gpuward::exporter {
namespace {

constexpr std::array kGpuUsersExamples = {
    Example{"gpu-users", "gpuward-exporter gpu-users\ngpuward-exporter gpu-users --require-none"}};
// Devices of NVIDIA; of AMD for compute; of AMD for graphics and video.
constexpr std::array<std::string_view, 3> kDevices = {"nvidia", "kfd", "dri/render"};
// The exporter reads sensors, which does not disturb a reset of AMD's GPUs. The kernel shortens its
// name.
constexpr std::string_view kOurExporter = "gpuward-exporte";
constexpr std::string_view kOurWorker = "gpuward-worker";  // set by gpu_worker_main()
// gpuward keeps at most 1 KiB of the output of an ended Job.
constexpr std::size_t kMostNamed = 8;

// Returns true for the exporter and for a worker that it has started. The parent must match,
// because any process of root can have the worker's name.
bool is_ours(const HostPaths& host, const Processes& processes, const Process& process) {
  if (!is_of_root(host, process)) return false;
  if (process.name == kOurExporter) return true;
  if (process.name != kOurWorker) return false;
  const auto parent = parent_of(host, process);
  const auto found =
      parent ? std::ranges::find(processes.all, *parent, &Process::pid) : processes.all.end();
  return found != processes.all.end() && found->name == kOurExporter && is_of_root(host, *found);
}

DeviceUsers list_gpu_users(const HostPaths& host, const Processes& processes) {
  DeviceUsers users;
  for (const std::string_view devices : kDevices) {
    DeviceUsers some = list_device_users(host, processes, devices);
    users.is_complete &= some.is_complete;
    std::ranges::move(some.all, std::back_inserter(users.all));
  }
  std::ranges::sort(users.all, {},
                    [](const DeviceUser& user) { return std::tie(user.process.pid, user.device); });
  return users;
}

}  // namespace

void add_gpu_users_command(CLI::App& app, Commands& commands) {
  const auto wish = std::make_shared<GpuUsersWish>(GpuUsersWish::kSay);
  CLI::App* command = app.add_subcommand("gpu-users", "Print which processes have a GPU open");
  command->fallthrough();
  command->add_flag_callback(
      "--require-none", [wish] { *wish = GpuUsersWish::kRequireNone; },
      "Exit with 1 if a process other than gpuward's exporter uses a GPU, with 3 if not all "
      "processes can be seen");
  add_examples(app, kGpuUsersExamples);
  commands.emplace_back(
      command, [wish](const Flags& flags) { return run_gpu_users(flags.host, *wish, std::cout); });
}

std::string gpu_users_text(const HostPaths& host, const DeviceUsers& users) {
  std::vector<std::string> first;
  std::size_t processes = 0;
  const Process* last = nullptr;
  for (const DeviceUser& user : users.all) {
    const bool is_next = last == nullptr || last->pid != user.process.pid;
    last = &user.process;
    if (is_next) ++processes;
    if (processes > kMostNamed) continue;
    if (is_next) {
      const std::string container = container_of(host, user.process.pid);
      first.push_back(to_valid_utf8(user.process.name) + " (pid " +
                      std::to_string(user.process.pid) + (container.empty() ? "" : ", ") +
                      container + ": " + user.device);
    } else {
      first.back() += ", " + user.device;
    }
  }
  for (std::string& one : first) one += ')';
  const std::string blind =
      users.is_complete ? "" : "; not every process could be inspected: needs root and hostPID";
  if (first.empty()) return "no process has a GPU open" + blind;
  return "the GPUs are open in " + list_first(first, processes) + blind;
}

int run_gpu_users(const HostPaths& host, GpuUsersWish wish, std::ostream& out) {
  const Processes processes = list_processes(host);
  DeviceUsers users = list_gpu_users(host, processes);
  if (wish == GpuUsersWish::kRequireNone) {
    std::erase_if(users.all,
                  [&](const DeviceUser& user) { return is_ours(host, processes, user.process); });
    users.is_complete &= sees_whole_node(processes);
  }
  out << gpu_users_text(host, users) << "\n";
  if (wish == GpuUsersWish::kSay) return kDone;
  if (!users.all.empty()) return kFailed;
  return users.is_complete ? kDone : kCouldNotTell;
}

}  // namespace gpuward::exporter
