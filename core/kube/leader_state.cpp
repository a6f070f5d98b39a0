#include "core/kube/leader_state.h"

#include <utility>

#include "core/kube/names.h"

namespace gpuward::kube {
namespace {

// Any write counts as a sign of life. client-go compares the record instead, but its times come
// from a wall clock, which may jump back to an earlier value.
bool is_same_version(const Lease& one, const Lease& other) {
  return one.meta.uid == other.meta.uid && one.meta.resource_version == other.meta.resource_version;
}

// Another process has written or deleted the lease since it was read.
bool was_overtaken(ErrorKind kind) {
  return kind == ErrorKind::kConflict || kind == ErrorKind::kAlreadyExists ||
         kind == ErrorKind::kNotFound;
}

}  // namespace

LeaderState::LeaderState(std::string ns, std::string name, std::string identity, LeaderTimes times)
    : ns_(std::move(ns)), name_(std::move(name)), identity_(std::move(identity)), times_(times) {}

LeaseRequest LeaderState::begin(Clock::Wall wall) {
  has_read_ = false;
  return is_ours() && !is_unsure_ ? writing(wall) : LeaseRequest{};
}

std::optional<LeaseRequest> LeaderState::take(const LeaseRequest& request,
                                              const Result<Lease>& answer, LeaseMoment moment) {
  return request.kind == LeaseRequest::Kind::kRead ? after_read(answer, moment)
                                                   : after_write(answer, moment);
}

std::optional<LeaseRequest> LeaderState::give_back(Clock::Wall wall) {
  step_down();
  has_read_ = false;
  gives_back_ = true;
  if (!is_ours()) return std::nullopt;
  return releasing(wall);
}

std::optional<LeaseRequest> LeaderState::after_read(const Result<Lease>& answer,
                                                    LeaseMoment moment) {
  has_read_ = true;
  if (!answer) {
    if (answer.error().kind != ErrorKind::kNotFound) return std::nullopt;
    step_down();
    // The lease was deleted: the old leader may not know yet.
    if (gives_back_ || !may_be_taken(moment.asked)) return std::nullopt;
    seen_ = {};
    LeaseRequest create = writing(moment.wall);
    create.kind = LeaseRequest::Kind::kCreate;
    create.lease.transitions = 0;
    return create;
  }
  is_of_ours_ = is_our_write(*answer);
  observe(*answer, moment.answered);
  if (!is_ours()) step_down();
  if (gives_back_) return is_ours() ? std::optional(releasing(moment.wall)) : std::nullopt;
  // Counts from before the request was sent: rather too late than too early.
  return may_be_taken(moment.asked) ? std::optional(writing(moment.wall)) : std::nullopt;
}

std::optional<LeaseRequest> LeaderState::after_write(const Result<Lease>& answer,
                                                     LeaseMoment moment) {
  if (answer) {
    // The server keeps the version if a write changes nothing (the wall clock has jumped back to
    // the last renewal): other replicas cannot see that as a sign of life.
    const bool is_renewed = !is_same_version(seen_, *answer);
    is_of_ours_ = true;
    observe(*answer, moment.answered);
    // Counts from the sending: others count from when they see it, which is later.
    if (is_renewed && is_ours()) leads_until_ = moment.asked + times_.renew_deadline;
    return std::nullopt;
  }
  is_unsure_ = true;
  if (!was_overtaken(answer.error().kind)) return std::nullopt;  // holds until its deadline
  step_down();
  if (has_read_) return std::nullopt;
  return LeaseRequest{};  // its own write with a lost response, or another replica's: read
}

bool LeaderState::may_be_taken(Clock::Steady now) const {
  if (seen_.holder.empty() || is_ours()) return true;
  const auto lasts =
      seen_.duration_seconds > 0 ? std::chrono::seconds(seen_.duration_seconds) : times_.lease;
  return seen_at_ + lasts <= now;
}

// An operator who labels the lease changes its version, but not its renew time.
bool LeaderState::is_our_write(const Lease& lease) const {
  return is_unsure_ || (is_ours() && lease.renew_time == seen_.renew_time);
}

void LeaderState::observe(const Lease& lease, Clock::Steady at) {
  if (seen_at_ == Clock::Steady::min() || !is_same_version(seen_, lease)) seen_at_ = at;
  seen_ = lease;
  is_unsure_ = false;
}

LeaseRequest LeaderState::writing(Clock::Wall wall) const {
  Lease lease = seen_;
  lease.meta.ns = ns_;
  lease.meta.name = name_;
  lease.renew_time = to_micro_time(wall);
  if (!is_ours()) {
    lease.acquire_time = lease.renew_time;
    ++lease.transitions;
  }
  lease.holder = identity_;
  lease.duration_seconds = static_cast<int>(times_.lease.count());
  return {LeaseRequest::Kind::kUpdate, std::move(lease)};
}

// As client-go leaves it: the next candidate may take it.
LeaseRequest LeaderState::releasing(Clock::Wall wall) const {
  LeaseRequest request = writing(wall);
  request.lease.holder.clear();
  request.lease.duration_seconds = 1;
  request.lease.acquire_time = request.lease.renew_time;
  return request;
}

}  // namespace gpuward::kube
