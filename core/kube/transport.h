// One call to the API server with everything that is the same for all calls: headers, deadline, the
// token's renewal after a 401, repeats with jittered back-off, the pause that an overloaded server
// asks for. Inside core/kube only. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "core/http/client/client.h"
#include "core/kube/api.h"
#include "core/model/permit.h"
#include "core/model/result.h"
#include "core/runtime/backoff.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::kube {

inline constexpr std::string_view kJsonBody = "application/json";
// Of an object that is read or written, its metadata alone; a server that cannot answers it whole.
inline constexpr std::string_view kMetadataAlone =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";

// What may be done about an answer that never came or was a 5xx.
enum class Repeat : std::uint8_t {
  kAlways,  // doing it twice is as doing it once, or the answer shows that it is the second time
  kIfNotTaken,  // only where the server said that it did nothing (429)
  kNever,       // nor is a pause of the server waited for: the caller decides each time
};

// kKubernetes: JSON too, and an error that is no Status of Kubernetes is kInternal, because it is
// unknown what answers; but for what proxies say while the server behind them is away or wants a
// login.
enum class Answers : std::uint8_t { kJson, kText, kKubernetes };

struct Call {
  std::string method = "GET";
  // Path and query; an error, of a name that fits into no path, is the answer.
  Result<std::string> target = {};
  std::string body = {};
  std::string_view content_type = kJsonBody;
  std::string_view accepts = kJsonBody;
  Repeat repeat = Repeat::kAlways;
  // Asked before each attempt. Where it refuses, its error is the answer; but where an attempt
  // before may have been carried out, that one's.
  Permit permit = {};
  Answers answers = Answers::kJson;
  std::chrono::milliseconds patience{
      0};  // where the server needs longer than ApiOptions::request_timeout
  std::size_t max_response_bytes = 64U << 20U;
};

struct Answer {
  Json json;  // null for Answers::kText
};

class Transport {
 public:
  Transport(const ApiOptions& options, http::Client& http, Credentials& credentials, Clock& clock);

  // An answer with a status of 2xx that is no failure in disguise; anything else is an error that
  // says what was attempted.
  [[nodiscard]] Result<Answer> send(const Call& call);
  // The same, and what `decode` makes of the answer.
  template <typename Decode>
  [[nodiscard]] auto send(const Call& call, Decode decode) -> decltype(decode(Json())) {
    auto answer = send(call);
    if (!answer) return std::unexpected(std::move(answer.error()));
    return decode(std::move(answer->json));
  }
  // The same, where nothing but its success matters.
  [[nodiscard]] Status send_only(const Call& call);
  // A GET whose answer lasts; opened once, again after a 401 that a new token may heal.
  [[nodiscard]] Status stream(const std::string& target, std::chrono::milliseconds idle,
                              std::stop_token stop,
                              const std::function<bool(std::string_view)>& on_bytes);

  // A seed for something random; every call another one, the same row for the same
  // ApiOptions::jitter_seed.
  [[nodiscard]] std::uint64_t next_seed();

 private:
  using Deadline = Clock::Steady;

  Result<Answer> send_until(const Call& call, Deadline deadline);
  Result<Answer> attempt(const Call& call, const std::string& authorization, Deadline deadline);
  // The authorization to try after `rejected` was answered by 401; "" where there is no other.
  std::string renewed_authorization(const std::string& rejected);
  // Waits for the end of a pause that the server asked for; an error where it lies behind the
  // deadline.
  Status wait_for_pause(Deadline deadline);
  void pause(std::chrono::milliseconds duration);
  [[nodiscard]] http::ClientRequest request_for(const Call& call,
                                                const std::string& authorization) const;

  const ApiOptions options_;
  http::Client& http_;
  Credentials& credentials_;
  Clock& clock_;
  std::atomic<std::uint64_t> seeds_taken_{0};
  std::mutex mutex_;
  Deadline paused_until_{};
};

}  // namespace gpuward::kube
