// Who runs on the node, from /proc: whether a service is up, who has a GPU open, how much memory a
// workload may lock. Sees what the program's PID namespace shows: other pods only with hostPID. Any
// thread; some 10 us a process, so for checks, not for every scrape. Files that wait for a hung
// process (cmdline, environ, maps) are not touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "exporter/host/host_paths.h"

namespace gpuward::exporter {

struct Process {
  std::int64_t pid = 0;
  std::string name;  // the kernel's: cut after 15 bytes
  // A thread that lives, if the first one has ended: the kernel then shows no open files of the
  // process. 0: the first.
  std::int64_t thread = 0;
  bool operator==(const Process&) const = default;
};

struct Processes {
  std::vector<Process> all;  // ascending by pid, without the dead: those with no thread that lives
  // False where not all could be looked at: nobody can then say that one does not run.
  bool is_complete = true;

  // The first of that name, as the kernel cuts it: "nv-fabricmanager" finds nv-fabricmanage. Any
  // process may have named itself so: find_of_root() is for all that something depends on.
  [[nodiscard]] const Process* find(std::string_view name) const;
};

[[nodiscard]] Processes list_processes(const HostPaths& host);

// Whether it was started by root and runs as root: a name alone is any process's choice, and that
// of a setuid program is the caller's. Root in a container without a user namespace is root too.
[[nodiscard]] bool is_of_root(const HostPaths& host, const Process& process);

// Its parent's number; nullopt if the process has ended, or the exporter may not read it.
[[nodiscard]] std::optional<std::int64_t> parent_of(const HostPaths& host, const Process& process);

// The first of that name that is root's: a program of the node's system.
[[nodiscard]] const Process* find_of_root(const HostPaths& host, const Processes& processes,
                                          std::string_view name);

// Whether others can be seen at all: without hostPID a container sees itself only.
[[nodiscard]] bool sees_whole_node(const Processes& processes);

struct DeviceUser {
  Process process;
  std::string device;  // "nvidia-uvm", "nvidia0"
  bool operator==(const DeviceUser&) const = default;
};

struct DeviceUsers {
  std::vector<DeviceUser> all;  // ascending by pid; a process once for each device
  bool is_complete = true;      // false: some could not be looked at (needs root)
};

// Who has a device node open whose name starts with `prefix`, below /dev of its own container too.
// Leaves out files with such a name: those that are not character devices, and devices other than
// the node's own of that name.
[[nodiscard]] DeviceUsers list_device_users(const HostPaths& host, const Processes& processes,
                                            std::string_view prefix);

struct MemoryLockLimit {
  std::optional<std::uint64_t> bytes;  // nullopt: unlimited
  Process process;                     // whose it is
};

// What a workload may lock. A pod inherits it from the container runtime, so this is the limit of
// the first of containerd-shim, containerd, crio, dockerd and kubelet that runs, else of process 1:
// say whose it is. kNotFound: none of them can be seen; kInvalid: its limits read like nothing
// known.
[[nodiscard]] Result<MemoryLockLimit> workload_memory_lock(const HostPaths& host,
                                                           const Processes& processes);

// "pod NAMESPACE/POD, container NAME" of a process, by its cgroup and the kubelet's links in
// /var/log/containers of the node; "pod UID" without them; empty if it is in no pod. Only root
// makes these links.
[[nodiscard]] std::string container_of(const HostPaths& host, std::int64_t pid);

// The UID of the pod that a process belongs to, by its cgroup; empty where it is in none.
[[nodiscard]] std::string pod_uid_of(const HostPaths& host, std::int64_t pid);

}  // namespace gpuward::exporter
