// Of several replicas one leads, by a Lease: a thread that takes it, renews it and gives it back.
// What must be done by one replica only asks is_leader() right before each write.
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
  std::string holder;  // who has the lease now, as far as we know; empty: nobody
};

// For logs and metrics, on the election's thread (the last on_change on that of release()). Quick;
// may be empty.
struct LeaderHandlers {
  // May come late, where a request hangs: is_leader() never does.
  std::function<void(const LeaderChange&)> on_change;
  std::function<void(const Error&)> on_error;  // of a round; the next one comes of itself
};

class LeaderElection {
 public:
  // Starts the thread. Api and clock must outlive it; `api` as LeaderCandidate wants it.
  LeaderElection(LeaderOptions options, Api& api, Clock& clock, LeaderHandlers handlers);
  ~LeaderElection();  // release()
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  // Any thread; never blocks.
  [[nodiscard]] bool is_leader() const { return candidate_.is_leader(); }
  // The owner's thread, after all guarded work has ended: until then the lease is renewed. Ends the
  // thread and gives the lease back; takes as long as two or three requests at most.
  void release();

 private:
  void run(const std::stop_token& stop);
  void tell_changes();
  void tell(const Status& status);

  Clock& clock_;
  LeaderHandlers handlers_;
  LeaderCandidate candidate_;
  bool told_ = false;  // that we lead
  std::jthread thread_;
};

}  // namespace gpuward::kube
