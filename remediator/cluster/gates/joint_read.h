// A read from the API server that many threads share. One read serves all callers that asked before
// it began, so that many callers do not cause as many reads. A caller never gets the answer of a
// read that began before its call. Used by the stop switch, and by the reconciler to read the
// operator's requests on one Remediation.
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

  // Any thread; blocks for two reads at most: the one under way, which began too early for this
  // call, and the next. Runs the `read` of one of the waiting callers, so all must read the same.
  // An exception in it becomes an error.
  [[nodiscard]] Status ask(const Read& read);
  // The number of callers that wait for a read that is under way.
  [[nodiscard]] std::size_t waiting();

 private:
  std::mutex mutex_;
  std::condition_variable read_ended_;
  std::size_t waiting_ = 0;
  // Reads are numbered from 1 and never overlap.
  std::uint64_t begun_ = 0, ended_ = 0;
  Status answer_;  // of the read `ended_`
};

// One JointRead for each key; it exists while a caller uses it.
class JointReads {
 public:
  [[nodiscard]] Status ask(const std::string& key, const JointRead::Read& read);
  [[nodiscard]] std::size_t remembered();

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<JointRead>> questions_;
};

}  // namespace gpuward::remediator
