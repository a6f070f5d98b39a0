// The ledger in the API server: one ConfigMap, read without a cache and replaced by
// compare-and-set, so that only one of two replicas gets the last slot. If a call fails, the caller
// must not act.
//
// begin() creates the ConfigMap once. If the ConfigMap disappears later, every read and change
// returns kNotFound until begin() has created it again from the records of the Remediations.
// rebuilt() of ledger_upkeep does that, and opens the circuit breaker if the records contain any
// use.
//
// The ConfigMap also counts its writes. If the count goes back, an operator has restored etcd from
// a backup, and the ledger lacks the use since the backup. Every read and change then returns kGone
// until accept_restored(). A process that started after the restore cannot notice it.
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
#include "remediator/decide/budgets/ledger.h"

namespace gpuward::remediator {

struct LedgerPlace {
  std::string ns;
  std::string name = "gpuward-ledger";
  // Called on the thread of begin() after it has created a new ConfigMap.
  std::function<void()> on_made = {};
  // Called on the reading thread when the write count has gone back.
  std::function<void(const std::string& why)> on_went_back = {};
};

// How often the ConfigMap with this UID was written.
struct WriteCount {
  std::string uid;
  std::uint64_t writes = 0;
};

// The seed of the random waits; 0 takes a seed from the system.
struct LedgerJitter {
  std::uint64_t seed = 0;
};

// Reads and changes the ledger. Any thread may call it; a process has one store. Changes at the
// same time go into one write.
class LedgerStore {
 public:
  // Changes the current ledger, or leaves it unchanged and returns the reason. The store may call
  // it several times, also on the thread of another change(), so it must capture nothing that this
  // would break. It must not call the store. If it throws, the ledger is unchanged, and change()
  // returns kInternal.
  using Change = std::function<Status(Ledger&)>;

  // `api` and `clock` must outlive the store.
  LedgerStore(kube::Api& api, LedgerPlace place, Clock& clock, LedgerJitter jitter = {})
      : api_(api), place_(std::move(place)), clock_(clock), jitter_(jitter) {}

  // Reads the ledger from the API server. Returns kInvalid if an entry cannot be read, kNotFound if
  // the ConfigMap is gone.
  [[nodiscard]] Result<Ledger> read();

  // Applies `change` and writes the ledger. Returns an error of `change` unchanged. kConflict:
  // other writers were faster ten times, or this process has not seen a ledger yet and the first
  // leader may be about to create one. After any other error of the API server the change may have
  // been made; repeat it.
  [[nodiscard]] Status change(const Change& change, const std::stop_token& stop = {});

  // Returns the ledger as this process last read or wrote it; nullptr before that. Sends no
  // request.
  [[nodiscard]] std::shared_ptr<const Ledger> last() const;

  // Returns the number of changes that wait for the current write.
  [[nodiscard]] std::size_t waiting();

  // Creates the ledger if there is none, and calls `first` only then. Called when the leader
  // starts, and after a kNotFound. If this process has seen a ledger before, the breaker of the new
  // ledger is open.
  [[nodiscard]] Status begin(const std::function<Result<Ledger>()>& first);

  // Lets the next written change accept a ledger with a write count that went back.
  void accept_restored() { accepts_restored_ = true; }

  // Records that etcd was restored from a backup, noticed at the time `noticed`. Opens the breaker,
  // unless an operator has closed it since.
  [[nodiscard]] Status note_restored(const std::string& why, WallTime noticed);

 private:
  struct Pending {
    const Change* change;
    std::optional<Status> outcome = {};
  };
  struct Stored {
    kube::ConfigMap map;  // The ConfigMap without the ledger's own text.
    std::shared_ptr<const Ledger> ledger;
    std::uint64_t writes = 0;  // Writes of this ConfigMap by all replicas.
  };
  using Batch = std::vector<Pending*>;

  Result<Stored> load();
  // Returns nullopt if the caller must repeat the commit on a new read.
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
  bool is_writing_ = false;  // One thread writes for all waiting threads.
  Batch waiting_;
  Clock::Steady rest_until_{};  // Used by the writing thread only.
  std::optional<Stored> last_;  // From any thread; needs mutex_.
  WriteCount most_writes_;      // Highest count that this process has seen.
  // The last write of this process, used by the writing thread as the likely current state. If it
  // is outdated, the API server refuses the write.
  std::optional<Stored> written_;
};

}  // namespace gpuward::remediator
