// The data in /proc about one process: its owner, its limits and its cgroup.
#include <algorithm>
#include <array>

#include "core/runtime/attribute.h"
#include "core/runtime/text.h"
#include "exporter/host/processes.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;

// Ordered by distance to the workload. The shim starts it, the others start the shim.
constexpr std::array<std::string_view, 5> kRuntimes{"containerd-shim", "containerd", "crio",
                                                    "dockerd", "kubelet"};

std::optional<std::string> read_cgroup(const HostPaths& host, std::int64_t pid) {
  constexpr std::size_t kMaxBytes = 65536;
  return read_attribute(host.proc / std::to_string(pid) / "cgroup", kMaxBytes);
}

// Returns the last run of 64 hexadecimal digits: `…/cri-containerd-<id>.scope`, `…/<id>`. Empty if
// there is none.
std::string container_id_in(std::string_view cgroup) {
  constexpr std::size_t kIdLength = 64;
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (auto end = cgroup.find_last_of(kDigits); end != std::string_view::npos;) {
    const auto before = cgroup.find_last_not_of(kDigits, end);
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    if (end + 1 - begin == kIdLength) return std::string(cgroup.substr(begin, kIdLength));
    if (begin == 0) break;
    end = cgroup.find_last_of(kDigits, begin - 1);
  }
  return {};
}

const Process* nearest_to_workloads(const HostPaths& host, const Processes& processes) {
  for (const std::string_view name : kRuntimes) {
    if (const Process* const process = find_of_root(host, processes, name)) return process;
  }
  const auto first = std::ranges::find(processes.all, 1, &Process::pid);
  return first == processes.all.end() ? nullptr : &*first;
}

// proc(5): `Max locked memory         8388608              8388608              bytes`; the first
// number is the soft limit.
std::optional<std::string_view> soft_memory_lock(std::string_view limits) {
  constexpr std::string_view kName = "Max locked memory";
  const auto at = limits.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view line = limits.substr(at + kName.size());
  const std::string_view rest = trim(line.substr(0, line.find('\n')));
  return rest.substr(0, rest.find(' '));
}

// The first line contains the name with its line breaks escaped, so a name cannot fake another
// line.
std::optional<std::string> read_status(const HostPaths& host, const Process& process) {
  constexpr std::size_t kMaxBytes = 65536;
  return read_attribute(host.proc / std::to_string(process.pid) / "status", kMaxBytes);
}

bool is_uid_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-' || c == '_';
}

}  // namespace

// proc(5): `Uid:` with the real, the effective, the saved and the file system's.
bool is_of_root(const HostPaths& host, const Process& process) {
  const auto status = read_status(host, process);
  return status && status->contains("\nUid:\t0\t0\t");
}

std::optional<std::int64_t> parent_of(const HostPaths& host, const Process& process) {
  const auto status = read_status(host, process);
  constexpr std::string_view kParent = "\nPPid:\t";
  const auto at = status ? status->find(kParent) : std::string::npos;
  if (at == std::string::npos) return std::nullopt;
  const std::string_view rest = std::string_view(*status).substr(at + kParent.size());
  return parse_integer<std::int64_t>(rest.substr(0, rest.find('\n')));
}

Result<MemoryLockLimit> workload_memory_lock(const HostPaths& host, const Processes& processes) {
  const Process* const process = nearest_to_workloads(host, processes);
  if (process == nullptr) {
    return fail(ErrorKind::kNotFound,
                "no container runtime, kubelet or process 1 in " + host.proc.string());
  }
  const fs::path path = host.proc / std::to_string(process->pid) / "limits";
  const auto limits = read_attribute(path);
  if (!limits) return fail(ErrorKind::kNotFound, "cannot read " + path.string());
  const auto limit = soft_memory_lock(*limits);
  if (limit == "unlimited") return MemoryLockLimit{std::nullopt, *process};
  const auto bytes = limit ? parse_integer<std::uint64_t>(*limit) : std::nullopt;
  if (!bytes) return fail(ErrorKind::kInvalid, "no locked-memory limit in " + path.string());
  return MemoryLockLimit{bytes, *process};
}

// `0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/cri-…` with the
// systemd driver, which replaces the dashes of the UID by underscores;
// `…/kubepods/burstable/pod<uid>/…` with cgroupfs.
std::string pod_uid_of(const HostPaths& host, std::int64_t pid) {
  constexpr std::size_t kUidLength = 36;
  const auto text = read_cgroup(host, pid);
  if (!text) return {};
  for (auto at = text->find("pod"); at != std::string::npos; at = text->find("pod", at + 1)) {
    std::string uid = text->substr(at + 3, kUidLength);
    if (uid.size() != kUidLength || !std::ranges::all_of(uid, is_uid_character)) continue;
    std::ranges::replace(uid, '_', '-');
    return uid;
  }
  return {};
}

// `POD_NAMESPACE_CONTAINER-ID.log`; none of the three names has an underscore.
std::string container_of(const HostPaths& host, std::int64_t pid) {
  constexpr std::size_t kMaxContainers = 1U << 14U;
  const std::string uid = pod_uid_of(host, pid);
  if (uid.empty()) return {};
  const std::string id = container_id_in(read_cgroup(host, pid).value_or(""));
  const std::string end = "-" + id + ".log";
  const Listing links = list_folder(host.proc / "1/root/var/log/containers", kMaxContainers);
  for (const std::string& link : links.names) {
    if (id.empty() || !link.ends_with(end)) continue;
    const std::string names = link.substr(0, link.size() - end.size());
    const auto first = names.find('_'), second = names.find('_', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    return "pod " + names.substr(first + 1, second - first - 1) + "/" + names.substr(0, first) +
           ", container " + names.substr(second + 1);
  }
  return "pod " + uid;
}

}  // namespace gpuward::exporter
