// What the fake library is told by GPUWARD_FAKE_NCCL, words of the form `key=value`, and the folder
// in which the processes of a pair find each other. Used by the library's files alone.
#pragma once

#include <optional>
#include <string>

namespace gpuward::fake_nccl {

struct Scene {
  std::string folder;  // both processes': ranks leave their numbers there
  int gpus = 2;
  int version = 22304;
  unsigned long long free_mib = 81920;
  // wrong: adds up wrongly; hang: all_reduce never ends; fail: nor that, and NCCL says so;
  // fail-join, hang-join: of ncclGroupEnd behind ncclCommInitRank; no-gpu: CUDA finds none.
  std::string fault;
};

// Read at the first call.
[[nodiscard]] const Scene& scene();

// In the scene's folder: whole or not at all.
void leave(const std::string& name, const std::string& text);
[[nodiscard]] std::optional<std::string> find(const std::string& name);

}  // namespace gpuward::fake_nccl
