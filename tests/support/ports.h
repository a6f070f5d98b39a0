// A TCP port of 127.0.0.1 that nobody listens on, for programs that cannot pick one themselves (our
// own take port 0 instead). Somebody may take it before the program does: start again then.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace gpuward::support {

[[nodiscard]] inline int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound =
      ::bind(descriptor, generic, length) == 0 && ::getsockname(descriptor, generic, &length) == 0;
  ::close(descriptor);
  return bound ? ntohs(address.sin_port) : 0;
}

}  // namespace gpuward::support
