// A file descriptor that closes with its owner. Used by all code that keeps files and sockets open
// for longer than one call.
#pragma once

#include <unistd.h>

#include <utility>

namespace gpuward {

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
  void reset() { static_cast<void>(close_now()); }
  // False if the kernel reports lost data (see errno). Closed in any case.
  [[nodiscard]] bool close_now() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_ = -1;
};

}  // namespace gpuward
