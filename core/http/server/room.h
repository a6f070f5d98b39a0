// Which connections give way when all workers of a server are taken: those that wait for their
// peer, the peer first that has most of them. Pure: time comes in. Used by the connections of a
// server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuward::http {

// Among the connections of one peer, the first of these are cut first.
enum class WaitRank : std::uint8_t { kRefused, kNoHead, kIdle, kNoBody, kDeaf, kYoung };

// A connection that waits for its peer.
struct WaitingConnection {
  std::string peer;  // address
  WaitRank rank = WaitRank::kYoung;
  std::chrono::steady_clock::time_point since;
};

class Room {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  explicit Room(std::size_t workers);

  // The indexes of those to cut. `connections`: all that are open or in the queue, those that were
  // cut before excepted.
  [[nodiscard]] std::vector<std::size_t> choose(const std::vector<WaitingConnection>& waiting,
                                                std::size_t connections, Steady now);

 private:
  // How many connections of a peer were cut of late.
  struct Offences {
    std::size_t count = 0;
    Steady last;
  };

  [[nodiscard]] std::map<std::string, std::size_t> weigh_peers(
      const std::vector<WaitingConnection>& waiting, Steady now);

  const std::size_t workers_;
  const std::size_t spare_;                   // workers that are to be free
  std::map<std::string, Offences> offences_;  // by address
};

}  // namespace gpuward::http
