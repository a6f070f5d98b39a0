// A TCP port for programs that cannot choose one themselves (gpuward's own use port 0 instead).
// Used by every test that starts such a program.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

namespace gpuward::support {

// Reserves `port` among all test programs until this process ends. The reservation is the name of a
// socket, and the kernel keeps those names per network namespace, as it keeps ports: programs of
// another checkout see it too.
[[nodiscard]] inline bool reserve_port(int port) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The leading zero byte makes it a name without a file, gone with its last descriptor.
  const std::string name = std::string(1, '\0') + "gpuward-test-port-" + std::to_string(port);
  std::memcpy(address.sun_path, name.data(), name.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&address), length) == 0) return true;
  ::close(descriptor);
  return false;
}

// Returns `port` if a program could listen on it now, on all addresses, otherwise 0. For port 0 it
// returns a port that the kernel chooses.
[[nodiscard]] inline int port_to_listen_on(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool is_free =
      ::bind(descriptor, generic, length) == 0 && ::getsockname(descriptor, generic, &length) == 0;
  ::close(descriptor);
  return is_free ? ntohs(address.sin_port) : 0;
}

// A port that no other test gets while this process lives. It is below the range that the kernel
// uses for connections and for port 0.
[[nodiscard]] inline int free_port() {
  int lowest_of_kernel = 32'768;
  std::ifstream("/proc/sys/net/ipv4/ip_local_port_range") >> lowest_of_kernel;
  std::random_device chance;
  std::uniform_int_distribution<int> ports(10'000, std::max(10'000, lowest_of_kernel - 1));
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int port = ports(chance);
    if (port < lowest_of_kernel && reserve_port(port) && port_to_listen_on(port) != 0) return port;
  }
  // The kernel's range begins below 10000: it may give such a port to a connection too.
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int port = port_to_listen_on(0);
    if (port != 0 && reserve_port(port)) return port;
  }
  return 0;
}

}  // namespace gpuward::support
