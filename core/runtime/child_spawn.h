// Starting a child with two pipes to read from: its own process group, fresh signals, what it is
// given or /dev/null as stdin, none of our descriptors. Inside core/runtime only: what others use
// is child.h.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

#include "core/model/result.h"
#include "core/runtime/child.h"

namespace gpuward {

class ChildPipe {
 public:
  ChildPipe() = default;
  explicit ChildPipe(int number) : number_(number) {}
  ~ChildPipe() { close(); }
  ChildPipe(ChildPipe&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  ChildPipe& operator=(ChildPipe&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  [[nodiscard]] int number() const { return number_; }  // -1: closed
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_ = -1;
};

struct SpawnedChild {
  pid_t pid = -1;               // and the number of its process group
  ChildPipe output, complaint;  // do not block
};

// kNotFound where there is no such program (or no interpreter for it), kUnavailable otherwise.
[[nodiscard]] Result<SpawnedChild> spawn_child(const std::filesystem::path& program,
                                               const ChildCommand& command);

}  // namespace gpuward
