#include "exporter/host/processes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "core/runtime/attribute.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// proc(5): the largest possible pid_max is 2^22; a node has a few thousand processes.
constexpr std::size_t kMaxEntries = 1U << 18U;
constexpr std::size_t kMaxDescriptors = 1U << 16U;
constexpr std::size_t kMaxThreads = 1U << 12U;
// TASK_COMM_LEN without the final 0: prctl(2), PR_SET_NAME.
constexpr std::size_t kMaxNameBytes = 15;

struct Stat {
  std::string name;
  bool is_dead = false;
};

// proc(5): `pid (name) state ...`; the name may contain parentheses and blanks. nullopt for any
// other line.
std::optional<Stat> parse_stat(std::string_view stat) {
  const auto open = stat.find('(');
  const auto close = stat.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 2 >= stat.size()) {
    return std::nullopt;
  }
  const char state = stat[close + 2];
  return Stat{std::string(stat.substr(open + 1, close - open - 1)), state == 'Z' || state == 'X'};
}

// If the first thread of a process has ended, its other threads keep running and use its open
// files.
std::optional<std::int64_t> living_thread(const fs::path& process) {
  const Listing threads = list_folder(process / "task", kMaxThreads);
  for (const std::string& entry : threads.names) {
    const auto number = parse_integer<std::int64_t>(entry);
    const auto text = read_attribute(process / "task" / entry / "stat");
    const auto stat = text ? parse_stat(*text) : std::nullopt;
    if (number && stat && !stat->is_dead) return number;
  }
  return std::nullopt;
}

fs::path files_of(const HostPaths& host, const Process& process) {
  const fs::path folder = host.proc / std::to_string(process.pid);
  if (process.thread == 0) return folder / "fd";
  return folder / "task" / std::to_string(process.thread) / "fd";
}

// Returns the name of the device node behind a descriptor, without its folder; empty for anything
// else.
std::string device_name(const fs::path& descriptor) {
  std::error_code ignored;
  const std::string target = fs::read_symlink(descriptor, ignored).string();
  constexpr std::string_view kFolder = "/dev/";
  const auto at = target.rfind(kFolder);
  return at == std::string::npos ? std::string() : target.substr(at + kFolder.size());
}

struct OpenFile {
  bool is_device = false;  // a character device
  dev_t number = 0;
};

// nullopt if the kernel shows nothing. Accesses no file system that a process may have mounted to
// block the exporter.
std::optional<OpenFile> look_at(const fs::path& path) {
  struct statx file{};
  if (::statx(AT_FDCWD, path.c_str(), AT_STATX_DONT_SYNC, STATX_TYPE, &file) != 0)
    return std::nullopt;
  return OpenFile{S_ISCHR(file.stx_mode), makedev(file.stx_rdev_major, file.stx_rdev_minor)};
}

// Any file can have a device's name, so compare with the node's own device if it is visible.
bool is_device_of_node(const OpenFile& open, const fs::path& own_path) {
  if (!open.is_device) return false;
  const auto own = look_at(own_path);
  return !own || !own->is_device || own->number == open.number;
}

void add_devices(const HostPaths& host, const Process& process, std::string_view prefix,
                 DeviceUsers& users) {
  const fs::path folder = files_of(host, process);
  std::error_code failed;
  if (!fs::exists(folder, failed) && !failed) return;  // it has ended meanwhile
  const Listing descriptors = list_folder(folder, kMaxDescriptors);
  users.is_complete = users.is_complete && descriptors.is_complete && !failed;
  std::set<std::string> devices;
  for (const std::string& name : descriptors.names) {
    std::string device = device_name(folder / name);
    if (!device.starts_with(prefix)) continue;
    const auto open = look_at(folder / name);
    users.is_complete = users.is_complete && open;
    if (open && is_device_of_node(*open, host.dev / device)) devices.insert(std::move(device));
  }
  for (const std::string& device : devices) users.all.push_back({process, device});
}

}  // namespace

const Process* Processes::find(std::string_view name) const {
  const auto found = std::ranges::find(all, name.substr(0, kMaxNameBytes), &Process::name);
  return found == all.end() ? nullptr : &*found;
}

const Process* find_of_root(const HostPaths& host, const Processes& processes,
                            std::string_view name) {
  const auto found = std::ranges::find_if(processes.all, [&](const Process& process) {
    return process.name == name.substr(0, kMaxNameBytes) && is_of_root(host, process);
  });
  return found == processes.all.end() ? nullptr : &*found;
}

Processes list_processes(const HostPaths& host) {
  const Listing listing = list_folder(host.proc, kMaxEntries);
  Processes processes{{}, listing.is_complete && !listing.names.empty()};
  for (const std::string& entry : listing.names) {
    const auto pid = parse_integer<std::int64_t>(entry);
    if (!pid) continue;
    const auto text = read_attribute(host.proc / entry / "stat");
    auto stat = text ? parse_stat(*text) : std::nullopt;
    if (!stat) continue;  // it has ended meanwhile
    const auto thread = stat->is_dead ? living_thread(host.proc / entry) : std::optional(0L);
    if (thread) processes.all.push_back({*pid, std::move(stat->name), *thread});
  }
  std::ranges::sort(processes.all, {}, &Process::pid);
  return processes;
}

bool sees_whole_node(const Processes& processes) {
  // The kernel's first thread, which no container has.
  return processes.is_complete && processes.find("kthreadd") != nullptr;
}

DeviceUsers list_device_users(const HostPaths& host, const Processes& processes,
                              std::string_view prefix) {
  DeviceUsers users;
  users.is_complete = processes.is_complete;
  for (const Process& process : processes.all) {
    add_devices(host, process, prefix, users);
  }
  return users;
}

}  // namespace gpuward::exporter
