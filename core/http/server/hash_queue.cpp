#include "core/http/server/hash_queue.h"

#include <algorithm>

#include "core/http/server/peer.h"
#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

constexpr std::chrono::minutes kRemembered{10};
constexpr std::size_t kMostPeers = 4096;
constexpr std::size_t kMostRight = 64;

}  // namespace

PasswordOutcome HashQueue::run(const std::string& address, const std::function<bool()>& is_right) {
  const std::string peer = peer_key(address);
  if (!wait_for_turn(peer)) return PasswordOutcome::kBusy;
  bool found = false;
  try {
    found = is_right();
  } catch (...) {
    finish(peer, false);
    throw;
  }
  finish(peer, found);
  return found ? PasswordOutcome::kRight : PasswordOutcome::kWrong;
}

HashQueue::Rank HashQueue::rank_of(const std::string& peer) const {
  const auto known = peers_.find(peer);
  return {.is_unknown = std::ranges::find(right_, peer) == right_.end(),
          .wrong = known == peers_.end() ? 0 : known->second.wrong};
}

bool HashQueue::wait_for_turn(const std::string& peer) {
  std::unique_lock lock(mutex_);
  if (!is_taken_) return is_taken_ = true;
  Waiter own{.rank = rank_of(peer)};
  waiting_.push_back(&own);
  if (waiting_.size() > max_waiting_) {
    auto worst = waiting_.begin();  // of several, the one that has come last
    for (auto one = waiting_.begin(); one != waiting_.end(); ++one) {
      if ((*one)->rank >= (*worst)->rank) worst = one;
    }
    (*worst)->turn = Turn::kIsRefused;
    waiting_.erase(worst);
    turns_.notify_all();
  }
  const bool is_decided =
      turns_.wait_for(lock, max_wait_, [&own] { return own.turn != Turn::kWaits; });
  if (!is_decided) waiting_.remove(&own);
  return own.turn == Turn::kHasCome;
}

void HashQueue::finish(const std::string& peer, bool is_right) {
  const std::lock_guard lock(mutex_);
  const auto now = SystemClock().steady();
  if (is_right) {
    peers_.erase(peer);
    right_.remove(peer);
    right_.push_front(peer);
    if (right_.size() > kMostRight) right_.pop_back();
  } else {
    std::erase_if(peers_, [&](const auto& one) { return now - one.second.last > kRemembered; });
    if (peers_.size() >= kMostPeers) peers_.clear();
    Peer& wrong = peers_[peer];
    ++wrong.wrong;
    wrong.last = now;
  }
  const auto next = std::ranges::min_element(waiting_, {}, &Waiter::rank);
  is_taken_ = next != waiting_.end();
  if (!is_taken_) return;
  (*next)->turn = Turn::kHasCome;
  waiting_.erase(next);
  turns_.notify_all();
}

}  // namespace gpuward::http
