// An owned file descriptor, and waiting for one that a stop request ends at once. Used by the
// sources.
#pragma once

#include <chrono>
#include <stop_token>
#include <utility>

namespace gpuward::exporter {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { reset(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void reset();

 private:
  int number_ = -1;
};

// Waits on one descriptor at a time; made once a source.
class ReadWaiter {
 public:
  ReadWaiter();
  // True when `number` can be read (or has failed, which reading tells); false after `wait` or on a
  // stop. Without a descriptor (-1) it only waits.
  bool wait(int number, std::chrono::milliseconds wait, const std::stop_token& stop) const;

 private:
  Descriptor wake_;
};

}  // namespace gpuward::exporter
