// One process that competes for the leadership: carries out the rounds that LeaderState decides,
// and reports at any time whether it leads. It has no thread, so that a simulation can run several;
// LeaderElection adds one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "core/kube/api.h"
#include "core/kube/leader_state.h"
#include "core/model/result.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

struct LeaderOptions {
  std::string ns, name;  // of the Lease
  std::string identity;  // make_leader_identity()
  LeaderTimes times = {};
  std::uint64_t jitter_seed = 0;  // 0: seeded from the system
};

// `<host name>_<16 random hexadecimal digits>`: unique for each process.
[[nodiscard]] std::string make_leader_identity();

class LeaderCandidate {
 public:
  // Api and clock must outlive it. `api` must have no other user: see the head of api.h. A request
  // through it should end within half of the renew deadline, its retries included.
  LeaderCandidate(LeaderOptions options, Api& api, Clock& clock);

  // One thread. Does one round: renews the lease, or takes it if that is allowed. An error comes
  // from the API server; another leader is not an error.
  [[nodiscard]] Status try_to_lead();
  // One thread. Returns the wait until the next round: shorter for the leader.
  [[nodiscard]] std::chrono::milliseconds pause();
  // One thread. Ends the leadership and releases a held lease, so that the next leader need not
  // wait for its expiry. Call it only after all work that needs the lease has ended.
  [[nodiscard]] Status give_back();

  // Any thread; never blocks. A process that was paused does not lead until it has renewed.
  [[nodiscard]] bool is_leader() const { return clock_.steady() < leads_until_.load(); }
  // One thread. The holder of the lease as last seen; empty if there is none.
  [[nodiscard]] const std::string& holder() const { return state_.holder(); }

 private:
  Status run(LeaseRequest request);
  Result<Lease> send(const LeaseRequest& request);

  LeaderOptions options_;
  Api& api_;
  Clock& clock_;
  LeaderState state_;
  Backoff jitter_;
  std::atomic<Clock::Steady> leads_until_{Clock::Steady::min()};
};

}  // namespace gpuward::kube
