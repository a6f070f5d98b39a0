// GPUs that act as a test says, instead of NCCL's. Used by the tests of this folder.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "exporter/nccl_pair/all_reduce.h"

namespace gpuward::exporter::nccl_pair {

class FakeAllReduce final : public AllReduce {
 public:
  unsigned gpu_count = 8;
  int version = 22304;
  std::uint64_t bytes_free = std::uint64_t{1} << 31U;
  std::function<Status()> on_join = [] { return Status(); };
  // Called instead of returning at once.
  std::function<Status(std::uint64_t bytes, unsigned times, const GivesUp&)> on_run =
      [](std::uint64_t, unsigned, const GivesUp&) { return Status(); };
  std::uint64_t wrong = 0;  // of each size

  std::vector<std::pair<std::uint64_t, unsigned>> runs;  // bytes and times of each

  [[nodiscard]] unsigned gpus() const override { return gpu_count; }
  [[nodiscard]] int nccl_version() const override { return version; }
  [[nodiscard]] std::uint64_t most_bytes() const override { return bytes_free; }
  Result<UniqueId> make_id() override { return UniqueId{'i', 'd'}; }
  Status join(const UniqueId& id, unsigned, unsigned, std::uint64_t) override {
    if (id != UniqueId{'i', 'd'}) return fail(ErrorKind::kInvalid, "not rank 0's id");
    return on_join();
  }
  Status fill(std::uint64_t) override { return {}; }
  Status run(std::uint64_t bytes, unsigned times, const GivesUp& gives_up) override {
    runs.emplace_back(bytes, times);
    return on_run(bytes, times, gives_up);
  }
  Result<std::uint64_t> wrong_values(std::uint64_t) override { return wrong; }
};

}  // namespace gpuward::exporter::nccl_pair
