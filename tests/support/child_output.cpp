#include "tests/support/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "tests/support/wait.h"

namespace gpuward::support {

ChildOutput::ChildOutput(std::array<int, 3> descriptors, std::string input, std::size_t max_bytes)
    : descriptors_(descriptors), input_(std::move(input)), max_bytes_(max_bytes) {
  for (const int descriptor : descriptors_) ::fcntl(descriptor, F_SETFL, O_NONBLOCK);
  if (input_.empty()) close_stream(0);
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

ChildOutput::~ChildOutput() {
  thread_.request_stop();
  thread_.join();
  for (std::size_t stream = 0; stream < descriptors_.size(); ++stream) close_stream(stream);
}

std::string ChildOutput::text(std::size_t stream) const {
  const std::lock_guard lock(mutex_);
  return text_.at(stream);
}

void ChildOutput::wait_until_read() const {
  (void)poll_until([this] {
    const std::lock_guard lock(mutex_);
    has_child_ended_ = true;
    return is_read_ || ended_;
  });
}

bool ChildOutput::is_reading_the_rest() const {
  const std::lock_guard lock(mutex_);
  return has_child_ended_ && !is_read_;
}

void ChildOutput::wait_for_end() const {
  wait_until_read();
  (void)poll_until(
      [this] {
        const std::lock_guard lock(mutex_);
        return ended_;
      },
      std::chrono::seconds(1));
}

void ChildOutput::run(const std::stop_token& stop) {
  // A child that does not read its stdin must not end the test.
  sigset_t pipe_signal;
  ::sigemptyset(&pipe_signal);
  ::sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  while (!stop.stop_requested() && (descriptors_[1] >= 0 || descriptors_[2] >= 0)) {
    std::array<pollfd, 3> polled{pollfd{descriptors_[0], POLLOUT, 0},
                                 pollfd{descriptors_[1], POLLIN, 0},
                                 pollfd{descriptors_[2], POLLIN, 0}};
    const bool has_ended = is_reading_the_rest();  // read first: then the pipes hold all output
    const int ready = ::poll(polled.data(), polled.size(), has_ended ? 0 : 50);
    if (ready == 0 && has_ended) {
      const std::lock_guard lock(mutex_);
      is_read_ = true;
    }
    if (ready <= 0) continue;
    if (polled[0].revents != 0) feed_input();
    if (polled[1].revents != 0) read_from(1);
    if (polled[2].revents != 0) read_from(2);
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
}

void ChildOutput::feed_input() {
  const ssize_t written = ::write(descriptors_[0], input_.data(), input_.size());
  if (written < 0 && errno == EAGAIN) return;
  if (written > 0) input_.erase(0, static_cast<std::size_t>(written));
  if (written < 0 || input_.empty()) close_stream(0);
}

void ChildOutput::read_from(std::size_t stream) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(descriptors_.at(stream), buffer.data(), buffer.size());
  if (count < 0 && errno == EAGAIN) return;
  if (count <= 0) {
    close_stream(stream);
    return;
  }
  const std::lock_guard lock(mutex_);
  std::string& kept = text_.at(stream);
  kept.append(buffer.data(), std::min(static_cast<std::size_t>(count), max_bytes_ - kept.size()));
}

void ChildOutput::close_stream(std::size_t stream) {
  int& descriptor = descriptors_.at(stream);
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace gpuward::support
