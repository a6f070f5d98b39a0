#include "exporter/kernel_log/read_waiter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace gpuward::exporter {

ReadWaiter::ReadWaiter() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

bool ReadWaiter::wait(int number, std::chrono::milliseconds wait,
                      const std::stop_token& stop) const {
  const std::stop_callback on_stop(stop, [this] {
    const std::uint64_t one = 1;
    // It can fail only if the counter is full, and then the waiter is awake already.
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
  });
  // poll() skips entries with a negative descriptor.
  std::array<pollfd, 2> entries{{{number, POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
  const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(wait.count()));
  return ready > 0 && entries[0].revents != 0 && !stop.stop_requested();
}

}  // namespace gpuward::exporter
