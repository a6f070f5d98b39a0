// The open connections of a server and the one thread that watches them: it cuts clients that are
// slower than the limits allow, makes room when every worker is taken, and ends all of them at a
// stop. Used by the server; knows sockets, not HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "core/http/server/connection.h"
#include "core/http/server/room.h"
#include "core/http/server/server.h"
#include "core/http/server/socket_table.h"

namespace gpuward::http {

class Connections {
 public:
  explicit Connections(const Limits& limits);  // starts the watching thread
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  // Once, before the first look: by these the sockets of silent clients are found.
  void watch_listeners(std::vector<ListeningSocket> listeners);

  // Thread-safe.
  [[nodiscard]] Connection* open();
  // A TLS handshake begins: a worker is taken by a connection that may never be open().
  void expect();
  // The first time a connection's peer is known. False: it was cut to make room, or its socket
  // looks like that of another. A connection that comes after stop() is shut.
  bool learn_socket(Connection& connection, const Endpoint& peer);
  void close(Connection* connection);  // before its descriptor is closed

  [[nodiscard]] bool is_stopping() const { return stopping_.load(); }
  // Others wait for a worker: no connection is kept for another request.
  [[nodiscard]] bool is_full() const { return full_.load(); }
  // Others wait for a worker, and the peer of this address has had most worker time: the server
  // waits for no body of it without credentials.
  [[nodiscard]] bool must_yield(std::string_view address);
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

  void watch(const std::stop_token& stop);
  void notice_arrival();
  [[nodiscard]] Steady look_at(const std::vector<AcceptedSocket>& sockets, Steady now);
  void cut_silent(const std::vector<AcceptedSocket>& sockets, Steady now);
  void shut_silent(int how);
  void make_room(const std::vector<AcceptedSocket>& sockets, Steady now);

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
  Room room_;
  std::jthread watcher_;
};

}  // namespace gpuward::http
