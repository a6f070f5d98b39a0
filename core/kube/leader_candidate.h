// One process that would like to lead: carries out the rounds that LeaderState decides, and says at
// any time whether it leads. Without a thread of its own, so that a simulation can run several;
// LeaderElection puts one around it.
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

// `<host name>_<16 random hexadecimal digits>`: another one in each process.
[[nodiscard]] std::string make_leader_identity();

class LeaderCandidate {
 public:
  // Api and clock must outlive it. Nobody else uses `api`: see the head of api.h. A request through
  // it should end within half of the renew deadline, its repeats included.
  LeaderCandidate(LeaderOptions options, Api& api, Clock& clock);

  // One thread. One round: renews the lease, or takes it where it may be taken. An error is the API
  // server's; that somebody else leads is none.
  [[nodiscard]] Status try_to_lead();
  // One thread. How long to wait until the next round: shorter for the one who leads.
  [[nodiscard]] std::chrono::milliseconds pause();
  // One thread. Leads no more, and gives the lease back where it has it, so that the next one does
  // not have to wait for its end. Only after all work that needs the lease has ended.
  [[nodiscard]] Status give_back();

  // Any thread; never blocks. A process that was paused does not lead until it has renewed.
  [[nodiscard]] bool is_leader() const { return clock_.steady() < leads_until_.load(); }
  // One thread. Who has the lease, as last seen; empty: nobody.
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
