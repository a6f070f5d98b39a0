#include "exporter/checks/process_search.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {

std::optional<int> find_process(const HostPaths& host, std::string_view name) {
  constexpr std::size_t kCommBytes = 15;  // TASK_COMM_LEN - 1, proc(5)
  std::optional<int> lowest;
  std::error_code error;
  std::filesystem::directory_iterator entry(host.proc, error);
  while (!error && entry != std::filesystem::directory_iterator()) {
    const auto pid = parse_integer<int>(entry->path().filename().string());
    if (pid && (!lowest || *pid < *lowest)) {
      const auto comm = read_file(entry->path() / "comm", 256);
      if (comm && trim(*comm) == name.substr(0, kCommBytes)) lowest = pid;
    }
    entry.increment(error);
  }
  return lowest;
}

}  // namespace gpuward::exporter
