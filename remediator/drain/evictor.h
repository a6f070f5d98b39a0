// Sends the removals of all drains: at one rate, with a limited number at a time, each only after a
// call of its permit, and none while the API server wants a pause. Used by the drainer.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/kube/api.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/drain/drain_round.h"
#include "remediator/drain/drain_settings.h"
#include "remediator/drain/token_bucket.h"

namespace gpuward::remediator {

class Evictor {
 public:
  enum class Sending : std::uint8_t {
    kByThreads,  // on its own threads, at most EvictionRate::most_in_flight, created when needed
    kInCalls,    // inside submit() and collect(), as far as the rate allows: for simulations
  };

  // The outcome of the removal of one pod.
  struct Outcome {
    std::string uid;
    Status status;  // kCancelled: not sent, because the permit refused or the node was forgotten
  };

  // `api` and `clock` must outlive it. The destructor drops waiting removals and joins its threads.
  Evictor(kube::Api& api, Clock& clock, const EvictionRate& rate,
          Sending sending = Sending::kByThreads);
  ~Evictor();
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;

  void set_rate(const EvictionRate& rate);
  // Called with a node whose removals have all been answered, on a thread of the evictor. Set it
  // before the first submit().
  void set_on_answered(std::function<void(const std::string& node)> told) {
    on_answered_ = std::move(told);
  }
  // Calls `permit` before every single request, on the thread that sends it. False if this pod's
  // removal already waits or is under way, or if too many wait: try again later.
  [[nodiscard]] bool submit(const std::string& node, const Removal& removal, const Permit& permit);
  // Returns the outcomes of a node's removals since the last call, each once.
  [[nodiscard]] std::vector<Outcome> collect(const std::string& node);
  // Whether a removal on the node waits for its turn, or for its answer.
  [[nodiscard]] bool has_unanswered(const std::string& node);
  // Whether set_on_answered() was called.
  [[nodiscard]] bool tells() const { return on_answered_ != nullptr; }
  // Drops each removal that still waits for the node and that the caller no longer wants; the
  // others count as wanted from now on. Call it at each check of the drain: the evictor does not
  // send a removal that was last wanted more than kWantedFor ago, and its outcome is kCancelled.
  // Returns the UIDs of the dropped pods, for which no outcome follows.
  std::vector<std::string> withdraw(const std::string& node,
                                    const std::function<bool(const Removal&)>& is_wanted);
  // Drops the waiting removals of the node and every outcome that was not collected.
  void forget(const std::string& node);

 private:
  struct QueuedRemoval {
    std::string node;
    Removal removal;
    Permit permit;
    Clock::Steady wanted_at;
  };
  // The removals that wait or are under way.
  struct Unanswered {
    std::set<std::string> uids;
    std::map<std::string, std::size_t> by_node;  // how many of those

    // False: it is there already.
    [[nodiscard]] bool add(const std::string& node, const std::string& uid);
    void settle(const QueuedRemoval& queued);
  };
  using Lock = std::unique_lock<std::mutex>;

  void work(const std::stop_token& stop);
  [[nodiscard]] std::optional<QueuedRemoval> next(const std::stop_token& stop);
  // Under the lock: the next removal if it may go now; otherwise `until` says when to ask again.
  [[nodiscard]] std::optional<QueuedRemoval> take_due(Clock::Steady& until);
  void send_what_is_due();
  void deliver(const QueuedRemoval& queued);
  [[nodiscard]] bool note_answer(const QueuedRemoval& queued, const Status& status);
  void drop_waiting(const std::string& node, const Status& status);

  kube::Api& api_;
  Clock& clock_;
  const Sending sending_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  EvictionRate rate_;
  TokenBucket bucket_;
  Clock::Steady paused_until_{};  // by request of the API server
  std::deque<QueuedRemoval> waiting_;
  Unanswered unanswered_;
  std::function<void(const std::string&)> on_answered_;
  int under_way_ = 0;
  bool is_pacing_ = false;  // one thread waits for the rate, the others for it
  std::map<std::string, std::vector<Outcome>> outcomes_;  // by node, of those not forgotten
  std::vector<std::jthread> threads_;
};

}  // namespace gpuward::remediator
