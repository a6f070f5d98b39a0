#include "bench/peer_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace gpuward::bench {
namespace {

constexpr std::chrono::seconds kStartLimit{30};

[[noreturn]] void give_up(const std::string& program, const std::string& output) {
  std::cerr << program << " does not serve: " << output << "\n";
  std::exit(1);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool accepts(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool good =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return good;
}

[[noreturn]] void become(std::vector<std::string>& argv, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : argv) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

// The port after `marker`, once its line has ended.
int port_in(const std::string& output, const std::string& marker) {
  const auto at = output.find(marker);
  if (at == std::string::npos || output.find('\n', at) == std::string::npos) return 0;
  return std::atoi(output.c_str() + at + marker.size());
}

}  // namespace

PeerProcess::PeerProcess(std::vector<std::string> argv, const std::string& marker, int known_port) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) give_up(argv[0], "no pipe");
  pid_ = ::fork();
  // This process stops reading once the port is known, and a full pipe would stop a peer that
  // prints much.
  if (pid_ == 0) become(argv, marker.empty() ? ::open("/dev/null", O_WRONLY) : pipe[1]);
  ::close(pipe[1]);
  output_ = pipe[0];
  std::string output;
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  while (port_ == 0 && std::chrono::steady_clock::now() < deadline) {
    pollfd entry{output_, POLLIN, 0};
    ::poll(&entry, 1, 20);
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(output_, bytes.data(), bytes.size());
    if (got > 0) output.append(bytes.data(), static_cast<std::size_t>(got));
    if (got == 0 && !marker.empty()) break;
    port_ = marker.empty() ? (accepts(known_port) ? known_port : 0) : port_in(output, marker);
  }
  if (port_ == 0) give_up(argv[0], output);
}

PeerProcess::~PeerProcess() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(output_);
}

int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  ::bind(descriptor, reinterpret_cast<sockaddr*>(&address), length);
  ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

}  // namespace gpuward::bench
