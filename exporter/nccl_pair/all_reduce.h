// The GPUs of this node as one half of an all_reduce over two nodes: the seam between the
// measurement and the libraries that carry it out. Implemented by nccl_all_reduce.h and by the
// fakes of the tests; used by Pair, on its one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "core/model/result.h"

namespace gpuward::exporter::nccl_pair {

using UniqueId = std::array<char, 128>;  // ncclUniqueId: the communicator and its address

// Called repeatedly while GPUs work; true ends the wait.
using GivesUp = std::function<bool()>;

class AllReduce {
 public:
  virtual ~AllReduce() = default;

  [[nodiscard]] virtual unsigned gpus() const = 0;
  // As ncclGetVersion returns it: 22304 for 2.23.4.
  [[nodiscard]] virtual int nccl_version() const = 0;
  // Returns the largest message for which each GPU can hold two buffers besides NCCL's own.
  [[nodiscard]] virtual std::uint64_t most_bytes() const = 0;

  [[nodiscard]] virtual Result<UniqueId> make_id() = 0;  // only rank 0
  // Allocates memory for messages of up to `bytes` and blocks until all ranks of both sides have
  // joined, which may never happen. This side has `first_rank` and the ranks after it.
  [[nodiscard]] virtual Status join(const UniqueId& id, unsigned ranks, unsigned first_rank,
                                    std::uint64_t bytes) = 0;
  // Fills the send buffer and overwrites the receive buffer; `bytes` as in join() or fewer.
  [[nodiscard]] virtual Status fill(std::uint64_t bytes) = 0;
  // Runs `times` all_reduces on all GPUs of this side until the last has ended. kCancelled if
  // `gives_up` returned true: GPUs may still be busy then, and this object must not be used any
  // more.
  [[nodiscard]] virtual Status run(std::uint64_t bytes, unsigned times,
                                   const GivesUp& gives_up) = 0;
  // Returns how many numbers differ from the sum in the checked part of the result.
  [[nodiscard]] virtual Result<std::uint64_t> wrong_values(std::uint64_t bytes) = 0;
};

}  // namespace gpuward::exporter::nccl_pair
