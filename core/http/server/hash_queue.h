// The requests that wait for the hash of a password: one hash is computed at a time, so that
// guessing cannot take every core, and only a few requests wait for theirs. The next is that of a
// peer that had the right password before, then that of the peer with the fewest wrong ones; if too
// many wait, the last of that order is refused. Used by the users of basic authentication.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>

namespace gpuward::http {

// What is known about a password. kBusy: it was not looked at.
enum class PasswordOutcome : std::uint8_t { kRight, kWrong, kBusy };

class HashQueue {
 public:
  explicit HashQueue(std::size_t max_waiting = 8,
                     std::chrono::milliseconds max_wait = std::chrono::seconds(2))
      : max_waiting_(max_waiting), max_wait_(max_wait) {}

  // Thread-safe. Calls `is_right` on it when its turn has come. A peer is a peer_key().
  [[nodiscard]] PasswordOutcome run(const std::string& address,
                                    const std::function<bool()>& is_right);

 private:
  using Steady = std::chrono::steady_clock::time_point;
  enum class Turn : std::uint8_t { kWaits, kHasCome, kIsRefused };
  // The lowest has its turn first.
  struct Rank {
    bool is_unknown = true;  // its peer is not among those that were right
    std::size_t wrong = 0;   // passwords of its peer, of late
    auto operator<=>(const Rank&) const = default;
  };
  struct Waiter {
    Rank rank;
    Turn turn = Turn::kWaits;
  };
  struct Peer {
    std::size_t wrong = 0;
    Steady last;
  };

  [[nodiscard]] Rank rank_of(const std::string& peer) const;
  [[nodiscard]] bool wait_for_turn(const std::string& peer);
  void finish(const std::string& peer, bool is_right);

  const std::size_t max_waiting_;
  const std::chrono::milliseconds max_wait_;
  std::mutex mutex_;
  std::condition_variable turns_;
  bool is_taken_ = false;              // guarded by mutex_: a hash is computed, or about to be
  std::list<Waiter*> waiting_;         // guarded by mutex_; oldest first
  std::map<std::string, Peer> peers_;  // guarded by mutex_; those with wrong passwords
  std::list<std::string> right_;       // guarded by mutex_; peers that were right, the latest first
};

}  // namespace gpuward::http
