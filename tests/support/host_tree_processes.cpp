// The part of HostTree below /proc; the forms are those of proc(5).
#include <cstdio>
#include <filesystem>

#include "tests/support/host_tree.h"

namespace gpuward::support {
namespace {

namespace fs = std::filesystem;

std::string folder_of(std::int64_t pid) { return "proc/" + std::to_string(pid); }

}  // namespace

HostTree& HostTree::with_process(std::int64_t pid, const std::string& name, char state) {
  const std::string cut = name.substr(0, 15);
  write(folder_of(pid) + "/comm", cut + "\n");
  write(folder_of(pid) + "/stat", std::to_string(pid) + " (" + cut + ") " + state +
                                      " 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 100 0 0\n");
  fs::create_directories(folder_ / (folder_of(pid) + "/fd"));
  with_uids(pid, 0, 0);
  return with_memory_lock(pid, "8388608");
}

HostTree& HostTree::with_parent(std::int64_t pid, std::int64_t parent) {
  return write(folder_of(pid) + "/status", "Name:\tx\nUmask:\t0022\nState:\tS (sleeping)\nPPid:\t" +
                                               std::to_string(parent) +
                                               "\nTracerPid:\t0\nUid:\t0\t0\t0\t0\n");
}

HostTree& HostTree::with_uids(std::int64_t pid, unsigned real, unsigned effective) {
  const std::string uids = std::to_string(real) + "\t" + std::to_string(effective);
  return write(folder_of(pid) + "/status", "Name:\tx\nUmask:\t0022\nState:\tS (sleeping)\nUid:\t" +
                                               uids + "\t" + std::to_string(effective) + "\t" +
                                               std::to_string(effective) + "\nGid:\t0\t0\t0\t0\n");
}

HostTree& HostTree::with_open_file(std::int64_t pid, const std::string& target) {
  const fs::path folder = folder_ / (folder_of(pid) + "/fd");
  const auto number = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  const std::string descriptor = folder_of(pid) + "/fd/" + std::to_string(number);
  if (!target.starts_with("/dev/")) return link(descriptor, target);
  const std::string device = target.substr(1);
  if (!fs::exists(folder_ / device)) link(device, "/dev/null");
  return link(descriptor, (folder_ / device).string());
}

HostTree& HostTree::with_memory_lock(std::int64_t pid, const std::string& soft_limit) {
  std::string line = "Max locked memory         " + soft_limit;
  line.resize(47, ' ');
  return write(folder_of(pid) + "/limits",
               "Limit                     Soft Limit           Hard Limit           Units     \n"
               "Max open files            20000                20000                files     \n" +
                   line +
                   "unlimited            bytes     \n"
                   "Max address space         unlimited            unlimited            bytes     "
                   "\n");
}

HostTree& HostTree::with_cgroup(std::int64_t pid, const std::string& cgroup) {
  return write(folder_of(pid) + "/cgroup", "0::" + cgroup + "\n");
}

}  // namespace gpuward::support
