// The keys in force: found once, renewed before they end, shared by all callers, whose requests
// never wait for a renewal while the old keys hold. Used by AwsClient.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/aws/keys.h"
#include "core/model/result.h"

namespace gpuward::aws {

// Any thread.
class AwsKeyRing {
 public:
  using Fetch = std::function<Result<AwsKeys>()>;
  AwsKeyRing(Fetch fetch, Clock& clock) : fetch_(std::move(fetch)), clock_(clock) {}

  // Renewed 15 minutes before their end, but not before half of their life; keys without an end are
  // looked up again every 5 minutes. One caller at a time looks: the others go on with the old keys
  // while those hold, and wait where there are none. A look that fails leaves the old keys in force
  // until they end, and is not repeated for 5 s.
  [[nodiscard]] Result<AwsKeys> current();
  // AWS does not take these: they are looked up again.
  void reject(const std::string& access_key_id);

 private:
  [[nodiscard]] bool is_due() const;
  [[nodiscard]] bool still_hold() const;
  [[nodiscard]] bool may_look() const;
  void look(std::unique_lock<std::mutex>& lock);

  const Fetch fetch_;
  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable looked_;
  bool is_looking_ = false;
  std::optional<AwsKeys> keys_;
  Clock::Wall renew_at_{};
  std::optional<Error> failure_;  // of the last look
  Clock::Steady looked_at_{};
};

}  // namespace gpuward::aws
