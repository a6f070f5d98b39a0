// The ledger in the API server: one ConfigMap, read uncached and replaced by compare-and-set, so
// that only one of two replicas gets the last slot. If a call fails, its caller must not act.
//
// begin() creates the ConfigMap once. If it is gone later, its budgets are not unspent: every read
// and change is then an error (kNotFound) until begin() has created it again from the records of
// the Remediations (rebuilt() of ledger_upkeep, which opens the circuit breaker if there is
// anything to rebuild).
//
// The ConfigMap also counts its writes. If that count goes back, etcd was restored from a backup,
// and the restored ledger lacks the use since then: every read and change is an error (kGone) until
// accept_restored(). A process that started after the restore cannot notice it.
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
  std::function<void()> on_made = {};  // a new one was created; on the thread of begin()
  // The write count has gone back; called on the thread that reads it.
  std::function<void(const std::string& why)> on_went_back = {};
};

// How often the ConfigMap with that UID was written.
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
  // Changes the current ledger, or leaves it unchanged and returns why. May be called several
  // times, also on the thread of another change(): it must capture nothing that this would break,
  // and must not call the store. If it throws, it has changed nothing (kInternal).
  using Change = std::function<Status(Ledger&)>;

  // `api` and `clock` must outlive it.
  LedgerStore(kube::Api& api, LedgerPlace place, Clock& clock, LedgerJitter jitter = {})
      : api_(api), place_(std::move(place)), clock_(clock), jitter_(jitter) {}

  // kInvalid if it cannot be read to its last entry, kNotFound if it is gone.
  [[nodiscard]] Result<Ledger> read();

  // Returns an error of `change` as it is. kConflict: other writers were faster ten times. After
  // any error of the API server the change may still have been made: repeat it. Also kConflict
  // until this process has first seen a ledger: the first leader may be about to create it.
  [[nodiscard]] Status change(const Change& change, const std::stop_token& stop = {});

  // The ledger as last read or written here; costs no request. nullptr before that.
  [[nodiscard]] std::shared_ptr<const Ledger> last() const;

  // The number of changes that wait for the write that is under way.
  [[nodiscard]] std::size_t waiting();

  // Creates the ledger if there is none, and calls `first` only then. Called when the leader
  // starts, and after a kNotFound. If this process has seen a ledger before, the breaker of the new
  // one is open.
  [[nodiscard]] Status begin(const std::function<Result<Ledger>()>& first);

  // The next change that is written accepts a ledger whose write count went back.
  void accept_restored() { accepts_restored_ = true; }

  // Records that etcd was restored from a backup, noticed at that time: opens the breaker, unless
  // an operator has closed it since.
  [[nodiscard]] Status note_restored(const std::string& why, WallTime noticed);

 private:
  struct Pending {
    const Change* change;
    std::optional<Status> outcome = {};
  };
  struct Stored {
    kube::ConfigMap map;  // without the ledger's own text
    std::shared_ptr<const Ledger> ledger;
    std::uint64_t writes = 0;  // of this ConfigMap, by all replicas
  };
  using Batch = std::vector<Pending*>;

  Result<Stored> load();
  // nullopt: to be repeated on a new read.
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
  // The last write of this process, for the writing thread: it is most likely still current. If it
  // is not, the API server refuses a write that is based on it, and only writes are based on it.
  std::optional<Stored> written_;
};

}  // namespace gpuward::remediator
