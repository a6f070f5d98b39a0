#include "core/http/server/connections.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <tuple>

#include "core/http/server/socket_table.h"
#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

// A client that has just been answered may be about to ask again, and one that has just come to
// send its head.
constexpr milliseconds kGrace{100};
// How often it looks while every worker is taken.
constexpr milliseconds kTickWhenFull{10};
constexpr std::chrono::seconds kOffencesLast{10};
constexpr std::size_t kMostOffenders = 4096;

void shut(const Connection& connection, int how) {
  if (connection.descriptor() >= 0) shutdown(connection.descriptor(), how);
}

// Among the connections of one peer, the first of these are cut first.
enum class Rank : std::uint8_t { kRefused, kNoHead, kIdle, kNoBody, kDeaf, kYoung };

// nullopt: the server works on it.
std::optional<Rank> rank_of(Connection::Phase phase, Connection::Duration age) {
  using enum Connection::Phase;
  switch (phase) {
    case kLingering:
      return Rank::kRefused;
    case kIdle:
      return age < kGrace ? std::nullopt : std::optional(Rank::kIdle);
    case kHead:
      return age < kGrace ? Rank::kYoung : Rank::kNoHead;
    case kReading:
      return age < kGrace ? Rank::kYoung : Rank::kNoBody;
    case kWriting:
      return age < kGrace ? Rank::kYoung : Rank::kDeaf;
    case kChecking:
    case kAnswering:
    case kStreaming:
      break;
  }
  return std::nullopt;
}

}  // namespace

struct Connections::Candidate {
  AcceptedSocket socket;
  Connection* connection = nullptr;  // none of a silent one
  Rank rank = Rank::kYoung;
  Steady since;
};

void Connection::enter(Phase phase, milliseconds allowed) {
  const auto now = SystemClock().steady();
  deadline_.store(now + allowed);
  since_.store(now);
  phase_.store(phase);
}

void Connection::begin_request(milliseconds read_timeout) {
  const auto now = SystemClock().steady();
  const auto full = now + read_timeout;
  // A request that was seen coming in (the first one, or one that trickled) has used up some of its
  // time.
  const bool seen_coming = phase_.load() == Phase::kHead;
  deadline_.store(seen_coming ? std::min(deadline_.load(), full) : full);
  since_.store(now);
  phase_.store(Phase::kReading);
  requests_.fetch_add(1);
}

bool Connection::is_overdue() const {
  const Phase phase = phase_.load();
  const bool is_coming = phase == Phase::kHead || phase == Phase::kReading;
  return is_coming && deadline_.load() <= SystemClock().steady();
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
  connection.enter(Connection::Phase::kHead, limits_.read_timeout);
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
      connection.was_cut_.store(true);
      return false;
    }
  }
  // Others wait for the mutex, and this takes a while.
  const int descriptor = find_accepted_socket(listeners, peer);
  const std::lock_guard lock(mutex_);
  connection.peer_ = peer;
  connection.descriptor_.store(descriptor);
  if (is_stopping()) shut(connection, SHUT_RDWR);
  return true;
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

Connections::Steady Connections::look_at(const std::vector<AcceptedSocket>& sockets, Steady now) {
  accepted_ = sockets.size();
  full_.store(accepted_ >= limits_.max_connections);
  // Deadlines move without a word to this thread, so it never sleeps longer than a fraction of the
  // shortest.
  const auto shortest = std::min(limits_.read_timeout, limits_.write_timeout);
  const auto longest_tick = is_full() ? kTickWhenFull : milliseconds(1'000);
  const auto tick = std::min(std::max(shortest / 4, milliseconds(20)), longest_tick);
  const auto next = std::min(cut_overdue(now), now + tick);
  cut_silent(sockets, now);
  if (is_full()) make_room(sockets, now);
  return next;
}

// Returns when the next is due.
Connections::Steady Connections::cut_overdue(Steady now) {
  auto next = Steady::max();
  for (Connection& connection : open_) {
    const auto phase = connection.phase_.load();
    const bool is_at_work =
        phase == Connection::Phase::kAnswering || phase == Connection::Phase::kChecking;
    if (is_at_work || connection.descriptor() < 0) continue;
    if (phase == Connection::Phase::kIdle) notice_trickle(connection, now);
    const auto deadline = connection.deadline_.load();
    if (deadline > now) {
      next = std::min(next, deadline);
    } else if (!connection.was_cut_.exchange(true)) {
      // Half of it, while a request comes in, so that the answer 408 still gets out.
      const bool is_coming =
          phase == Connection::Phase::kHead || phase == Connection::Phase::kReading;
      shut(connection, is_coming ? SHUT_RD : SHUT_RDWR);
    }
  }
  return next;
}

// nullptr for a silent one: no request has come from it yet. It may be in a TLS handshake, or in
// the queue.
Connection* Connections::find_open(const AcceptedSocket& socket) {
  const auto found = std::ranges::find_if(open_, [&](const Connection& connection) {
    return connection.descriptor() == socket.descriptor && connection.peer_ == socket.peer;
  });
  return found == open_.end() ? nullptr : &*found;
}

// civetweb's own timeout starts again with each byte, so these are cut from here.
void Connections::cut_silent(const std::vector<AcceptedSocket>& sockets, Steady now) {
  std::map<AcceptedSocket, Silent> still_silent;
  for (const AcceptedSocket& socket : sockets) {
    if (find_open(socket) != nullptr) continue;
    const auto known = silent_.find(socket);
    const Silent one = known == silent_.end() ? Silent{.since = now} : known->second;
    still_silent.emplace(socket, one);
    if (now - one.since >= limits_.read_timeout) shut_accepted_socket(socket, SHUT_RD);
  }
  silent_ = std::move(still_silent);
}

void Connections::shut_silent(int how) {
  for (const AcceptedSocket& socket : find_accepted_sockets(listeners_)) {
    if (find_open(socket) == nullptr) shut_accepted_socket(socket, how);
  }
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
    connection.phase_.compare_exchange_strong(idle, Connection::Phase::kHead);
  }
}

