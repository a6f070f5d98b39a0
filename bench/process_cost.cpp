#include "bench/process_cost.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace gpuward::bench {
namespace {

std::filesystem::path proc(pid_t pid) { return "/proc/" + std::to_string(pid); }

template <typename Visit>
void for_each_thread(pid_t pid, const Visit& visit) {
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(proc(pid) / "task", gone)) {
    visit(task.path());
  }
}

}  // namespace

std::chrono::nanoseconds cpu_time_of(pid_t pid) {
  std::chrono::nanoseconds sum{0};
  for_each_thread(pid, [&](const std::filesystem::path& thread) {
    std::int64_t on_cpu = 0;  // the first number of schedstat, in nanoseconds
    std::ifstream(thread / "schedstat") >> on_cpu;
    sum += std::chrono::nanoseconds(on_cpu);
  });
  return sum;
}

double resident_mb(pid_t pid) {
  std::ifstream in(proc(pid) / "statm");
  long size = 0;
  long resident = 0;
  in >> size >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

double peak_resident_mb(pid_t pid) {
  std::ifstream in(proc(pid) / "status");
  for (std::string word; in >> word;) {
    long kibibytes = 0;
    if (word == "VmHWM:" && in >> kibibytes) return static_cast<double>(kibibytes) * 1024 / 1e6;
  }
  return 0;
}

std::optional<pid_t> child_of(pid_t pid) {
  std::optional<pid_t> found;
  for_each_thread(pid, [&](const std::filesystem::path& thread) {
    pid_t child = 0;
    if (!found && std::ifstream(thread / "children") >> child) found = child;
  });
  return found;
}

}  // namespace gpuward::bench
