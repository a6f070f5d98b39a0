// The open connections of a server and the one thread that watches them: it cuts clients that are
// slower than the limits allow, makes room when every worker is taken, and ends all of them at a
// stop. To make room it cuts connections that keep a worker waiting, those of the peer first that
// has most of them. Used by the server; knows sockets, not HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/http/server/server.h"
#include "core/http/server/socket_table.h"

namespace gpuward::http {

class Connections;

// One connection. The phase is set by the connection's own thread, read by the watching one.
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
  using Steady = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  // -1 until its first request is here: civetweb tells nothing about a connection before.
  [[nodiscard]] int descriptor() const { return descriptor_.load(); }
  // The watching thread has cut it: what the peer sent is incomplete.
  [[nodiscard]] bool was_cut() const { return was_cut_.load(); }
  // It should have sent a whole request by now.
  [[nodiscard]] bool is_overdue() const;

  void enter(Phase phase, std::chrono::milliseconds allowed);
  // A request's header is here: the body has what is left of the read timeout.
  void begin_request(std::chrono::milliseconds read_timeout);
  // Between these the server works, not the peer. The deadline stays.
  void begin_check() { phase_.store(Phase::kChecking); }
  void end_check() { phase_.store(Phase::kReading); }

 private:
  friend class Connections;
  std::atomic<int> descriptor_{-1};
  Endpoint peer_;  // guarded by the mutex of Connections
  std::atomic<Phase> phase_{Phase::kHead};
  std::atomic<Steady> since_;  // it has this phase
  std::atomic<Steady> deadline_;
  std::atomic<bool> was_cut_{false};
  std::atomic<std::uint32_t> requests_{0};
  // Of the watching thread alone: what it saw when the connection fell idle.
  std::uint32_t seen_requests_ = 0;
  std::uint64_t seen_bytes_ = 0;
};

class Connections {
 public:
  explicit Connections(const Limits& limits);  // starts the watching thread
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Once, before the first look: by these the sockets of silent clients are found.
  void watch_listeners(std::vector<ListeningSocket> listeners);

  // Any thread.
  [[nodiscard]] Connection* open();
  // A TLS handshake begins: a worker is taken by a connection that may never be open().
  void expect();
  // The first time a connection's peer is known. False: it was cut to make room. A connection that
  // comes after stop() is shut.
  bool learn_socket(Connection& connection, const Endpoint& peer);
  void close(Connection* connection);  // before its descriptor is closed

  [[nodiscard]] bool is_stopping() const { return stopping_.load(); }
  // Others wait for a worker: no connection is kept for another request.
  [[nodiscard]] bool is_full() const { return full_.load(); }
  // Shuts every connection but those whose handler works, waits up to `grace` for these, then shuts
  // them and the listeners too. stop civetweb right after.
  void stop(std::chrono::milliseconds grace);

 private:
  using Steady = Connection::Steady;

  // A connection that no request has come from yet.
  struct Silent {
    Steady since;  // seen so
    bool was_cut = false;
  };
  // How many connections of a peer were cut to make room of late.
  struct Offences {
    std::size_t count = 0;
    Steady last;
  };
  // What may be cut to make room.
  struct Candidate;

  void watch(const std::stop_token& stop);
  void notice_arrival();
  [[nodiscard]] Steady look_at(const std::vector<AcceptedSocket>& sockets, Steady now);
  [[nodiscard]] Steady cut_overdue(Steady now);
  void cut_silent(const std::vector<AcceptedSocket>& sockets, Steady now);
  void shut_silent(int how);
  [[nodiscard]] Connection* find_open(const AcceptedSocket& socket);
  void notice_trickle(Connection& connection, Steady now);
  void make_room(const std::vector<AcceptedSocket>& sockets, Steady now);
  [[nodiscard]] std::size_t spare_workers() const;
  [[nodiscard]] std::size_t wanted_room(std::size_t accepted) const;
  [[nodiscard]] std::vector<Candidate> candidates(const std::vector<AcceptedSocket>& sockets,
                                                  Steady now);
  [[nodiscard]] std::map<std::string, std::size_t> weigh_peers(const std::vector<Candidate>& found,
                                                               Steady now);
  void cut(const Candidate& candidate, Steady now);
  [[nodiscard]] bool has_working() const;

  const Limits limits_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> full_{false};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  // All below are guarded by mutex_.
  std::list<Connection> open_;  // oldest first
  bool look_now_ = false;
  std::size_t accepted_ = 0;  // as the last look has seen
  std::size_t arrived_ = 0;   // since then
  std::vector<ListeningSocket> listeners_;
  std::map<AcceptedSocket, Silent> silent_;
  std::map<std::string, Offences> offences_;  // by address
  std::jthread watcher_;
};

}  // namespace gpuward::http
