#include "core/http/server/connections.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>

#include "core/http/server/socket_table.h"
#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

// A client that has just been answered may be about to ask again.
constexpr milliseconds kIdleGrace{100};

void shut(const Connection& connection, int how) {
  if (connection.descriptor() >= 0) shutdown(connection.descriptor(), how);
}

}  // namespace

void Connection::enter(Phase phase, milliseconds allowed) {
  deadline_.store(SystemClock().steady() + allowed);
  phase_.store(phase);
}

void Connection::begin_request(milliseconds read_timeout) {
  const auto full = SystemClock().steady() + read_timeout;
  // A request that was seen coming in (the first one, or one that trickled) has used up some of its
  // time.
  const bool seen_coming = phase_.load() == Phase::kReading;
  deadline_.store(seen_coming ? std::min(deadline_.load(), full) : full);
  phase_.store(Phase::kReading);
  requests_.fetch_add(1);
}

bool Connection::is_overdue() const {
  return phase_.load() == Phase::kReading && deadline_.load() <= SystemClock().steady();
}

Connections::Connections(const Limits& limits)
    : limits_(limits), watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

Connections::~Connections() = default;

void Connections::watch_listeners(std::vector<ListeningSocket> listeners) {
  const std::lock_guard lock(mutex_);
  listeners_ = std::move(listeners);
}

Connection* Connections::open() {
  const std::lock_guard lock(mutex_);
  Connection& connection = open_.emplace_back();
  connection.enter(Connection::Phase::kReading, limits_.read_timeout);
  look_now_ = look_now_ || open_.size() == 1 || open_.size() >= limits_.max_connections;
  wake_.notify_all();
  return &connection;
}

void Connections::learn_socket(Connection& connection, const Endpoint& peer) {
  const std::lock_guard lock(mutex_);
  for (const AcceptedSocket& socket : find_accepted_sockets(listeners_)) {
    if (socket.peer == peer) connection.descriptor_.store(socket.descriptor);
  }
  if (is_stopping()) shut(connection, SHUT_RDWR);
}

void Connections::close(Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.remove_if([connection](const Connection& other) { return &other == connection; });
  wake_.notify_all();
}

void Connections::stop(milliseconds grace) {
  std::unique_lock lock(mutex_);
  stopping_.store(true);
  for (const Connection& connection : open_) {
    const auto phase = connection.phase_.load();
    const bool has_handler =
        phase == Connection::Phase::kAnswering || phase == Connection::Phase::kWriting;
    if (!has_handler) shut(connection, SHUT_RDWR);
  }
  shut_silent(SHUT_RDWR);
  // A handler that returns tells nobody, so this looks again every few milliseconds.
  const auto end = SystemClock().steady() + grace;
  while (has_working() && SystemClock().steady() < end) wake_.wait_for(lock, milliseconds(5));
  // The listeners before the rest, so that nobody is accepted after it. This also wakes civetweb's
  // own thread, which looks at its stop flag every two seconds or when something happens.
  for (const ListeningSocket& listener : listeners_) shutdown(listener.descriptor, SHUT_RDWR);
  for (const Connection& connection : open_) shut(connection, SHUT_RDWR);
  shut_silent(SHUT_RDWR);
}

bool Connections::has_working() const {
  return std::ranges::any_of(open_, [](const Connection& connection) {
    const auto phase = connection.phase_.load();
    return phase == Connection::Phase::kAnswering || phase == Connection::Phase::kWriting;
  });
}

void Connections::watch(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "http-watch");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (open_.empty()) {
      wake_.wait(lock, stop, [this] { return !open_.empty(); });
      continue;
    }
    const auto next = look_at_all(SystemClock().steady());
    look_now_ = false;
    wake_.wait_until(lock, stop, next, [this] { return look_now_; });
  }
}

Connections::Steady Connections::look_at_all(Steady now) {
  // Deadlines move without a word to this thread, so it never sleeps longer than a fraction of the
  // shortest.
  const auto shortest = std::min(limits_.read_timeout, limits_.write_timeout);
  const bool is_full = open_.size() >= limits_.max_connections;
  const auto longest_tick = is_full ? kIdleGrace : milliseconds(1'000);
  auto next = now + std::clamp(shortest / 4, milliseconds(20), longest_tick);
  for (Connection& connection : open_) {
    const auto phase = connection.phase_.load();
    if (phase == Connection::Phase::kAnswering || connection.descriptor() < 0) continue;
    if (phase == Connection::Phase::kIdle) notice_trickle(connection, now);
    const auto deadline = connection.deadline_.load();
    if (deadline > now) {
      next = std::min(next, deadline);
    } else if (!connection.was_cut_.exchange(true)) {
      // Half of it, while a request comes in, so that the answer 408 still gets out.
      shut(connection, phase == Connection::Phase::kReading ? SHUT_RD : SHUT_RDWR);
    }
  }
  cut_silent(now);
  if (is_full) make_room(now);
  return next;
}

// Accepted sockets that no request has come from yet, TLS handshakes and the queue included.
std::vector<AcceptedSocket> Connections::find_silent() const {
  std::vector<AcceptedSocket> sockets = find_accepted_sockets(listeners_);
  std::erase_if(sockets, [this](const AcceptedSocket& socket) {
    return std::ranges::any_of(open_, [&](const Connection& connection) {
      return connection.descriptor() == socket.descriptor;
    });
  });
  return sockets;
}

// civetweb's own timeout starts anew with each byte, so these are cut from here.
void Connections::cut_silent(Steady now) {
  std::map<AcceptedSocket, Steady> still_silent;
  for (const AcceptedSocket& socket : find_silent()) {
    const auto known = silent_since_.find(socket);
    const auto since = known == silent_since_.end() ? now : known->second;
    still_silent.emplace(socket, since);
    if (now - since >= limits_.read_timeout) shut_accepted_socket(socket, SHUT_RD);
  }
  silent_since_ = std::move(still_silent);
}

void Connections::shut_silent(int how) {
  for (const AcceptedSocket& socket : find_silent()) shut_accepted_socket(socket, how);
}

// civetweb gives a second request on a connection the whole keep-alive timeout. Bytes that have
// come without a request having begun mean that one is trickling in.
void Connections::notice_trickle(Connection& connection, Steady now) {
  const std::uint32_t requests = connection.requests_.load();
  const std::uint64_t bytes = bytes_received(connection.descriptor());
  if (connection.seen_requests_ != requests) {
    connection.seen_requests_ = requests;
    connection.seen_bytes_ = bytes;
  } else if (bytes > connection.seen_bytes_) {
    auto idle = Connection::Phase::kIdle;
    const auto deadline = std::min(connection.deadline_.load(), now + limits_.read_timeout);
    connection.deadline_.store(deadline);
    connection.phase_.compare_exchange_strong(idle, Connection::Phase::kReading);
  }
}

// Every worker is taken: the clients that only keep a connection alive give way, the oldest first.
void Connections::make_room(Steady now) {
  std::size_t wanted = std::max<std::size_t>(1, limits_.max_connections / 8);
  for (Connection& connection : open_) {
    if (wanted == 0) return;
    if (connection.phase_.load() != Connection::Phase::kIdle || connection.was_cut_.load())
      continue;
    const auto idle_since = connection.deadline_.load() - limits_.keep_alive_timeout;
    if (now - idle_since < kIdleGrace) continue;
    connection.was_cut_.store(true);
    shut(connection, SHUT_RDWR);
    --wanted;
  }
}

}  // namespace gpuward::http
