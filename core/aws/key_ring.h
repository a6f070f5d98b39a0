// The current keys: found once, renewed before they expire and shared by all callers, whose
// requests do not wait for a renewal while the old keys are valid. Used by AwsClient.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "core/aws/keys.h"
#include "core/model/result.h"

namespace gpuward::aws {

// Thread-safe.
class AwsKeyRing {
 public:
  using Fetch = std::function<Result<AwsKeys>()>;
  AwsKeyRing(Fetch fetch, Clock& clock) : fetch_(std::move(fetch)), clock_(clock) {}

  // Returns valid keys. They are renewed 15 minutes before they expire, but not before half of
  // their lifetime; keys without an expiry are looked up again every 5 minutes. One caller at a
  // time looks them up; the others use the old keys while those are valid, else they wait. A failed
  // look-up leaves the old keys in use until they expire and is not repeated for 5 s.
  [[nodiscard]] Result<AwsKeys> current();
  // AWS rejects these keys: the next call of current() looks them up again.
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
  std::optional<Error> failure_;  // of the last look-up
  Clock::Steady looked_at_{};
};

}  // namespace gpuward::aws
