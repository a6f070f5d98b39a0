// Deliberate faults: a plan of faults, each for a number of requests that match. Any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"

namespace gpuward::fakes {

enum class FaultKind {
  kDelay,          // answers after `delay`, without an error
  kDropBefore,     // cuts the connection before it does anything
  kDropAfter,      // does it, then cuts the connection: the answer is lost
  kConflict,       // 409: the object has been modified
  kOverloaded,     // 429 of priority and fairness, with its headers and Retry-After
  kBudget,         // 429 of a PodDisruptionBudget
  kTwoBudgets,     // 500 with an empty reason: more than one PodDisruptionBudget
  kInternalError,  // 500 with reason InternalError
  kUnavailable,    // 503, as a load balancer without a server answers: no Status
  kFailureInside,  // 201 with a Status of failure in it
  kUnauthorized,   // 401
  kForbidden,      // 403
  kGone,           // 410 as an HTTP status
  kCutStream,      // a watch ends in the middle of a line after `after_events` events
  kExpireStream,   // a watch ends with an ERROR event of code 410 after `after_events` events
};

struct Fault {
  FaultKind kind = FaultKind::kInternalError;
  std::string method = ".*";  // regular expressions that match the whole text
  std::string path = ".*";    // decoded, without the query
  int times = 1;              // negative: without an end
  int skip = 0;               // matching requests before it that succeed
  std::chrono::milliseconds delay{0};
  std::chrono::seconds retry_after{1};
  std::size_t after_events = 0;
  // Called for each hit, after the request has taken effect and before the answer.
  std::function<void()> on_hit = {};
};

[[nodiscard]] std::optional<FaultKind> parse_fault_kind(
    std::string_view name);  // "kDropAfter": "drop_after"
[[nodiscard]] std::string_view name_of(FaultKind kind);
// The failure that a client gets; nullopt for kinds that are not a plain failure.
[[nodiscard]] std::optional<Failure> failure_of(const Fault& fault, std::string_view path);

class FaultPlan {
 public:
  // Returns its number, for hits(). A broken regular expression throws std::regex_error.
  std::size_t add(const Fault& fault);
  // The first fault that matches this request; uses it up by one.
  [[nodiscard]] std::optional<Fault> meet(const std::string& method, const std::string& path);
  [[nodiscard]] std::size_t hits(std::size_t number) const;
  void clear();
  [[nodiscard]] Json report() const;

 private:
  struct Planned {
    Fault fault;
    std::regex method, path;
    std::size_t hits = 0;
  };
  mutable std::mutex mutex_;
  std::vector<Planned> planned_;
};

// {"kind":"drop_after","method":"PATCH","path":"/api/v1/nodes/.*","times":2,"delay_ms":0,...}
[[nodiscard]] Outcome<Fault> parse_fault(const Json& json);

}  // namespace gpuward::fakes
