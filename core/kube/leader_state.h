// Who leads, as one candidate can know it from a Lease: what was observed and when, what to write,
// until when it may act. Facts: client-go tools/leaderelection. Decides only; LeaderCandidate does
// the requests. Clocks of others are never compared: a lease is over when nobody has written it for
// its duration by our own steady clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

// client-go's. lease > renew_deadline > 1.2 * retry must hold. Between renew_deadline and lease
// nobody leads: what the old leader has sent by then is over before the next one begins.
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

// When a request was sent, and when its answer had come.
struct LeaseMoment {
  Clock::Steady asked, answered;
  Clock::Wall wall;
};

// One thread. A round is begin(), then take() for each answer until it asks for nothing more.
class LeaderState {
 public:
  // `identity` must be another one in each process.
  LeaderState(std::string ns, std::string name, std::string identity, LeaderTimes times = {});

  // The first request of a round: a renewal of what we are sure to hold, else a look.
  [[nodiscard]] LeaseRequest begin(Clock::Wall wall);
  // What the answer to `request` means; the next request of this round, nullopt where it is over.
  [[nodiscard]] std::optional<LeaseRequest> take(const LeaseRequest& request,
                                                 const Result<Lease>& answer, LeaseMoment moment);
  // Leads no more, from now on and for good. The first request of the round that gives the lease
  // back; nullopt where it is not ours.
  [[nodiscard]] std::optional<LeaseRequest> give_back(Clock::Wall wall);

  // Leads while the steady clock is before this: renew_deadline after the last renewal that went
  // well was sent.
  [[nodiscard]] Clock::Steady leads_until() const { return leads_until_; }
  // As last seen; empty where there is none.
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
  Clock::Steady seen_at_ = Clock::Steady::min();  // when this version of it was seen first
  Clock::Steady leads_until_ = Clock::Steady::min();
  bool has_read_ = false;   // in this round
  bool is_unsure_ = false;  // whether the last write was done
  // What was seen is of our own last write. One of an earlier write, which bears our name, is from
  // a backup that was restored: another replica may have led since, and not know yet that it does
  // not.
  bool is_of_ours_ = false;
  bool gives_back_ = false;
};

}  // namespace gpuward::kube
