// Sends the removals of all drains at one common rate, with a limited number at a time. It calls
// the permit before each request, and sends nothing while the API server asks for a pause. Used by
// the drainer. Thread-safe.
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
#include "core/runtime/token_bucket.h"
#include "remediator/act/drain/drain_round.h"
#include "remediator/policy/drain_settings.h"

namespace gpuward::remediator {

class Evictor {
 public:
  enum class Sending : std::uint8_t {
    kByThreads,  // On its own threads, at most EvictionRate::most_in_flight, created when needed.
    kInCalls,    // Inside submit() and collect(), as the rate allows; for simulations.
  };

  // The outcome of the removal of one pod.
  struct Outcome {
    std::string uid;
    Status status;  // kCancelled: not sent, because the permit refused or the node was forgotten.
  };

  // `api` and `clock` must outlive the evictor. The destructor drops waiting removals and joins the
  // threads.
  Evictor(kube::Api& api, Clock& clock, const EvictionRate& rate,
          Sending sending = Sending::kByThreads);
  ~Evictor();
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;

  void set_rate(const EvictionRate& rate);
  // Sets a function that is called, on a thread of the evictor, with a node when all its removals
  // are answered. Must be set before the first submit().
  void set_on_answered(std::function<void(const std::string& node)> told) {
    on_answered_ = std::move(told);
  }
  // Queues the removal. Calls `permit` before every request, on the thread that sends it. Returns
  // false if a removal of this pod already waits or is being sent, or if too many wait; the caller
  // tries again later.
  [[nodiscard]] bool submit(const std::string& node, const Removal& removal, const Permit& permit);
  // Returns the outcomes of a node's removals since the last call, each once.
  [[nodiscard]] std::vector<Outcome> collect(const std::string& node);
  // Returns whether a removal on the node waits for its turn or for its answer.
  [[nodiscard]] bool has_unanswered(const std::string& node);
  // Returns whether set_on_answered() was called.
  [[nodiscard]] bool tells() const { return on_answered_ != nullptr; }
  // Drops each waiting removal of the node that the caller no longer wants. The removals that stay
  // count as wanted from now on. The drain calls it at each check: the evictor does not send a
  // removal that was last wanted more than kWantedFor ago, and reports kCancelled. Returns the UIDs
  // of the dropped pods, for which no outcome follows.
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
  // The removals that wait or are being sent.
  struct Unanswered {
    std::set<std::string> uids;
    std::map<std::string, std::size_t> by_node;  // Number of them for each node.

    // Returns false if the removal is already in the set.
    [[nodiscard]] bool add(const std::string& node, const std::string& uid);
    void settle(const QueuedRemoval& queued);
  };
  using Lock = std::unique_lock<std::mutex>;

  void work(const std::stop_token& stop);
  [[nodiscard]] std::optional<QueuedRemoval> next(const std::stop_token& stop);
  // Requires: mutex_ is held. Returns the next removal if it may be sent now; otherwise sets
  // `until` to the time of the next attempt.
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
  Clock::Steady paused_until_{};  // The API server asked for a pause until then.
  std::deque<QueuedRemoval> waiting_;
  Unanswered unanswered_;
  std::function<void(const std::string&)> on_answered_;
  int under_way_ = 0;
  // One thread waits for the rate, and the other threads wait for this thread.
  bool is_pacing_ = false;
  // Outcomes by node, except for forgotten nodes.
  std::map<std::string, std::vector<Outcome>> outcomes_;
  std::vector<std::jthread> threads_;
};

}  // namespace gpuward::remediator
