#include "core/metrics/process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward::metrics {
namespace {

using enum Type;

// Files of /proc have no size, so they are read to their end.
std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the fields of /proc/self/stat after the command, which may contain blanks and brackets;
// the first one returned is field 3 of proc(5).
std::vector<std::uint64_t> stat_fields(const std::filesystem::path& path) {
  const std::string text = read_whole(path);
  std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
  std::vector<std::uint64_t> fields;
  for (std::string word; rest >> word;) {
    fields.push_back(parse_integer<std::uint64_t>(word).value_or(0));
  }
  return fields;
}

std::optional<double> boot_time_seconds(const std::filesystem::path& path) {
  std::istringstream lines(read_whole(path));
  for (std::string word; lines >> word;) {
    std::uint64_t seconds = 0;
    if (word == "btime" && lines >> seconds) return static_cast<double>(seconds);
  }
  return std::nullopt;
}

constexpr std::string_view kWithoutProc = "without /proc";

void append_stat(Families& families, const std::filesystem::path& proc) {
  // Field numbers of proc(5), minus the three before the first that stat_fields() returns.
  constexpr std::size_t kUserTicks = 11, kSystemTicks = 12, kThreads = 17, kStart = 19,
                        kVirtual = 20, kResident = 21;
  const std::vector<std::uint64_t> stat = stat_fields(proc / "self/stat");
  if (stat.size() <= kResident) return;
  const auto at = [&](std::size_t field) { return static_cast<double>(stat[field]); };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  declare(families,
          {"process_cpu_seconds_total", "User and system CPU time.", kCounter, {}, kWithoutProc},
          (at(kUserTicks) + at(kSystemTicks)) / ticks);
  declare(families, {"process_resident_memory_bytes", "Resident memory.", kGauge, {}, kWithoutProc},
          at(kResident) * page);
  declare(families, {"process_virtual_memory_bytes", "Virtual memory.", kGauge, {}, kWithoutProc},
          at(kVirtual));
  declare(families, {"process_threads", "Threads.", kGauge, {}, kWithoutProc}, at(kThreads));
  if (const auto boot = boot_time_seconds(proc / "stat")) {
    declare(families,
            {"process_start_time_seconds",
             "Start time of the process, in seconds since the Unix epoch.",
             kGauge,
             {},
             kWithoutProc},
            *boot + at(kStart) / ticks);
  }
}

void append_descriptors(Families& families, const std::filesystem::path& proc) {
  std::error_code error;
  std::filesystem::directory_iterator open(proc / "self/fd", error);
  double count = 0;
  for (; !error && open != std::filesystem::directory_iterator(); open.increment(error)) ++count;
  if (!error) {
    declare(families,
            {"process_open_fds", "Number of open file descriptors.", kGauge, {}, kWithoutProc},
            count);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    declare(families,
            {"process_max_fds",
             "Maximum number of open file descriptors.",
             kGauge,
             {},
             "when there is no limit"},
            limit.rlim_cur);
  }
}

constexpr std::string_view compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

}  // namespace

void append_process(Families& families, const std::filesystem::path& proc) {
  append_stat(families, proc);
  append_descriptors(families, proc);
}

void append_build_info(Families& families) {
  declare(families, {"gpuward_build_info",
                     "Version of gpuward, and the compiler that built it.",
                     kGauge,
                     {"version", "compiler"}})
      .add({GPUWARD_VERSION, compiler()}, 1);
}

}  // namespace gpuward::metrics
