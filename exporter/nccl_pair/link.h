// A TCP connection between the two sides of a pair, in lines of at most kMostMessageBytes, and the
// socket on which rank 0 listens. Every call has a deadline. Used by the meeting and by Peer.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/descriptor.h"

namespace gpuward::exporter::nccl_pair {

// The address and port on which rank 0 of a pair listens. Names are rejected, because both sides
// must mean the same machine.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string text;  // "10.0.0.7:29400", "[fd00::7]:29400"
};

// kInvalid for anything but an IPv4 or IPv6 address; `port` is from 1 to 65535.
[[nodiscard]] Result<Endpoint> parse_endpoint(const std::string& address, int port);

class Link {
 public:
  using Deadline = Clock::Steady;

  // `socket` is connected and does not block.
  Link(Descriptor socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}

  // kUnavailable if no process listens, kTimeout if none responds.
  [[nodiscard]] static Result<Link> connect(const Endpoint& endpoint, const Clock& clock,
                                            Deadline deadline);

  // One thread at a time.
  [[nodiscard]] Status send(std::string_view line, Deadline deadline) const;
  // May be called on another thread than send(), but only on one at a time. Returns a line without
  // its end. kUnavailable if the other side has disconnected, kTooLarge if its line is too long.
  [[nodiscard]] Result<std::string> receive(Deadline deadline);
  // Any thread: ends a waiting receive().
  void hang_up() const;

 private:
  Descriptor socket_;
  const Clock* clock_;
  std::string received_;
};

class Listener {
 public:
  // kUnavailable if the address is not this machine's or the port is in use.
  [[nodiscard]] static Result<Listener> open(const Endpoint& endpoint, const Clock& clock);

  // Returns the next connection; kTimeout if none comes.
  [[nodiscard]] Result<Link> accept(Link::Deadline deadline) const;

 private:
  Listener(Descriptor socket, const Clock& clock) : socket_(std::move(socket)), clock_(&clock) {}
  Descriptor socket_;
  const Clock* clock_;
};

}  // namespace gpuward::exporter::nccl_pair
