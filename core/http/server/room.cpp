#include "core/http/server/room.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <tuple>

namespace gpuward::http {
namespace {

constexpr std::chrono::seconds kHalfLife{5};
// More peers than can have kFreeWorkerTime behind them: 64 workers and a queue of 16 give away 80 s
// a second, of which 580 s are remembered.
constexpr std::size_t kMostPeers = 8192;
// Beyond this the workers were not all taken between two counts.
constexpr std::chrono::milliseconds kLongestGap{200};

}  // namespace

Room::Room(std::size_t workers)
    : workers_(workers), spare_(std::max<std::size_t>(1, workers / 8)) {}

std::vector<std::size_t> Room::choose(const std::vector<HeldConnection>& held,
                                      std::size_t connections, Steady now) {
  count(held, now);
  most_.reset();
  const std::size_t enough = workers_ - std::min(workers_, spare_);
  if (connections <= enough) return {};
  std::map<std::string, std::size_t> counts;
  for (const HeldConnection& one : held) ++counts[one.peer];
  std::map<std::string, Duration> weights, shares;
  for (const auto& [peer, of_peer] : counts) {
    weights[peer] = weight_of(peer, now);
    shares[peer] = weights[peer] / static_cast<Duration::rep>(of_peer);
  }
  std::vector<std::size_t> left;
  for (std::size_t one = 0; one < held.size(); ++one) {
    const bool is_used = held[one].rank != WaitRank::kIdle;
    const bool is_spared = is_used && weights[held[one].peer] < kFreeWorkerTime;
    if (held[one].rank && !is_spared) left.push_back(one);
  }
  std::vector<std::size_t> chosen;
  const auto weight = [&](std::size_t one) { return weights[held[one].peer]; };
  // While others wait for a worker, the peers that have had most lose all.
  if (connections > workers_) {
    most_ = kFreeWorkerTime;
    for (const std::size_t one : left) most_ = std::max(*most_, weight(one) / 2);
    std::erase_if(left, [&](std::size_t one) {
      const bool goes = weight(one) >= *most_;
      if (goes) chosen.push_back(one);
      return goes;
    });
  }
  while (chosen.size() < connections - enough && !left.empty()) {
    const auto worst = std::ranges::max_element(left, {}, [&](std::size_t one) {
      return std::tuple(weight(one), -static_cast<int>(*held[one].rank), now - held[one].since);
    });
    // Chosen one at a time: a closed connection lowers the weight of its peer, and the next choice
    // may be of another peer.
    weights[held[*worst].peer] -= shares[held[*worst].peer];
    chosen.push_back(*worst);
    left.erase(worst);
  }
  return chosen;
}

bool Room::must_yield(const std::string& peer, Steady now) const {
  return most_ && weight_of(peer, now) >= *most_;
}

// A connection that is here now is taken to have been here since the last count: short ones are
// seen by chance, as often as they last. At the first count each has its own age.
void Room::count(const std::vector<HeldConnection>& held, Steady now) {
  const bool is_first = !counted_ || now - *counted_ > kLongestGap;
  const Duration passed = is_first ? Duration::zero() : now - *counted_;
  counted_ = now;
  for (const HeldConnection& one : held) {
    if (!one.is_counted) continue;
    WorkerTime& time = times_[one.peer];
    time = {.spent = time.spent_at(now) + (is_first ? now - one.since : passed), .at = now};
  }
  if (times_.size() <= kMostPeers) return;
  std::erase_if(times_,
                [&](const auto& one) { return one.second.spent_at(now) < kFreeWorkerTime; });
}

Room::Duration Room::weight_of(const std::string& peer, Steady now) const {
  const auto known = times_.find(peer);
  return known == times_.end() ? Duration::zero() : known->second.spent_at(now);
}

Room::Duration Room::WorkerTime::spent_at(Steady now) const {
  if (spent == Duration::zero()) return spent;
  const std::chrono::duration<double> passed = now - at;
  const double kept = std::exp2(-passed / std::chrono::duration<double>(kHalfLife));
  return std::chrono::duration_cast<Duration>(spent * kept);
}

}  // namespace gpuward::http