// Every worker is taken: connections are cut until some workers are free.
void Connections::make_room(const std::vector<AcceptedSocket>& sockets, Steady now) {
  std::vector<Candidate> found = candidates(sockets, now);
  std::map<std::string, std::size_t> weights = weigh_peers(found, now);
  const auto weight_of = [&](const Candidate& one) { return weights[one.socket.peer.address]; };
  // A peer with few connections gets the time to send what it has to send.
  std::erase_if(found, [&](const Candidate& one) {
    return one.rank == Rank::kYoung && weight_of(one) <= spare_workers();
  });
  std::size_t wanted = wanted_room(sockets.size());
  if (found.empty() || wanted == 0) return;
  // While others wait for a worker, the peers that have most lose all.
  const std::size_t most = std::ranges::max(found | std::views::transform(weight_of));
  if (sockets.size() > limits_.max_connections && most > 1) {
    wanted -= std::min(wanted, std::erase_if(found, [&](const Candidate& one) {
                         const bool goes = weight_of(one) >= std::max<std::size_t>(2, most / 2);
                         if (goes) cut(one, now);
                         return goes;
                       }));
  }
  for (; wanted > 0 && !found.empty(); --wanted) {
    const auto worst = std::ranges::max_element(found, {}, [&](const Candidate& one) {
      return std::tuple(weight_of(one), -static_cast<int>(one.rank), now - one.since);
    });
    // One at a time: no other peer loses any before it has as many.
    --weights[worst->socket.peer.address];
    cut(*worst, now);
    found.erase(worst);
  }
}

// So many workers are to be free.
std::size_t Connections::spare_workers() const {
  return std::max<std::size_t>(1, limits_.max_connections / 8);
}

// Connections that were cut before are on their way out.
std::size_t Connections::wanted_room(std::size_t accepted) const {
  const auto leaving = static_cast<std::size_t>(
      std::ranges::count_if(open_, [](const Connection& one) { return one.was_cut(); }) +
      std::ranges::count_if(silent_, [](const auto& one) { return one.second.was_cut; }));
  const std::size_t busy = accepted + spare_workers() - std::min(leaving, accepted);
  return busy - std::min(busy, limits_.max_connections);
}

// Those that wait for their peer. A connection with unread bytes waits for a worker.
std::vector<Connections::Candidate> Connections::candidates(
    const std::vector<AcceptedSocket>& sockets, Steady now) {
  std::vector<Candidate> found;
  for (const AcceptedSocket& socket : sockets) {
    Connection* const connection = find_open(socket);
    if (connection == nullptr) {
      const Silent& silent = silent_.at(socket);
      if (silent.was_cut || has_unread_bytes(socket.descriptor)) continue;
      const Rank rank = now - silent.since < kGrace ? Rank::kYoung : Rank::kNoHead;
      found.push_back({.socket = socket, .rank = rank, .since = silent.since});
    } else if (!connection->was_cut()) {
      const Steady since = connection->since_.load();
      const auto rank = rank_of(connection->phase_.load(), now - since);
      if (rank) found.push_back({socket, connection, *rank, since});
    }
  }
  return found;
}

// How many candidates each peer has, and how many it had a moment ago.
std::map<std::string, std::size_t> Connections::weigh_peers(const std::vector<Candidate>& found,
                                                            Steady now) {
  std::erase_if(offences_, [&](const auto& one) { return now - one.second.last > kOffencesLast; });
  if (offences_.size() > kMostOffenders) offences_.clear();
  std::map<std::string, std::size_t> weights;
  for (const Candidate& one : found) ++weights[one.socket.peer.address];
  for (auto& [address, weight] : weights) {
    const auto known = offences_.find(address);
    if (known != offences_.end()) weight += known->second.count;
  }
  return weights;
}

void Connections::cut(const Candidate& candidate, Steady now) {
  if (candidate.connection != nullptr) {
    candidate.connection->was_cut_.store(true);
    shut(*candidate.connection, SHUT_RDWR);
  } else {
    silent_.at(candidate.socket).was_cut = true;
    shut_accepted_socket(candidate.socket, SHUT_RDWR);
  }
  if (candidate.rank == Rank::kIdle) return;
  Offences& offences = offences_[candidate.socket.peer.address];
  ++offences.count;
  offences.last = now;
}

}  // namespace gpuward::http
