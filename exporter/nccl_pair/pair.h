// One side of a pair, from the meeting to the verdict. NCCL can hang forever, so run() has a
// separate thread, and the thread that watches the time calls end_now(). Used by the nccl-pair
// command.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/nccl_pair/all_reduce.h"
#include "exporter/nccl_pair/meeting.h"
#include "exporter/nccl_pair/options.h"
#include "exporter/nccl_pair/pair_result.h"
#include "exporter/nccl_pair/peer.h"

namespace gpuward::exporter::nccl_pair {

class Pair {
 public:
  // kBlocked if another process uses the GPUs: run() tries again then.
  using OpenGpus = std::function<Result<std::unique_ptr<AllReduce>>()>;

  // Clock and log must outlive it.
  Pair(Options options, std::string host, Clock& clock, Log& log);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  // Call it once. Blocks for options.timeout or longer, forever if a library hangs. Waits for GPUs
  // in use for a minute or options.join_timeout at most.
  [[nodiscard]] PairResult run(const OpenGpus& open);
  // Any thread, for both functions. Whether the other side of run() is gone, so that run() should
  // end soon by itself.
  [[nodiscard]] bool is_left_alone();
  // Returns the verdict if the caller stops waiting for run(): by the other side's report if there
  // is one, else a hang if both had joined, else unknown. Notifies the other side.
  [[nodiscard]] PairResult end_now();

 private:
  void enter(const char* stage);  // the current activity, for operators
  [[nodiscard]] Result<std::unique_ptr<AllReduce>> take_gpus(const OpenGpus& open);
  [[nodiscard]] Result<Met> meet_other(AllReduce& gpus);
  // Returns a result that ends the run early; nullopt if both sides have joined.
  [[nodiscard]] std::optional<SideResult> join(AllReduce& gpus, const Met& met);
  [[nodiscard]] SideResult measure_with(AllReduce& gpus);
  [[nodiscard]] PairResult conclude(const SideResult& mine);
  [[nodiscard]] PairResult verdict_of(const SideResult& mine, const SideResult& theirs) const;
  [[nodiscard]] PairResult gone(const SideResult& mine) const;

  const Options options_;
  Clock& clock_;
  Log& log_;
  const Link::Deadline deadline_;
  Terms mine_, theirs_;
  Agreed agreed_;
  std::mutex mutex_;  // guards the fields below
  const char* stage_ = "beginning";
  bool has_joined_ = false;
  std::shared_ptr<Peer> peer_;  // null until the meeting
};

}  // namespace gpuward::exporter::nccl_pair
