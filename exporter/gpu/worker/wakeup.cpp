#include "exporter/gpu/worker/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

namespace gpuward::exporter {

Wakeup::Wakeup() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Wakeup::~Wakeup() { ::close(descriptor_); }

void Wakeup::signal() const { ::eventfd_write(descriptor_, 1); }

void Wakeup::clear() const {
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
}

}  // namespace gpuward::exporter
