// One side of a pair, from the meeting to the verdict. NCCL can hang where nothing ends it, so
// run() has a thread of its own, and whoever watches the time asks end_now() from another. Used by
// the nccl-pair command.
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
  // kBlocked where somebody uses the GPUs: that may pass, so it is asked again.
  using OpenGpus = std::function<Result<std::unique_ptr<AllReduce>>()>;

  // Clock and log must outlive it.
  Pair(Options options, std::string host, Clock& clock, Log& log);
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  // Once. Blocks for options.timeout and more: for ever where a library hangs. GPUs in use are
  // waited for, a minute or options.join_timeout at most.
  [[nodiscard]] PairResult run(const OpenGpus& open);
  // Any thread, both. Whether run() has no other side any more, and should end soon by itself.
  [[nodiscard]] bool is_left_alone();
  // The verdict where run() is not waited for any longer: what the other side has said, if it has;
  // else a hang where both had joined, and otherwise unknown. The other side is notified.
  [[nodiscard]] PairResult end_now();

 private:
  void enter(const char* stage);  // what is being done, for people
  [[nodiscard]] Result<std::unique_ptr<AllReduce>> take_gpus(const OpenGpus& open);
  [[nodiscard]] Result<Met> meet_other(AllReduce& gpus);
  // What ends it early; nullopt where both sides have joined.
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
  std::mutex mutex_;  // of what follows
  const char* stage_ = "beginning";
  bool has_joined_ = false;
  std::shared_ptr<Peer> peer_;  // null until the meeting
};

}  // namespace gpuward::exporter::nccl_pair
