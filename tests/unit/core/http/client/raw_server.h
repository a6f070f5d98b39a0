// A server that answers each request with the next of the given texts, valid or not, and records
// the requests. Used by the tests of the client.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace gpuward::http {

class RawServer {
 public:
  enum class Ending : std::uint8_t { kKeep, kClose };  // of a connection after each answer

  explicit RawServer(std::vector<std::string> answers, Ending ending = Ending::kKeep);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  [[nodiscard]] std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] std::string received() const;
  [[nodiscard]] int connections() const { return connections_.load(); }

 private:
  void serve(const std::stop_token& stop);
  void serve_connection(int descriptor, const std::stop_token& stop);

  std::vector<std::string> answers_;
  Ending ending_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  mutable std::mutex mutex_;
  std::string received_;
  std::size_t answered_ = 0;
  std::jthread thread_;
};

}  // namespace gpuward::http
