// Starts a child with two pipes to read from: its own process group, default signals, its input or
// /dev/null as stdin, no other descriptors of this process. Inside core/runtime only: others use
// child.h.
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

// kNotFound if the program (or its interpreter) does not exist, kUnavailable otherwise.
[[nodiscard]] Result<SpawnedChild> spawn_child(const std::filesystem::path& program,
                                               const ChildCommand& command);

}  // namespace gpuward
