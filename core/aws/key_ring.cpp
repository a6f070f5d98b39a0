#include "core/aws/key_ring.h"

#include <algorithm>

namespace gpuward::aws {
namespace {

constexpr std::chrono::minutes kBeforeTheEnd{15};
constexpr std::chrono::minutes kBetweenLooks{5};
constexpr std::chrono::seconds kAfterAFailure{5};

Clock::Wall renewal_of(const AwsKeys& keys, Clock::Wall now) {
  if (!keys.expires) return now + kBetweenLooks;
  return std::max(*keys.expires - kBeforeTheEnd, now + (*keys.expires - now) / 2);
}

}  // namespace

Result<AwsKeys> AwsKeyRing::current() {
  std::unique_lock lock(mutex_);
  if (is_due() && !is_looking_ && may_look()) look(lock);
  looked_.wait(lock, [this] { return still_hold() || !is_looking_; });
  if (still_hold()) return *keys_;
  if (failure_) return std::unexpected(*failure_);
  return fail(ErrorKind::kUnauthenticated, "the AWS credentials have expired");
}

void AwsKeyRing::reject(const std::string& access_key_id) {
  const std::lock_guard lock(mutex_);
  if (keys_ && keys_->access_key_id == access_key_id) keys_.reset();
}

void AwsKeyRing::look(std::unique_lock<std::mutex>& lock) {
  is_looking_ = true;
  lock.unlock();
  auto found = fetch_();
  lock.lock();
  is_looking_ = false;
  looked_at_ = clock_.steady();
  if (found) {
    failure_.reset();
    keys_ = *std::move(found);
    renew_at_ = renewal_of(*keys_, clock_.wall());
  } else {
    failure_ = std::move(found.error());
  }
  looked_.notify_all();
}

bool AwsKeyRing::is_due() const { return !keys_ || clock_.wall() >= renew_at_; }

bool AwsKeyRing::still_hold() const {
  return keys_ && (!keys_->expires || clock_.wall() < *keys_->expires);
}

bool AwsKeyRing::may_look() const {
  return !failure_ || clock_.steady() - looked_at_ >= kAfterAFailure;
}

}  // namespace gpuward::aws
