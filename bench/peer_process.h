// A server to be measured, as a child process that prints its port; ended with the object. Used by
// scrape_bench.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace gpuward::bench {

class PeerProcess {
 public:
  // Runs argv, and waits until its output has `marker` followed by the port's digits. With an empty
  // marker the port is known: waits until it accepts a connection. Ends the program on a failure.
  PeerProcess(std::vector<std::string> argv, const std::string& marker, int known_port = 0);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int port_ = 0;
};

[[nodiscard]] int free_port();

}  // namespace gpuward::bench
