// The processes of the node, from /proc: whether a service runs, which processes have a GPU open,
// how much memory a workload may lock. It sees the processes of the program's PID namespace: other
// pods only with hostPID. Any thread; some 10 us a process, so use it for checks, not for every
// scrape. It does not read files that wait for a hung process (cmdline, environ, maps).
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
  // A living thread, if the first one has ended: the kernel then shows no open files of the
  // process. 0: the first.
  std::int64_t thread = 0;
  bool operator==(const Process&) const = default;
};

struct Processes {
  std::vector<Process> all;  // ascending by pid, without processes that have no living thread
  // False if some could not be read: then a missing process may still run.
  bool is_complete = true;

  // Returns the first process of that name, cut as the kernel does: "nv-fabricmanager" finds
  // nv-fabricmanage. Any process may choose that name: use find_of_root() if something depends on
  // it.
  [[nodiscard]] const Process* find(std::string_view name) const;
};

[[nodiscard]] Processes list_processes(const HostPaths& host);

// Whether it was started by root and runs as root: any process can choose its name, and the user of
// a setuid program is its caller. Root in a container without a user namespace is root too.
[[nodiscard]] bool is_of_root(const HostPaths& host, const Process& process);

// Returns the pid of its parent; nullopt if the process has ended or is not readable.
[[nodiscard]] std::optional<std::int64_t> parent_of(const HostPaths& host, const Process& process);

// Returns the first process of that name that belongs to root: a program of the node's system.
[[nodiscard]] const Process* find_of_root(const HostPaths& host, const Processes& processes,
                                          std::string_view name);

// Whether other processes are visible at all: without hostPID a container sees only itself.
[[nodiscard]] bool sees_whole_node(const Processes& processes);

struct DeviceUser {
  Process process;
  std::string device;  // "nvidia-uvm", "nvidia0"
  bool operator==(const DeviceUser&) const = default;
};

struct DeviceUsers {
  std::vector<DeviceUser> all;  // ascending by pid; a process once for each device
  bool is_complete = true;      // false: some could not be read (needs root)
};

// Lists the processes with an open device node whose name begins with `prefix`, also below /dev of
// a container. Ignores files with such a name that are not character devices, and devices other
// than the node's own of that name.
[[nodiscard]] DeviceUsers list_device_users(const HostPaths& host, const Processes& processes,
                                            std::string_view prefix);

struct MemoryLockLimit {
  std::optional<std::uint64_t> bytes;  // nullopt: unlimited
  Process process;                     // the process with this limit
};

// Returns the memory that a workload may lock. A pod inherits the limit from the container runtime,
// so this is the limit of the first running one of containerd-shim, containerd, crio, dockerd and
// kubelet, else of process 1: reports must name the process. kNotFound: none of them is visible;
// kInvalid: its limits have an unknown format.
[[nodiscard]] Result<MemoryLockLimit> workload_memory_lock(const HostPaths& host,
                                                           const Processes& processes);

// Returns "pod NAMESPACE/POD, container NAME" of a process, by its cgroup and the kubelet's links
// in /var/log/containers of the node; "pod UID" without them; empty if it is in no pod. Only root
// creates these links.
[[nodiscard]] std::string container_of(const HostPaths& host, std::int64_t pid);

// Returns the UID of the process's pod, by its cgroup; empty if it is in none.
[[nodiscard]] std::string pod_uid_of(const HostPaths& host, std::int64_t pid);

}  // namespace gpuward::exporter
