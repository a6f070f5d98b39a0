// A TCP connection between the two sides of a pair, in lines of at most kMostMessageBytes, and the
// socket that rank 0 waits at. Every call has a deadline. Used by the meeting and by Peer.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/descriptor.h"

namespace gpuward::exporter::nccl_pair {

// Where rank 0 of a pair listens: an address and a port. Names are refused: both sides must mean
// the same machine.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string text;  // "10.0.0.7:29400", "[fd00::7]:29400"
};

// kInvalid for what is no IPv4 or IPv6 address; `port` is one from 1 to 65535.
[[nodiscard]] Result<Endpoint> parse_endpoint(const std::string& address, int port);

class Link {
 public:
  using Deadline = Clock::Steady;

  // A connected socket that does not block.
  Link(Descriptor socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}

  // kUnavailable where nobody is there, kTimeout where nobody answers.
  [[nodiscard]] static Result<Link> connect(const Endpoint& endpoint, const Clock& clock,
                                            Deadline deadline);

  // One thread at a time.
  [[nodiscard]] Status send(std::string_view line, Deadline deadline) const;
  // Another thread than send()'s may be; one at a time too. Without the line end. kUnavailable
  // where the other side has hung up, kTooLarge where it sends more than a line may have.
  [[nodiscard]] Result<std::string> receive(Deadline deadline);
  // Any thread: ends a receive() that waits.
  void hang_up() const;

 private:
  Descriptor socket_;
  const Clock* clock_;
  std::string received_;
};

class Listener {
 public:
  // kUnavailable where the address is not this machine's or the port is taken.
  [[nodiscard]] static Result<Listener> open(const Endpoint& endpoint, const Clock& clock);

  // The next that comes; kTimeout where nobody does.
  [[nodiscard]] Result<Link> accept(Link::Deadline deadline) const;

 private:
  Listener(Descriptor socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}
  Descriptor socket_;
  const Clock* clock_;
};

}  // namespace gpuward::exporter::nccl_pair
