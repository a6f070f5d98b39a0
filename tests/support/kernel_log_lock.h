// The machine's kernel log, for one run of tests at a time: every run that writes into it also
// reads the others' lines. Used by the end-to-end tests and by the test of an exporter on the real
// log.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace gpuward::support {

// A descriptor for writing into `device`, locked until it is closed. -1 if this process may not
// write there, or with errno EWOULDBLOCK while another process has the lock.
[[nodiscard]] inline int open_kernel_log(const std::filesystem::path& device = "/dev/kmsg") {
  const int descriptor = ::open(device.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  errno = EWOULDBLOCK;
  return -1;
}

}  // namespace gpuward::support
