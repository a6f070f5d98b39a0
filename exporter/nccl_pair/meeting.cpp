#include "exporter/nccl_pair/meeting.h"

#include <optional>
#include <utility>

namespace gpuward::exporter::nccl_pair {
namespace {

using std::chrono::seconds;

// The wait between two tries to listen or to connect.
constexpr std::chrono::milliseconds kBetweenTries{500};
// How long an unknown client may delay rank 0; rank 1 waits longer, since rank 0 may serve such
// clients first.
constexpr seconds kForLine{5};
constexpr seconds kForAnswer{20};

// The result of one try; an error of kind kInvalid ends the meeting, others do not.
using Try = Result<Met>;

bool ends_the_meeting(const Error& error) { return error.kind == ErrorKind::kInvalid; }

Greeting greeting_of(const Meeting& meeting, const Nonces& nonces) {
  const Options& options = meeting.options;
  return {.version = kProtocolVersion,
          .nonce = options.rank == 1 ? nonces.of_rank_1 : std::string(),
          .proof = proof_of(options.token, options.rank, nonces),
          .terms = meeting.mine,
          .id = {},
          .refused = {}};
}

std::unexpected<Error> turned_away(std::string why) {
  return fail(ErrorKind::kForbidden, std::move(why));
}

class Listening {
 public:
  explicit Listening(const Meeting& meeting) : meeting_(meeting) {}

  Try next(const Listener& listener, Link::Deadline deadline) {
    auto link = listener.accept(deadline);
    if (!link) return std::unexpected(link.error());
    Nonces nonces{.of_rank_0 = make_nonce(), .of_rank_1 = {}};
    const auto theirs = greeting_from(*link, nonces);
    if (!theirs) return turned_away("the peer is not rank 1: " + theirs.error().message);
    nonces.of_rank_1 = theirs->nonce;
    Greeting answer = greeting_of(meeting_, nonces);
    if (theirs->nonce.empty() || !proves(theirs->proof, meeting_.options.token, 1, nonces)) {
      answer.proof.clear();
      answer.refused = "the token belongs to another pair";
      static_cast<void>(link->send(encode(answer), soon()));
      return turned_away("rank 1 of another pair connected from " + theirs->terms.host);
    }
    answer.refused = difference_of(answer, *theirs);
    if (!answer.refused.empty()) {
      static_cast<void>(link->send(encode(answer), soon()));
      return fail(ErrorKind::kInvalid, answer.refused + " (" + theirs->terms.host + ")");
    }
    if (auto status = take_id(answer); !status) return std::unexpected(status.error());
    return let_in(*std::move(link), answer, theirs->terms);
  }

 private:
  [[nodiscard]] Link::Deadline soon() const { return meeting_.clock.steady() + kForLine; }

  Result<Greeting> greeting_from(Link& link, const Nonces& nonces) const {
    if (auto status = link.send(encode_challenge(nonces.of_rank_0), soon()); !status)
      return std::unexpected(status.error());
    const auto line = link.receive(soon());
    if (!line) return std::unexpected(line.error());
    return decode_greeting(*line);
  }

  Status take_id(Greeting& answer) {
    if (!id_) {
      auto made = meeting_.make_id();
      if (!made) return fail(ErrorKind::kInvalid, made.error().message);
      id_ = *made;
    }
    answer.id = id_;
    return {};
  }

  // Rank 1 may have disconnected while an unknown client was served: only its response shows that
  // it is still there.
  Try let_in(Link link, const Greeting& answer, const Terms& theirs) const {
    if (auto status = link.send(encode(answer), soon()); !status)
      return turned_away("rank 1 connected but did not complete the handshake: " +
                         status.error().message);
    const auto line = link.receive(soon());
    const auto ready = line ? decode_message(*line) : std::unexpected(line.error());
    if (!ready)
      return turned_away("rank 1 connected but did not complete the handshake: " +
                         ready.error().message);
    if (ready->kind != Message::Kind::kReady) return turned_away("rank 1 does not answer");
    return Met{std::move(link), theirs, *answer.id};
  }

  const Meeting& meeting_;
  std::optional<UniqueId> id_;
};

// Rank 0 may serve others first.
Result<std::string> receive_challenge(Link& link, const Clock& clock) {
  const auto line = link.receive(clock.steady() + kForAnswer);
  return line ? decode_challenge(*line) : std::unexpected(line.error());
}

Try go_there(const Meeting& meeting, const Endpoint& endpoint) {
  const auto now = [&] { return meeting.clock.steady(); };
  auto link = Link::connect(endpoint, meeting.clock, now() + kForLine);
  if (!link) return std::unexpected(link.error());
  const auto challenge = receive_challenge(*link, meeting.clock);
  if (!challenge) return turned_away("the peer is not rank 0: " + challenge.error().message);
  const Nonces nonces{.of_rank_0 = *challenge, .of_rank_1 = make_nonce()};
  const Greeting mine = greeting_of(meeting, nonces);
  if (auto status = link->send(encode(mine), now() + kForLine); !status)
    return std::unexpected(status.error());
  const auto line = link->receive(now() + kForAnswer);
  if (!line) return std::unexpected(line.error());
  const auto theirs = decode_greeting(*line);
  if (!theirs) return turned_away("the peer is not rank 0: " + theirs.error().message);
  if (!proves(theirs->proof, meeting.options.token, 0, nonces)) {
    return turned_away(theirs->refused.empty() ? "the peer has the token of another pair"
                                               : "rank 0 refuses: " + theirs->refused);
  }
  if (const std::string why = difference_of(mine, *theirs); !why.empty())
    return fail(ErrorKind::kInvalid, why + " (" + theirs->terms.host + ")");
  if (!theirs->id) return fail(ErrorKind::kInvalid, "rank 0 refuses: " + theirs->refused);
  if (auto status = link->send(encode(Message{}), now() + kForLine); !status)
    return std::unexpected(status.error());
  return Met{*std::move(link), theirs->terms, *theirs->id};
}

}  // namespace

Result<Met> meet(const Meeting& meeting) {
  const auto endpoint = parse_endpoint(meeting.options.address, meeting.options.port);
  if (!endpoint) return std::unexpected(endpoint.error());
  const auto deadline = meeting.clock.steady() + meeting.options.join_timeout;
  std::optional<Listener> listener;
  Listening listening(meeting);
  std::string last = "no peer has connected";
  while (meeting.clock.steady() < deadline) {
    Try tried = fail(ErrorKind::kUnavailable, {});
    if (meeting.options.rank == 1) {
      tried = go_there(meeting, *endpoint);
    } else if (listener) {
      tried = listening.next(*listener, deadline);
    } else if (auto opened = Listener::open(*endpoint, meeting.clock)) {
      listener = *std::move(opened);
      continue;
    } else {
      tried = std::unexpected(opened.error());
    }
    if (tried || ends_the_meeting(tried.error())) return tried;
    const bool is_over = listener && tried.error().kind == ErrorKind::kTimeout;
    if (!is_over && last != tried.error().message) {
      last = tried.error().message;
      meeting.log.info("Peer is not reachable yet", {{"last", last}});
    }
    if (!listener) meeting.clock.sleep_for(kBetweenTries, {});
  }
  const auto waited = std::chrono::duration_cast<seconds>(meeting.options.join_timeout);
  return fail(ErrorKind::kTimeout, "no contact with rank " +
                                       std::to_string(1 - meeting.options.rank) + " within " +
                                       std::to_string(waited.count()) + " s: " + last);
}

}  // namespace gpuward::exporter::nccl_pair
