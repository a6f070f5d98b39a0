// A question to the API server that many ask at once: one read serves all who asked before it
// began, so that many do not become as many reads; nobody ever gets an answer that began before the
// question. Used by the stop switch, and by the reconciler for the wishes on one Remediation.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/model/result.h"

namespace gpuward::remediator {

class JointRead {
 public:
  using Read = std::function<Status()>;

  // Any thread; blocks for two reads at most: the one under way, which is not ours, and the next.
  // `read` is that of one of those who wait: all must ask the same. What it throws is an error.
  [[nodiscard]] Status ask(const Read& read);
  // Those who wait for a read that is under way.
  [[nodiscard]] std::size_t waiting();

 private:
  std::mutex mutex_;
  std::condition_variable read_ended_;
  std::size_t waiting_ = 0;
  // Reads are numbered from 1 and never overlap.
  std::uint64_t begun_ = 0, ended_ = 0;
  Status answer_;  // of the read `ended_`
};

// One question for each key; remembered as long as somebody asks it.
class JointReads {
 public:
  [[nodiscard]] Status ask(const std::string& key, const JointRead::Read& read);
  [[nodiscard]] std::size_t remembered();

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<JointRead>> questions_;
};

}  // namespace gpuward::remediator
