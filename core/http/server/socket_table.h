// Which of this process's descriptors is which socket. civetweb keeps its descriptors to itself,
// but a server that must stop within a second and cut slow clients needs them. Used by the server
// only.
#pragma once

#include <sys/socket.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuward::http {

struct Endpoint {
  std::string address;  // numeric
  std::uint16_t port = 0;
  auto operator<=>(const Endpoint&) const = default;
};

[[nodiscard]] Endpoint read_endpoint(const sockaddr_storage& storage);

struct ListeningSocket {
  int descriptor = -1;
  Endpoint local;
};

struct AcceptedSocket {
  int descriptor = -1;
  Endpoint peer;
  auto operator<=>(const AcceptedSocket&) const = default;
};

// All TCP sockets of this process that listen.
[[nodiscard]] std::vector<ListeningSocket> find_listening_sockets();

// The connections that these listeners have accepted.
[[nodiscard]] std::vector<AcceptedSocket> find_accepted_sockets(
    const std::vector<ListeningSocket>& listeners);

// The one of that peer, which is quicker than to find all; -1 if there is none. Nullopt if there
// are several: a client may connect to two addresses of this machine from one port of its own, and
// the answer to one connection must not be written to the other.
[[nodiscard]] std::optional<int> find_accepted_socket(const std::vector<ListeningSocket>& listeners,
                                                      const Endpoint& peer);

// shutdown(2) of a socket that belongs to somebody else. Safe against its descriptor being closed
// and reused meanwhile: works on a duplicate and only if that still has the same peer.
void shut_accepted_socket(const AcceptedSocket& socket, int how);

// How many bytes the peer has sent so far, as the kernel counts them; 0 where it cannot tell.
[[nodiscard]] std::uint64_t bytes_received(int descriptor);

// Bytes have come that the program has not read.
[[nodiscard]] bool has_unread_bytes(int descriptor);

// The peer has closed its side, or the connection is broken.
[[nodiscard]] bool peer_is_gone(int descriptor);

}  // namespace gpuward::http
