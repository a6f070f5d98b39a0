#include "core/http/server/connection.h"

#include <sys/socket.h>

#include <algorithm>

#include "core/http/server/peer.h"
#include "core/runtime/clock.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;
using Phase = Connection::Phase;

bool is_coming(Phase phase) { return phase == Phase::kHead || phase == Phase::kReading; }

// Idle connections cost nothing, because they are cut first; streams last on purpose.
bool is_counted(Phase phase) { return phase != Phase::kIdle && phase != Phase::kStreaming; }

// nullopt: the server works on it.
std::optional<WaitRank> rank_of(Phase phase, bool is_young) {
  switch (phase) {
    case Phase::kLingering:
      return WaitRank::kRefused;
    case Phase::kIdle:
      return is_young ? std::nullopt : std::optional(WaitRank::kIdle);
    case Phase::kHead:
      return is_young ? WaitRank::kYoung : WaitRank::kNoHead;
    case Phase::kReading:
      return is_young ? WaitRank::kYoung : WaitRank::kNoBody;
    case Phase::kWriting:
      return is_young ? WaitRank::kYoung : WaitRank::kDeaf;
    case Phase::kChecking:
    case Phase::kAnswering:
    case Phase::kStreaming:
      break;
  }
  return std::nullopt;
}

}  // namespace

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
  const bool seen_coming = phase() == Phase::kHead;
  deadline_.store(seen_coming ? std::min(deadline_.load(), full) : full);
  since_.store(now);
  is_trusted_.store(false);
  phase_.store(Phase::kReading);
  requests_.fetch_add(1);
}

bool Connection::is_overdue() const {
  return is_coming(phase()) && deadline_.load() <= SystemClock().steady();
}

void Connection::learn_socket(const Endpoint& peer, int descriptor) {
  peer_ = peer;
  descriptor_.store(descriptor);
}

bool Connection::has(const AcceptedSocket& socket) const {
  return descriptor() == socket.descriptor && peer_ == socket.peer;
}

void Connection::shut(int how) const {
  if (descriptor() >= 0) shutdown(descriptor(), how);
}

void Connection::cut() {
  was_cut_.store(true);
  shut(SHUT_RDWR);
}

Connection::Steady Connection::look(milliseconds read_timeout, Steady now) {
  const bool is_at_work = phase() == Phase::kAnswering || phase() == Phase::kChecking;
  if (is_at_work || descriptor() < 0) return Steady::max();
  if (phase() == Phase::kIdle) notice_trickle(read_timeout, now);
  const Phase seen = phase();
  const auto deadline = deadline_.load();
  if (deadline > now) return deadline;
  if (was_cut_.exchange(true)) return Steady::max();
  // Half of it, while a request comes in, so that the answer 408 still gets out.
  shut(is_coming(seen) ? SHUT_RD : SHUT_RDWR);
  return Steady::max();
}

std::optional<HeldConnection> Connection::held(Steady now) const {
  if (was_cut()) return std::nullopt;
  const Steady since = since_.load();
  const Phase seen = phase();
  const bool is_trusted = is_trusted_.load() && seen != Phase::kIdle && now - since < kTrustedFor;
  return HeldConnection{.peer = peer_key(peer_.address),
                        .rank = is_trusted ? std::nullopt : rank_of(seen, now - since < kYoungFor),
                        .since = since,
                        .is_counted = !is_trusted && is_counted(seen)};
}

// civetweb gives a second request on a connection the whole keep-alive timeout. Bytes that have
// come without a request having begun mean that one is trickling in.
void Connection::notice_trickle(milliseconds read_timeout, Steady now) {
  const std::uint32_t requests = requests_.load();
  const std::uint64_t bytes = bytes_received(descriptor());
  if (seen_requests_ != requests) {
    seen_requests_ = requests;
    seen_bytes_ = bytes;
  } else if (bytes > seen_bytes_) {
    auto idle = Phase::kIdle;
    deadline_.store(std::min(deadline_.load(), now + read_timeout));
    phase_.compare_exchange_strong(idle, Phase::kHead);
  }
}

}  // namespace gpuward::http
