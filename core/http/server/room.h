// Which connections give way when all workers of a server are taken: those that wait for their
// peer, first of the peer that has had most worker time of late. Pure: time comes in. Used by the
// connections of a server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::http {

// Among the connections of one peer, the first of these are cut first.
enum class WaitRank : std::uint8_t { kRefused, kNoHead, kIdle, kNoBody, kDeaf, kYoung };

// A connection that has a worker, or gets the next one without having sent anything.
struct HeldConnection {
  std::string peer;              // peer_key() of its address
  std::optional<WaitRank> rank;  // nullopt: it is not cut, the server works on it
  std::chrono::steady_clock::time_point since;
  bool is_counted = true;  // as worker time of its peer
};

class Room {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  explicit Room(std::size_t workers);

  // The indexes of those to cut. `connections`: all that are open or in the queue, those that were
  // cut before excepted. To be called every few milliseconds while all workers are taken.
  [[nodiscard]] std::vector<std::size_t> choose(const std::vector<HeldConnection>& held,
                                                std::size_t connections, Steady now);
  // As the last call of choose() has found it: others wait for a worker, and this peer has had so
  // much worker time that the server does not begin to wait for it.
  [[nodiscard]] bool must_yield(const std::string& peer, Steady now) const;

 private:
  using Duration = std::chrono::steady_clock::duration;

  // How long a peer has had workers, all of them together. Half of it is forgotten in kHalfLife.
  struct WorkerTime {
    Duration spent{};
    Steady at;

    [[nodiscard]] Duration spent_at(Steady now) const;
  };

  void count(const std::vector<HeldConnection>& held, Steady now);
  [[nodiscard]] Duration weight_of(const std::string& peer, Steady now) const;

  const std::size_t workers_;
  const std::size_t spare_;  // workers that are to be free
  std::map<std::string, WorkerTime> times_;
  std::optional<Steady> counted_;  // the last time
  std::optional<Duration> most_;   // worker time of one peer while others wait; else nullopt
};

// A peer that has had less worker time than this of late loses no connection that it uses.
inline constexpr std::chrono::milliseconds kFreeWorkerTime{100};

}  // namespace gpuward::http
