// One connection of a server: its phase, its deadline, and the cut. Used by the
// server; knows sockets, not HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/http/server/room.h"
#include "core/http/server/server.h"
#include "core/http/server/socket_table.h"

namespace gpuward::http {

// The phase is set by the connection's own thread, read by the watching one.
class Connection {
 public:
  enum class Phase : std::uint8_t {
    kIdle,  // between two requests: cut after the keep-alive timeout, or when its worker is needed
    kHead,  // a head is coming in: cut after the read timeout, or when its worker is needed
    kChecking,   // its credentials are checked: not cut
    kReading,    // its body is coming in: as a head
    kAnswering,  // a handler works on it: not cut
    kWriting,    // the answer goes out: cut after the write timeout, or when its worker is needed
    kStreaming,  // an answer that lasts: each piece has the write timeout
    kLingering,  // it was refused and may still send: cut soon, or when its worker is needed
  };
  enum class Credentials : std::uint8_t { kWrong, kRight };
  using Steady = std::chrono::steady_clock::time_point;

  // -1 until its first request is here: civetweb tells nothing about a connection before.
  [[nodiscard]] int descriptor() const { return descriptor_.load(); }
  [[nodiscard]] Phase phase() const { return phase_.load(); }
  // The watching thread has cut it: the request is incomplete.
  [[nodiscard]] bool was_cut() const { return was_cut_.load(); }
  // It should have sent a whole request by now.
  [[nodiscard]] bool is_overdue() const;

  // Its own thread.
  void enter(Phase phase, std::chrono::milliseconds allowed);
  // A request's header is here: the body has what is left of the read timeout.
  void begin_request(std::chrono::milliseconds read_timeout);
  // Between these the server works, not the peer. The deadline stays.
  void begin_check() { phase_.store(Phase::kChecking); }
  // With the right ones it is not cut to make room for kTrustedFor in each phase.
  void end_check(Credentials credentials) {
    is_trusted_.store(credentials == Credentials::kRight);
    phase_.store(Phase::kReading);
  }

  // Under the mutex of Connections.
  void learn_socket(const Endpoint& peer, int descriptor);
  [[nodiscard]] bool has(const AcceptedSocket& socket) const;
  void shut(int how) const;
  void cut();
  // Cuts it if it is overdue; else returns when it will be.
  [[nodiscard]] Steady look(std::chrono::milliseconds read_timeout, Steady now);
  // nullopt: it was cut.
  [[nodiscard]] std::optional<HeldConnection> held(Steady now) const;

 private:
  void notice_trickle(std::chrono::milliseconds read_timeout, Steady now);

  std::atomic<int> descriptor_{-1};
  Endpoint peer_;  // guarded by the mutex of Connections
  std::atomic<Phase> phase_{Phase::kHead};
  std::atomic<Steady> since_;  // it has this phase
  std::atomic<Steady> deadline_;
  std::atomic<bool> was_cut_{false};
  std::atomic<bool> is_trusted_{false};
  std::atomic<std::uint32_t> requests_{0};
  // Only the watching thread uses these: counts when the connection fell idle.
  std::uint32_t seen_requests_ = 0;
  std::uint64_t seen_bytes_ = 0;
};

// A client that has just been answered may be about to ask again, and one that has just come to
// send its head.
inline constexpr std::chrono::milliseconds kYoungFor{100};
// As long as a sender of alerts needs for a body, however many others wait for a worker.
inline constexpr std::chrono::milliseconds kTrustedFor{1'000};

}  // namespace gpuward::http
