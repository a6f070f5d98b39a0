// Serves texts by path on loopback, in gzip as the exporter does for Prometheus, one connection a
// request, on one thread. It replaces thousands of exporters in rules_bench.
#pragma once

#include <map>
#include <string>
#include <thread>

namespace gpuward::bench {

class PageServer {
 public:
  // By path: "/well". Serves until it is destroyed; exits the program if it cannot.
  explicit PageServer(std::map<std::string, std::string> pages);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  [[nodiscard]] int port() const { return port_; }

 private:
  void serve(const std::stop_token& stop) const;
  void answer(int connection) const;

  std::map<std::string, std::string> pages_;
  int listener_ = -1;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace gpuward::bench
