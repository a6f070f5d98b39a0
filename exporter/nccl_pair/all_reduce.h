// The GPUs of this node as one half of an all_reduce over two nodes: the seam between what is
// measured and the libraries that do it. Implemented by nccl_all_reduce.h and by the fakes of the
// tests; used by Pair, on its one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "core/model/result.h"

namespace gpuward::exporter::nccl_pair {

using UniqueId = std::array<char, 128>;  // ncclUniqueId: which communicator, and where to find it

// Asked again and again while GPUs work; true ends the wait.
using GivesUp = std::function<bool()>;

class AllReduce {
 public:
  virtual ~AllReduce() = default;

  [[nodiscard]] virtual unsigned gpus() const = 0;
  // As ncclGetVersion says it: 22304 for 2.23.4.
  [[nodiscard]] virtual int nccl_version() const = 0;
  // What two buffers of may be had on each GPU beside NCCL's own.
  [[nodiscard]] virtual std::uint64_t most_bytes() const = 0;

  [[nodiscard]] virtual Result<UniqueId> make_id() = 0;  // rank 0 alone
  // Takes memory for messages of up to `bytes` and blocks until all ranks of both sides are there,
  // which may be never. Ours are `first_rank` and those that follow.
  [[nodiscard]] virtual Status join(const UniqueId& id, unsigned ranks, unsigned first_rank,
                                    std::uint64_t bytes) = 0;
  // Prepares what is sent and spoils what is received; `bytes` of join() or fewer.
  [[nodiscard]] virtual Status fill(std::uint64_t bytes) = 0;
  // That many all_reduces of all our GPUs, until the last has ended. kCancelled where `gives_up`
  // said so: GPUs may still be at it then, and nothing else may be asked of this object.
  [[nodiscard]] virtual Status run(std::uint64_t bytes, unsigned times,
                                   const GivesUp& gives_up) = 0;
  // Of the part of the result that is checked: how many numbers are not the sum.
  [[nodiscard]] virtual Result<std::uint64_t> wrong_values(std::uint64_t bytes) = 0;
};

}  // namespace gpuward::exporter::nccl_pair
