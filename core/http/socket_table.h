// Which of this process's descriptors is which socket. civetweb keeps its descriptors to itself,
// but a server that must stop within a second and cut slow clients needs them. Used by the server
// only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuward::http {

// The connection of that peer that was accepted on `local_port`; -1 where there is none. `peer` is
// a numeric address, as getnameinfo writes it.
[[nodiscard]] int find_accepted_socket(std::string_view peer, std::uint16_t peer_port,
                                       std::uint16_t local_port);

// All TCP sockets that listen, in ascending order.
[[nodiscard]] std::vector<int> find_listening_sockets();

// 0 where the descriptor is not a bound internet socket.
[[nodiscard]] std::uint16_t local_port_of(int descriptor);

// How many bytes the peer has sent so far, as the kernel counts them; 0 where it cannot tell.
[[nodiscard]] std::uint64_t bytes_received(int descriptor);

// The peer has closed its side, or the connection is broken.
[[nodiscard]] bool peer_is_gone(int descriptor);

}  // namespace gpuward::http
