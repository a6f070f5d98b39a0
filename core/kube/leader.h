// Elects one leader among several replicas by a Lease: a thread acquires, renews and releases it.
// Code that only the leader may run calls is_leader() right before each write.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "core/kube/api.h"
#include "core/kube/leader_candidate.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"

namespace gpuward::kube {

struct LeaderChange {
  bool leads = false;
  std::string holder;  // the current holder of the lease as last seen; empty: none
};

// For logs and metrics; called on the election's thread (the last on_change on that of release()).
// Must be quick; may be empty.
struct LeaderHandlers {
  // May come late if a request hangs; is_leader() is never late.
  std::function<void(const LeaderChange&)> on_change;
  std::function<void(const Error&)> on_error;  // of a round; the next one follows by itself
};

class LeaderElection {
 public:
  // Starts the thread. Api and clock must outlive it; `api` as for LeaderCandidate.
  LeaderElection(LeaderOptions options, Api& api, Clock& clock, LeaderHandlers handlers);
  ~LeaderElection();  // release()
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  // Any thread; never blocks.
  [[nodiscard]] bool is_leader() const { return candidate_.is_leader(); }
  // Stops the thread and releases the lease; takes as long as two or three requests at most. The
  // owner calls it after all guarded work has ended; until then the lease is renewed.
  void release();

 private:
  void run(const std::stop_token& stop);
  void tell_changes();
  void tell(const Status& status);

  Clock& clock_;
  LeaderHandlers handlers_;
  LeaderCandidate candidate_;
  bool told_ = false;  // whether on_change has reported leadership
  std::jthread thread_;
};

}  // namespace gpuward::kube
