// Leader election as one candidate can know it from a Lease: its observations, the next write, and
// the time until which it may act. Facts: client-go tools/leaderelection. It only decides;
// LeaderCandidate sends the requests. Clocks of other machines are never compared: a lease has
// expired if it was not written for its duration by this process's steady clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

// The defaults of client-go. lease > renew_deadline > 1.2 * retry must hold. Between renew_deadline
// and lease there is no leader, so that the old leader's requests end before the next leader
// begins.
struct LeaderTimes {
  std::chrono::seconds lease{15};
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry{2'000};
};

struct LeaseRequest {
  enum class Kind : std::uint8_t { kRead, kCreate, kUpdate };
  Kind kind = Kind::kRead;
  Lease lease = {};  // what to write; empty for kRead
};

// The time when a request was sent and the time when its response arrived.
struct LeaseMoment {
  Clock::Steady asked, answered;
  Clock::Wall wall;
};

// One thread. A round is begin(), then take() for each response until it returns no more requests.
class LeaderState {
 public:
  // `identity` must be unique for each process.
  LeaderState(std::string ns, std::string name, std::string identity, LeaderTimes times = {});

  // Returns the first request of a round: a renewal if this process surely holds the lease, else a
  // read.
  [[nodiscard]] LeaseRequest begin(Clock::Wall wall);
  // Evaluates the response to `request`; returns the next request of this round, or nullopt if the
  // round is over.
  [[nodiscard]] std::optional<LeaseRequest> take(const LeaseRequest& request,
                                                 const Result<Lease>& answer, LeaseMoment moment);
  // Ends the leadership permanently. Returns the first request of the round that releases the
  // lease; nullopt if this process does not hold it.
  [[nodiscard]] std::optional<LeaseRequest> give_back(Clock::Wall wall);

  // This process leads while the steady clock is before it: renew_deadline after the last
  // successful renewal was sent.
  [[nodiscard]] Clock::Steady leads_until() const { return leads_until_; }
  // As last seen; empty if there is none.
  [[nodiscard]] const std::string& holder() const { return seen_.holder; }

 private:
  [[nodiscard]] bool is_ours() const { return seen_.holder == identity_ && is_of_ours_; }
  [[nodiscard]] bool is_our_write(const Lease& lease) const;
  [[nodiscard]] bool may_be_taken(Clock::Steady now) const;
  void observe(const Lease& lease, Clock::Steady at);
  void step_down() { leads_until_ = Clock::Steady::min(); }
  [[nodiscard]] std::optional<LeaseRequest> after_read(const Result<Lease>& answer,
                                                       LeaseMoment moment);
  [[nodiscard]] std::optional<LeaseRequest> after_write(const Result<Lease>& answer,
                                                        LeaseMoment moment);
  [[nodiscard]] LeaseRequest writing(Clock::Wall wall) const;
  [[nodiscard]] LeaseRequest releasing(Clock::Wall wall) const;

  std::string ns_, name_, identity_;
  LeaderTimes times_;
  Lease seen_;
  Clock::Steady seen_at_ = Clock::Steady::min();  // when this version of it was first seen
  Clock::Steady leads_until_ = Clock::Steady::min();
  bool has_read_ = false;   // in this round
  bool is_unsure_ = false;  // whether the last write took effect
  // Whether seen_ is this process's last write. An earlier write under its name comes from a
  // restored backup: another replica may have led since, and may not know yet that it no longer
  // does.
  bool is_of_ours_ = false;
  bool gives_back_ = false;
};

}  // namespace gpuward::kube
