// The ledger in the API server: one ConfigMap, read uncached and replaced by compare-and-set, so
// that of two replicas that want the last slot one gets it. What does not end well changes nothing
// and is the caller's reason to stop.
//
// The ConfigMap is made once, by begin(). If it is gone later, its budgets are not unspent: every
// read and change is then an error (kNotFound) until begin() has made it anew from what the
// Remediations record (ledger_upkeep's rebuilt, which opens the circuit breaker where there is
// anything to rebuild).
//
// Beside the ledger stands how often it was written. If that goes back, somebody has restored etcd
// from a backup, and what was spent since then is forgotten there: every read and change is an
// error (kGone) until accept_restored(). A process that has started since knows nothing of it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/kube/api.h"
#include "core/runtime/clock.h"
#include "remediator/budgets/ledger.h"

namespace gpuward::remediator {

struct LedgerPlace {
  std::string ns;
  std::string name = "gpuward-ledger";
  std::function<void()> on_made = {};  // a new one was made; on the thread of begin()
  // It has gone back; on the thread of whoever reads it.
  std::function<void(const std::string& why)> on_went_back = {};
};

// How often the ConfigMap of that UID was written.
struct WriteCount {
  std::string uid;
  std::uint64_t writes = 0;
};

// The seed of its waits; 0: from the system.
struct LedgerJitter {
  std::uint64_t seed = 0;
};

// Any thread; one store a process. Changes that come at the same time go into one write.
class LedgerStore {
 public:
  // Makes the next ledger of the one that stands, or leaves it alone and says why. May be called
  // several times, on the thread of another change() too: it captures nothing that this would
  // break, and does not call the store. Where it throws, it has changed nothing (kInternal).
  using Change = std::function<Status(Ledger&)>;

  // `api` and `clock` must outlive it.
  LedgerStore(kube::Api& api, LedgerPlace place, Clock& clock, LedgerJitter jitter = {})
      : api_(api), place_(std::move(place)), clock_(clock), jitter_(jitter) {}

  // kInvalid where it cannot be read to its last entry, kNotFound where it is gone.
  [[nodiscard]] Result<Ledger> read();

  // An error of `change` comes back as it is. kConflict: others were quicker ten times. After any
  // error of the API server the change may have been made all the same: say it again. kConflict is
  // also said until this process has once seen a ledger: who leads first may be about to make it.
  [[nodiscard]] Status change(const Change& change, const std::stop_token& stop = {});

  // As it was last read or written here; costs no request. Null before that.
  [[nodiscard]] std::shared_ptr<const Ledger> last() const;

  // Changes that wait for the write that is under way.
  [[nodiscard]] std::size_t waiting();

  // Makes the ledger where there is none; `first` is asked only then. When the leader starts, and
  // after a kNotFound: where this process has seen one before, its breaker is open.
  [[nodiscard]] Status begin(const std::function<Result<Ledger>()>& first);

  // A ledger that went back is taken as it is by the next change that is written.
  void accept_restored() { accepts_restored_ = true; }

  // etcd was restored from a backup, as was noticed then: opens the breaker, unless an operator has
  // closed it since.
  [[nodiscard]] Status note_restored(const std::string& why, WallTime noticed);

 private:
  struct Pending {
    const Change* change;
    std::optional<Status> outcome = {};
  };
  struct Stored {
    kube::ConfigMap map;  // without the ledger's own text
    std::shared_ptr<const Ledger> ledger;
    std::uint64_t writes = 0;  // of this ConfigMap, by whomever
  };
  using Batch = std::vector<Pending*>;

  Result<Stored> load();
  // Nullopt: it is to be done again on what is read then.
  std::optional<Status> commit_on_last(const Batch& batch, std::vector<Status>& outcomes);
  Status commit_once(const Batch& batch, std::vector<Status>& outcomes);
  Status write(Stored stored, Ledger next);
  [[nodiscard]] std::shared_ptr<const Ledger> known_as(const kube::ConfigMap& map) const;
  void remember(const Stored& stored);
  std::vector<Status> commit(const Batch& batch, const std::stop_token& stop);

  kube::Api& api_;
  const LedgerPlace place_;
  Clock& clock_;
  const LedgerJitter jitter_;
  std::atomic<bool> was_seen_{false}, accepts_restored_{false};

  mutable std::mutex mutex_;
  std::condition_variable done_;
  bool is_writing_ = false;  // one thread writes for all that wait
  Batch waiting_;
  Clock::Steady rest_until_{};  // of the thread that writes
  std::optional<Stored> last_;  // of any thread
  WriteCount most_writes_;      // that this process has seen
  // What this process wrote last, of the thread that writes: most likely it still stands. If it
  // does not, a write that rests on it is refused, and nothing but a write rests on it.
  std::optional<Stored> written_;
};

}  // namespace gpuward::remediator
