// The smallest HTTP client that can measure a server: one kept connection, one request at a time,
// the answer read by its Content-Length. Used by scrape_bench, so that all peers are asked in the
// same way.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace gpuward::bench {

class KeepAliveClient {
 public:
  // Of 127.0.0.1. Ends the program with a message where something goes wrong: a benchmark of a
  // broken answer is none.
  KeepAliveClient(int port, const std::string& path, const std::string& accept_encoding);
  ~KeepAliveClient();
  KeepAliveClient(const KeepAliveClient&) = delete;
  KeepAliveClient& operator=(const KeepAliveClient&) = delete;

  // From the request's first byte to the answer's last; nullopt where none has come in five
  // seconds.
  std::optional<std::chrono::nanoseconds> get();
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }  // of the last answer
  [[nodiscard]] std::string body() const;

 private:
  void connect();
  [[nodiscard]] bool exchange();  // false where the server has closed the idle connection
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
