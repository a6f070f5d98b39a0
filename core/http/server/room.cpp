#include "core/http/server/room.h"

#include <algorithm>
#include <ranges>
#include <tuple>

namespace gpuward::http {
namespace {

constexpr std::chrono::seconds kOffencesLast{10};
constexpr std::size_t kMostOffenders = 4096;

}  // namespace

Room::Room(std::size_t workers)
    : workers_(workers), spare_(std::max<std::size_t>(1, workers / 8)) {}

std::vector<std::size_t> Room::choose(const std::vector<WaitingConnection>& waiting,
                                      std::size_t connections, Steady now) {
  const std::size_t enough = workers_ - std::min(workers_, spare_);
  if (connections <= enough) return {};
  auto weights = weigh_peers(waiting, now);
  const auto weight_of = [&](std::size_t one) { return weights[waiting[one].peer]; };
  std::vector<std::size_t> left;
  for (std::size_t one = 0; one < waiting.size(); ++one) {
    // A peer with few connections gets the time to send what it has to send.
    const bool has_time = waiting[one].rank == WaitRank::kYoung && weight_of(one) <= spare_;
    if (!has_time) left.push_back(one);
  }
  std::vector<std::size_t> chosen;
  const auto choose_one = [&](std::size_t one) {
    chosen.push_back(one);
    if (waiting[one].rank == WaitRank::kIdle) return;
    Offences& offences = offences_[waiting[one].peer];
    ++offences.count;
    offences.last = now;
  };
  if (left.empty()) return chosen;
  // While others wait for a worker, the peers that have most lose all.
  const std::size_t most = std::ranges::max(left | std::views::transform(weight_of));
  if (connections > workers_ && most > 1) {
    std::erase_if(left, [&](std::size_t one) {
      const bool goes = weight_of(one) >= std::max<std::size_t>(2, most / 2);
      if (goes) choose_one(one);
      return goes;
    });
  }
  while (chosen.size() < connections - enough && !left.empty()) {
    const auto worst = std::ranges::max_element(left, {}, [&](std::size_t one) {
      return std::tuple(weight_of(one), -static_cast<int>(waiting[one].rank),
                        now - waiting[one].since);
    });
    // One at a time: no other peer loses any before it has as many.
    --weights[waiting[*worst].peer];
    choose_one(*worst);
    left.erase(worst);
  }
  return chosen;
}

// How many waiting connections each peer has, and how many it has lost of late.
std::map<std::string, std::size_t> Room::weigh_peers(const std::vector<WaitingConnection>& waiting,
                                                     Steady now) {
  std::erase_if(offences_, [&](const auto& one) { return now - one.second.last > kOffencesLast; });
  if (offences_.size() > kMostOffenders) offences_.clear();
  std::map<std::string, std::size_t> weights;
  for (const WaitingConnection& one : waiting) ++weights[one.peer];
  for (auto& [peer, weight] : weights) {
    const auto known = offences_.find(peer);
    if (known != offences_.end()) weight += known->second.count;
  }
  return weights;
}

}  // namespace gpuward::http
