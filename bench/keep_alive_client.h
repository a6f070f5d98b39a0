// The smallest HTTP client that can measure a server: one kept connection, one request at a time,
// and the answer by its Content-Length. Used by scrape_bench, so that all peers get the same
// requests.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::bench {

class KeepAliveClient {
 public:
  // Connects to 127.0.0.1. Ends the program with a message on an error: a benchmark with a broken
  // answer is worthless.
  KeepAliveClient(int port, const std::string& path, const std::string& accept_encoding);
  ~KeepAliveClient();
  KeepAliveClient(const KeepAliveClient&) = delete;
  KeepAliveClient& operator=(const KeepAliveClient&) = delete;

  // The time from the request's first byte to the answer's last; nullopt if none came in five
  // seconds.
  std::optional<std::chrono::nanoseconds> get();
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }  // of the last answer
  [[nodiscard]] std::string body() const;

 private:
  void connect();
  [[nodiscard]] bool exchange();  // false if the server has closed the idle connection
  void read_header(std::string_view answer);
  [[nodiscard]] bool is_whole(std::string_view answer) const;

  int port_;
  int socket_ = -1;
  std::string request_;
  std::string answer_;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool is_chunked_ = false;
  bool has_timed_out_ = false;
  bool is_last_ = false;  // the server closes after this answer
};

}  // namespace gpuward::bench
