#include "exporter/kernel_log/open_source.h"

#include <filesystem>
#include <system_error>

#include "exporter/kernel_log/file_follower.h"
#include "exporter/kernel_log/kmsg_reader.h"

namespace gpuward::exporter {

std::unique_ptr<KernelLogSource> open_kernel_log(const std::string& path,
                                                 const std::string& boot_id,
                                                 const LogPosition& start,
                                                 const StartMoment& moment, const Clock& clock) {
  std::error_code error;
  if (path == "/dev/kmsg" || std::filesystem::is_character_file(path, error)) {
    return std::make_unique<KmsgReader>(std::make_unique<KmsgFile>(path), clock, boot_id, start,
                                        moment);
  }
  return std::make_unique<FileFollower>(path, start, moment);
}

}  // namespace gpuward::exporter
