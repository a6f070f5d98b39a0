#include "exporter/nccl_pair/peer.h"

#include <utility>

namespace gpuward::exporter::nccl_pair {
namespace {

constexpr std::chrono::seconds kToSend{5};

}  // namespace

Peer::Peer(Link link, const Clock& clock, Link::Deadline until)
    : link_(std::move(link)), clock_(clock), thread_([this, until] { hear(until); }) {}

Peer::~Peer() { link_.hang_up(); }

void Peer::tell(const Message& message) {
  const std::lock_guard lock(sending_);
  if (!link_.send(encode(message), clock_.steady() + kToSend)) link_.hang_up();
}

bool Peer::has_joined() const {
  const std::lock_guard lock(mutex_);
  return has_joined_;
}

std::optional<SideResult> Peer::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

bool Peer::is_gone() const {
  const std::lock_guard lock(mutex_);
  return is_gone_ && !report_;
}

bool Peer::ended_early() const {
  return report_ ? report_->kind != SideResult::Kind::kMeasured : is_gone_;
}

bool Peer::has_ended_early() const {
  const std::lock_guard lock(mutex_);
  return ended_early();
}

bool Peer::wait_for_join(Link::Deadline deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return has_joined_ || ended_early(); });
}

bool Peer::wait_for_report(Link::Deadline deadline) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline, [&] { return report_ || is_gone_; });
}

bool Peer::take(const Message& message) {
  const std::lock_guard lock(mutex_);
  const bool is_report = message.kind == Message::Kind::kReport;
  const bool is_join = message.kind == Message::Kind::kJoined;
  if (report_ || (is_join && has_joined_) || (!is_join && !is_report)) return false;
  if (is_join) has_joined_ = true;
  // Rejects a report that only a joined side can send from a side that has not joined.
  const bool is_any_time = message.report.kind == SideResult::Kind::kUnknown ||
                           message.report.kind == SideResult::Kind::kGaveUp;
  if (is_report && !has_joined_ && !is_any_time) return false;
  if (is_report) report_ = message.report;
  changed_.notify_all();
  return true;
}

void Peer::hear(Link::Deadline until) {
  for (;;) {
    const auto line = link_.receive(until);
    if (!line) break;
    const auto message = decode_message(*line);
    if (!message || !take(*message)) break;
  }
  const std::lock_guard lock(mutex_);
  is_gone_ = true;
  changed_.notify_all();
}

}  // namespace gpuward::exporter::nccl_pair
