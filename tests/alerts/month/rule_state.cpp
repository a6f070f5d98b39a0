#include "tests/alerts/month/rule_state.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace gpuward::alerts {
namespace {

// Prometheus' defaults: --rules.alert.for-grace-period and .for-outage-tolerance.
constexpr seconds kGracePeriod = std::chrono::minutes(10);
constexpr seconds kOutageTolerance = std::chrono::hours(1);

class Alert {
 public:
  Alert(const RuleTimes& times, const Evaluations& evaluations)
      : times_(times), step_(evaluations.step), resend_delay_(evaluations.resend_delay) {}

  void evaluate(seconds at, bool is_active) {
    if (is_active) {
      begin(at);
    } else {
      end(at);
    }
    if (state_ == State::kPending && at - active_at_ >= times_.hold) fire(at);
    if (state_ == State::kFiring && at - last_sent_ > resend_delay_) last_sent_ = at;
    if (state_ != State::kInactive) last_seen_ = at;
    restore(at);
  }

  // After a restart Prometheus has only ALERTS_FOR_STATE; Alertmanager keeps the last alerts that
  // it received for a while.
  void restart() {
    if (state_ == State::kFiring) close(last_sent_ + 4 * std::max(step_, resend_delay_));
    if (state_ != State::kInactive && times_.hold >= kGracePeriod) restorable_ = active_at_;
    last_seen_before_ = last_seen_;
    state_ = State::kInactive;
    keep_since_.reset();
    is_first_ = true;
  }

  [[nodiscard]] bool is_idle() const { return state_ == State::kInactive && !is_first_; }

  [[nodiscard]] std::vector<Span> spans(seconds end) && {
    if (state_ == State::kFiring) close(end);
    return std::move(spans_);
  }

 private:
  enum class State : std::uint8_t { kInactive, kPending, kFiring };

  void begin(seconds at) {
    keep_since_.reset();
    if (state_ != State::kInactive) return;
    state_ = State::kPending;
    active_at_ = at;
  }
  void end(seconds at) {
    if (state_ == State::kFiring && times_.keep > seconds::zero()) {
      if (!keep_since_) keep_since_ = at;
      if (at - *keep_since_ < times_.keep) return;
    }
    if (state_ == State::kFiring) close(at);
    state_ = State::kInactive;
    keep_since_.reset();
  }
  void fire(seconds at) {
    state_ = State::kFiring;
    last_sent_ = at;
    fired_at_ = at;
    // Alertmanager has not noticed that Prometheus was down.
    if (!spans_.empty() && spans_.back().to >= at) {
      fired_at_ = spans_.back().from;
      spans_.pop_back();
    }
  }
  void close(seconds at) { spans_.push_back({fired_at_, at}); }

  // Runs after the first evaluation of a restarted Prometheus.
  void restore(seconds at) {
    if (!is_first_) return;
    is_first_ = false;
    const auto before = std::exchange(restorable_, std::nullopt);
    if (!before || state_ == State::kInactive || at - last_seen_before_ > kOutageTolerance) {
      return;
    }
    const seconds remaining = times_.hold - (last_seen_before_ - *before);
    if (remaining <= seconds::zero()) {
      active_at_ = *before;
    } else if (remaining < kGracePeriod) {
      active_at_ = at + kGracePeriod - times_.hold;
    } else {
      active_at_ = *before + (at - last_seen_before_);
    }
  }

  RuleTimes times_;
  seconds step_, resend_delay_;
  State state_ = State::kInactive;
  seconds active_at_{}, fired_at_{}, last_sent_{}, last_seen_{}, last_seen_before_{};
  std::optional<seconds> keep_since_, restorable_;
  bool is_first_ = false;
  std::vector<Span> spans_;
};

}  // namespace

bool AlertHistory::fires(seconds at) const {
  return std::ranges::any_of(firing, [at](const Span& span) { return span.contains(at); });
}

std::vector<Span> firing_spans(const std::vector<seconds>& active, const RuleTimes& times,
                               const Evaluations& evaluations) {
  Alert alert(times, evaluations);
  const std::set<seconds> results(active.begin(), active.end());
  auto outage = evaluations.outages.begin();
  auto next = results.begin();
  if (next == results.end()) return {};
  for (seconds at = *next; at < evaluations.end; at += evaluations.step) {
    bool is_up = true;
    while (outage != evaluations.outages.end() && outage->to <= at) {
      alert.restart();
      ++outage;
    }
    if (outage != evaluations.outages.end() && outage->contains(at)) is_up = false;
    while (next != results.end() && *next < at) ++next;
    const bool is_active = next != results.end() && *next == at;
    if (is_up) alert.evaluate(at, is_active);
    if (next == results.end() && alert.is_idle()) break;
    // Nothing happens until the next result.
    if (is_up && !is_active && alert.is_idle() && next != results.end())
      at = *next - evaluations.step;
  }
  return std::move(alert).spans(evaluations.end);
}

}  // namespace gpuward::alerts
