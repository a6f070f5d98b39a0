// A TCP client that sends exactly the given bytes, at the given pace, which no decent HTTP client
// does. Used by the tests of the server.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tests/support/deadline.h"

namespace gpuward::http {

struct RawResponse {
  int status = 0;  // 0: none came before the connection ended or the time was up
  std::string head;
  std::string body;

  [[nodiscard]] bool has(std::string_view text) const {
    return head.find(text) != std::string::npos;
  }
};

class RawSocket {
 public:
  using Milliseconds = std::chrono::milliseconds;

  // `own` is the client's own address, of the same family. `own_port` 0 means any free port.
  explicit RawSocket(int port, const std::string& address = "127.0.0.1",
                     const std::string& own = "127.0.0.1", int own_port = 0);
  ~RawSocket();
  RawSocket(const RawSocket&) = delete;
  RawSocket& operator=(const RawSocket&) = delete;

  [[nodiscard]] int own_port() const;
  bool send(std::string_view bytes);
  // Reads to the end of a response with Content-Length. For others use read_all().
  RawResponse read_response(Milliseconds limit = support::kGenerous, bool has_body = true);
  // Reads until the other side closes or the time is up.
  std::string read_all(Milliseconds limit = support::kGenerous);
  // Reads until `text` has come; false if the other side closed or the time is up.
  bool read_until(std::string_view text, Milliseconds limit = support::kGenerous);
  // Returns whether the other side closes within the time.
  bool is_closed_within(Milliseconds limit = support::kGenerous);
  void close();
  // Sends nothing more, but still reads answers.
  void finish_sending();
  void set_small_receive_buffer();

 private:
  bool receive_some(Milliseconds limit);
  bool receive_before(const support::Deadline& deadline);

  int descriptor_ = -1;
  std::string received_;
  bool is_ended_ = false;
};

// Makes one connection, sends one request, and reads one answer.
[[nodiscard]] RawResponse raw_exchange(int port, std::string_view request);

}  // namespace gpuward::http
