#include "core/http/server/connections.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include "core/http/server/peer.h"
#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;
using Phase = Connection::Phase;

// How often it looks while every worker is taken.
constexpr milliseconds kTickWhenFull{10};

bool has_handler(const Connection& connection) {
  const Phase phase = connection.phase();
  return phase == Phase::kAnswering || phase == Phase::kWriting;
}

// nullptr for a silent one: no request has come from it yet. It may be in a TLS handshake, or in
// the queue.
Connection* find_in(std::list<Connection>& open, const AcceptedSocket& socket) {
  const auto found = std::ranges::find_if(
      open, [&](const Connection& connection) { return connection.has(socket); });
  return found == open.end() ? nullptr : &*found;
}

}  // namespace

Connections::Connections(const Limits& limits)
    : limits_(limits),
      room_(limits.max_connections),
      watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

Connections::~Connections() = default;

void Connections::watch_listeners(std::vector<ListeningSocket> listeners) {
  const std::lock_guard lock(mutex_);
  listeners_ = std::move(listeners);
}

Connection* Connections::open() {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_.emplace_back();
  connection.enter(Phase::kHead, limits_.read_timeout);
  notice_arrival();
  return &connection;
}

void Connections::expect() {
  const std::lock_guard lock(mutex_);
  notice_arrival();
}

void Connections::notice_arrival() {
  ++arrived_;
  const bool may_be_full = accepted_ + arrived_ >= limits_.max_connections;
  look_now_ = look_now_ || accepted_ == 0 || may_be_full;
  if (look_now_) wake_.notify_all();
}

bool Connections::learn_socket(Connection& connection, const Endpoint& peer) {
  std::vector<ListeningSocket> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
    const auto seen =
        std::ranges::find(silent_, peer, [](const auto& one) -> auto& { return one.first.peer; });
    if (seen != silent_.end() && seen->second.was_cut) {
      connection.cut();
      return false;
    }
  }
  // Others wait for the mutex, and this takes a while.
  const std::optional<int> descriptor = find_accepted_socket(listeners, peer);
  const std::lock_guard lock(mutex_);
  if (!descriptor) {
    connection.cut();
    return false;
  }
  connection.learn_socket(peer, *descriptor);
  if (is_stopping()) connection.shut(SHUT_RDWR);
  return true;
}

bool Connections::must_yield(std::string_view address) {
  if (!is_full()) return false;
  const std::lock_guard lock(mutex_);
  return room_.must_yield(peer_key(address), SystemClock().steady());
}

void Connections::close(Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.remove_if([connection](const Connection& other) { return &other == connection; });
  if (is_stopping()) wake_.notify_all();
}

void Connections::stop(milliseconds grace) {
  std::unique_lock lock(mutex_);
  stopping_.store(true);
  for (const Connection& connection : open_) {
    if (!has_handler(connection)) connection.shut(SHUT_RDWR);
  }
  shut_silent(SHUT_RDWR);
  // A handler that returns notifies no thread, so this checks every few milliseconds.
  const auto end = SystemClock().steady() + grace;
  while (std::ranges::any_of(open_, has_handler) && SystemClock().steady() < end) {
    wake_.wait_for(lock, milliseconds(5));
  }
  // The listeners before the rest, so that nobody is accepted after it. This also wakes civetweb's
  // own thread, which looks at its stop flag every two seconds or when something happens.
  for (const ListeningSocket& listener : listeners_) shutdown(listener.descriptor, SHUT_RDWR);
  for (const Connection& connection : open_) connection.shut(SHUT_RDWR);
  shut_silent(SHUT_RDWR);
}

void Connections::watch(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "http-watch");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (open_.empty() && accepted_ == 0 && arrived_ == 0) {
      wake_.wait(lock, stop, [this] { return arrived_ > 0; });
      continue;
    }
    arrived_ = 0;
    look_now_ = false;
    const std::vector<ListeningSocket> listeners = listeners_;
    // Workers wait for the mutex, and this takes a while.
    lock.unlock();
    const std::vector<AcceptedSocket> sockets = find_accepted_sockets(listeners);
    lock.lock();
    const auto next = look_at(sockets, SystemClock().steady());
    wake_.wait_until(lock, stop, next, [this] { return look_now_; });
  }
}

// Returns the time of the next look.
Connections::Steady Connections::look_at(const std::vector<AcceptedSocket>& sockets, Steady now) {
  accepted_ = sockets.size();
  full_.store(accepted_ >= limits_.max_connections);
  // Deadlines move without a word to this thread, so it never sleeps longer than a fraction of the
  // shortest.
  const auto shortest = std::min(limits_.read_timeout, limits_.write_timeout);
  // Those that came while it collected the sockets are counted twice at most.
  const bool may_be_full = accepted_ + arrived_ >= limits_.max_connections;
  const auto longest_tick = may_be_full ? kTickWhenFull : milliseconds(1'000);
  auto next = now + std::min(std::max(shortest / 4, milliseconds(20)), longest_tick);
  for (Connection& connection : open_) {
    next = std::min(next, connection.look(limits_.read_timeout, now));
  }
  cut_silent(sockets, now);
  if (is_full()) make_room(sockets, now);
  return next;
}

// civetweb's own timeout starts again with each byte, so these are cut from here.
void Connections::cut_silent(const std::vector<AcceptedSocket>& sockets, Steady now) {
  std::map<AcceptedSocket, Silent> still_silent;
  for (const AcceptedSocket& socket : sockets) {
    if (find_in(open_, socket) != nullptr) continue;
    const auto known = silent_.find(socket);
    const Silent one = known == silent_.end() ? Silent{.since = now} : known->second;
    still_silent.emplace(socket, one);
    if (now - one.since >= limits_.read_timeout) shut_accepted_socket(socket, SHUT_RD);
  }
  silent_ = std::move(still_silent);
}

void Connections::shut_silent(int how) {
  for (const AcceptedSocket& socket : find_accepted_sockets(listeners_)) {
    if (find_in(open_, socket) == nullptr) shut_accepted_socket(socket, how);
  }
}

// Every worker is taken. A silent connection with unread bytes waits for a worker, not for its
// peer.
void Connections::make_room(const std::vector<AcceptedSocket>& sockets, Steady now) {
  std::size_t connections = sockets.size();
  std::vector<HeldConnection> held;
  std::vector<const AcceptedSocket*> owners;
  for (const AcceptedSocket& socket : sockets) {
    std::optional<HeldConnection> one;
    if (const Connection* const connection = find_in(open_, socket)) {
      if (connection->was_cut()) --connections;
      one = connection->held(now);
    } else if (const Silent& silent = silent_.at(socket); silent.was_cut) {
      --connections;
    } else if (!has_unread_bytes(socket.descriptor)) {
      const bool is_young = now - silent.since < kYoungFor;
      one = {.peer = peer_key(socket.peer.address),
             .rank = is_young ? WaitRank::kYoung : WaitRank::kNoHead,
             .since = silent.since};
    }
    if (!one) continue;
    held.push_back(*std::move(one));
    owners.push_back(&socket);
  }
  for (const std::size_t chosen : room_.choose(held, connections, now)) {
    const AcceptedSocket& socket = *owners[chosen];
    if (Connection* const connection = find_in(open_, socket)) {
      connection->cut();
    } else {
      silent_.at(socket).was_cut = true;
      shut_accepted_socket(socket, SHUT_RDWR);
    }
  }
}

}  // namespace gpuward::http
