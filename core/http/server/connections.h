// The open connections of a server and the one thread that watches them: it cuts whoever is slower
// than the limits allow, makes room when every worker is held by an idle client, and ends all of
// them at a stop. Used by the server; knows sockets, not HTTP.
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
    kReading,    // a request is coming in: cut after the read timeout
    kAnswering,  // a handler works on it: not cut
    kWriting,    // the answer goes out: cut after the write timeout
    kStreaming,  // an answer that lasts: each piece has the write timeout
  };
  using Steady = std::chrono::steady_clock::time_point;

  // -1 until its first request is here: civetweb tells nothing about a connection before.
  [[nodiscard]] int descriptor() const { return descriptor_.load(); }
  // The watching thread has cut it: what the peer sent is incomplete.
  [[nodiscard]] bool was_cut() const { return was_cut_.load(); }
  // It should have sent a whole request by now.
  [[nodiscard]] bool is_overdue() const;

  void enter(Phase phase, std::chrono::milliseconds allowed);
  // A request's header is here: the body has what is left of the read timeout.
  void begin_request(std::chrono::milliseconds read_timeout);

 private:
  friend class Connections;
  std::atomic<int> descriptor_{-1};
  std::atomic<Phase> phase_{Phase::kReading};
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

  // Once, before the first request: by these the sockets of silent clients are found.
  void watch_listeners(std::vector<ListeningSocket> listeners);

  // Any thread.
  [[nodiscard]] Connection* open();
  // The first time a connection's peer is known. A connection that comes after stop() is shut.
  void learn_socket(Connection& connection, const Endpoint& peer);
  void close(Connection* connection);  // before its descriptor is closed

  [[nodiscard]] bool is_stopping() const { return stopping_.load(); }
  // Shuts every connection but those whose handler works, waits up to `grace` for these, then shuts
  // them and the listeners too. stop civetweb right after.
  void stop(std::chrono::milliseconds grace);

 private:
  using Steady = Connection::Steady;

  void watch(const std::stop_token& stop);
  [[nodiscard]] Steady look_at_all(Steady now);
  void cut_silent(Steady now);
  void shut_silent(int how);
  [[nodiscard]] std::vector<AcceptedSocket> find_silent() const;
  void notice_trickle(Connection& connection, Steady now);
  void make_room(Steady now);
  [[nodiscard]] bool has_working() const;

  const Limits limits_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::list<Connection> open_;                     // oldest first; guarded by mutex_
  bool look_now_ = false;                          // guarded by mutex_
  std::vector<ListeningSocket> listeners_;         // guarded by mutex_
  std::map<AcceptedSocket, Steady> silent_since_;  // guarded by mutex_
  std::jthread watcher_;
};

}  // namespace gpuward::http
