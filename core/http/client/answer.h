// The response of one transfer as it arrives, line by line and piece by piece, with its caps and
// its deadline. Independent of curl. Used by the client's transfers.
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

// The options that stream() has and send() does not.
struct StreamOptions {
  std::chrono::milliseconds idle;
  std::stop_token stop;
  const std::function<bool(std::string_view)>& on_bytes;
};

class ClientAnswer {
 public:
  using Steady = std::chrono::steady_clock::time_point;

  // Collects the body if `stream` is null. Both outlive the answer. The timeout begins now.
  ClientAnswer(const ClientRequest& request, const StreamOptions* stream);

  // Takes a line of the header, the empty one included. Returns false to end the transfer: because
  // of error(), or because the caller of stream() has enough.
  [[nodiscard]] bool take_header(std::string_view line);
  [[nodiscard]] bool take_body(std::string_view bytes);

  // Checks the clock and the stop token; returns the time left, or sets error().
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
