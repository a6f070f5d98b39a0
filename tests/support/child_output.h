// Reads the two output pipes of a child (and feeds its stdin) on one thread until all are closed.
// Used by Process only.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

namespace gpuward::support {

class ChildOutput {
 public:
  // Owns the descriptors: this process's ends of the child's stdin, stdout, stderr.
  ChildOutput(std::array<int, 3> descriptors, std::string input, std::size_t max_bytes);
  ~ChildOutput();  // stops reading, even if another process still holds a pipe open
  ChildOutput(const ChildOutput&) = delete;
  ChildOutput& operator=(const ChildOutput&) = delete;

  [[nodiscard]] std::string text(std::size_t stream) const;  // 1: stdout, 2: stderr
  // Called after the child has ended: waits until all its output has been read.
  void wait_until_read() const;
  // Also waits up to a second for the end of both streams, which a grandchild may still hold.
  void wait_for_end() const;

 private:
  [[nodiscard]] bool is_reading_the_rest() const;
  void run(const std::stop_token& stop);
  void feed_input();
  void read_from(std::size_t stream);
  void close_stream(std::size_t stream);

  std::array<int, 3> descriptors_;
  std::string input_;
  std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::array<std::string, 3> text_;
  bool ended_ = false;
  mutable bool has_child_ended_ = false;
  bool is_read_ = false;  // nothing was left in the pipes after the child's end
  std::jthread thread_;
};

}  // namespace gpuward::support
