// One call to the API server, with the parts that all calls share: headers, deadline, renewal of
// the token after a 401, retries with jittered back-off, the pause that an overloaded server
// requests. Inside core/kube only. Thread-safe.
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
// Requests only the metadata of an object that is read or written; a server that cannot do this
// returns the whole object.
inline constexpr std::string_view kMetadataAlone =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view kMergePatch = "application/merge-patch+json";
inline constexpr std::string_view kStrategicMergePatch = "application/strategic-merge-patch+json";

// Whether to repeat a call whose response never came or was a 5xx.
enum class Repeat : std::uint8_t {
  kAlways,      // a repeat has the same effect, or its response shows that it is a repeat
  kIfNotTaken,  // only if the server reported that it did nothing (429)
  kNever,       // not even after a pause of the server: the caller decides each time
};

// kKubernetes: JSON too; an error without a Kubernetes Status is kInternal, because the peer is
// unknown. Errors of proxies while the server behind them is away or requires a login are excepted.
enum class Answers : std::uint8_t { kJson, kText, kKubernetes };

struct Call {
  std::string method = "GET";
  // Path and query. An error, such as a name that is invalid in a path, is returned.
  Result<std::string> target = {};
  std::string body = {};
  std::string_view content_type = kJsonBody;
  std::string_view accepts = kJsonBody;
  Repeat repeat = Repeat::kAlways;
  // Asked before each attempt. If it refuses, its error is returned; but if an earlier attempt may
  // have been carried out, the error of that attempt is.
  Permit permit = {};
  Answers answers = Answers::kJson;
  std::chrono::milliseconds patience{
      0};  // if the server needs longer than ApiOptions::request_timeout
  std::size_t max_response_bytes = 64U << 20U;
};

struct Answer {
  Json json;  // null for Answers::kText
};

class Transport {
 public:
  Transport(const ApiOptions& options, http::Client& http, Credentials& credentials, Clock& clock);

  // Returns a response with a status of 2xx and no failure in its body; any other is an error that
  // names the attempted call.
  [[nodiscard]] Result<Answer> send(const Call& call);
  // The same, passed through `decode`.
  template <typename Decode>
  [[nodiscard]] auto send(const Call& call, Decode decode) -> decltype(decode(Json())) {
    auto answer = send(call);
    if (!answer) return std::unexpected(std::move(answer.error()));
    return decode(std::move(answer->json));
  }
  // The same, for callers that need only its success.
  [[nodiscard]] Status send_only(const Call& call);
  // A GET with a lasting response. Opened once, and again after a 401 if there is a new token.
  [[nodiscard]] Status stream(const std::string& target, std::chrono::milliseconds idle,
                              std::stop_token stop,
                              const std::function<bool(std::string_view)>& on_bytes);

  // Returns a random seed, different for every call; the same sequence for the same
  // ApiOptions::jitter_seed.
  [[nodiscard]] std::uint64_t next_seed();

 private:
  using Deadline = Clock::Steady;

  Result<Answer> send_until(const Call& call, Deadline deadline);
  Result<Answer> attempt(const Call& call, const std::string& authorization, Deadline deadline);
  // Returns the authorization to try after a 401 for `rejected`; "" if there is no other.
  std::string renewed_authorization(const std::string& rejected);
  // Waits until the end of a pause that the server requested; an error if it lies beyond the
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
