// The settings of the fake library in GPUWARD_FAKE_NCCL, words of the form `key=value`, and the
// folder in which the processes of a pair find each other. Used only by the library's files.
#pragma once

#include <optional>
#include <string>

namespace gpuward::fake_nccl {

struct Scene {
  std::string folder;  // of both processes: ranks leave their numbers there
  int gpus = 2;
  int version = 22304;
  unsigned long long free_mib = 81920;
  // wrong: adds up wrongly; hang: all_reduce never ends; fail: it never ends, and NCCL reports
  // that; fail-join, hang-join: the same for ncclGroupEnd after ncclCommInitRank; no-gpu: CUDA
  // finds none.
  std::string fault;
};

// Read at the first call.
[[nodiscard]] const Scene& scene();

// Writes a file in the scene's folder, atomically.
void leave(const std::string& name, const std::string& text);
[[nodiscard]] std::optional<std::string> find(const std::string& name);

}  // namespace gpuward::fake_nccl
