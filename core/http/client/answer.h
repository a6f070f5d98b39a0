// The answer of one transfer as it comes in, line by line and piece by piece, with its caps and its
// deadline. Knows nothing of curl. Used by the client's transfers.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/http/client/client.h"

namespace gpuward::http {

// What stream() has and send() has not.
struct StreamOptions {
  std::chrono::milliseconds idle;
  std::stop_token stop;
  const std::function<bool(std::string_view)>& on_bytes;
};

class ClientAnswer {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // `stream` null: collect the body. Both outlive the answer. The time begins now.
  ClientAnswer(const ClientRequest& request, const StreamOptions* stream);

  // A line of the header, the empty one included. False: end the transfer, for error() or because
  // the caller of stream() has enough.
  [[nodiscard]] bool take_header(std::string_view line);
  [[nodiscard]] bool take_body(std::string_view bytes);

  // Looks at the clock and at the stop token; what is left, or an error in error().
  [[nodiscard]] std::chrono::milliseconds time_left();
  void fail_with(Error error) { error_ = std::move(error); }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] bool was_ended_by_caller() const { return was_ended_by_caller_; }
  [[nodiscard]] std::stop_token stop_token() const;
  [[nodiscard]] ClientResponse take() { return std::move(response_); }

 private:
  [[nodiscard]] std::string timeout_text() const;
  void begin_head(std::string_view status_line);
  void end_head();

  const ClientRequest& request_;
  const StreamOptions* stream_;
  Steady deadline_;
  ClientResponse response_;
  std::optional<Error> error_;
  std::size_t header_bytes_ = 0;
  bool has_head_ = false;
  bool was_ended_by_caller_ = false;
};

}  // namespace gpuward::http
