#include "tests/fakes/kube/faults.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gpuward::fakes {
namespace {

using Named = std::pair<std::string_view, FaultKind>;

constexpr std::array<Named, 15> kNames{{{"delay", FaultKind::kDelay},
                                        {"drop_before", FaultKind::kDropBefore},
                                        {"drop_after", FaultKind::kDropAfter},
                                        {"conflict", FaultKind::kConflict},
                                        {"overloaded", FaultKind::kOverloaded},
                                        {"budget", FaultKind::kBudget},
                                        {"two_budgets", FaultKind::kTwoBudgets},
                                        {"internal_error", FaultKind::kInternalError},
                                        {"unavailable", FaultKind::kUnavailable},
                                        {"failure_inside", FaultKind::kFailureInside},
                                        {"unauthorized", FaultKind::kUnauthorized},
                                        {"forbidden", FaultKind::kForbidden},
                                        {"gone", FaultKind::kGone},
                                        {"cut_stream", FaultKind::kCutStream},
                                        {"expire_stream", FaultKind::kExpireStream}}};

std::string last_segment(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

std::int64_t number_at(const Json& json, const char* key, std::int64_t fallback) {
  const Json& value = member_at(json, key);
  return value.is_number_integer() ? value.get<std::int64_t>() : fallback;
}

Failure budget_refusal() {
  return {429,
          "TooManyRequests",
          "Cannot evict pod as it would violate the pod's disruption budget.",
          {{"causes",
            Json::array({{{"reason", "DisruptionBudget"},
                          {"message",
                           "The disruption budget needs 1 healthy pods and has 1 currently"}}})}}};
}

}  // namespace

std::optional<FaultKind> parse_fault_kind(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &Named::first);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::string_view name_of(FaultKind kind) {
  return std::ranges::find(kNames, kind, &Named::second)->first;
}

std::optional<Failure> failure_of(const Fault& fault, std::string_view path) {
  const std::string name = last_segment(path);
  switch (fault.kind) {
    case FaultKind::kConflict:
      return modified({"", "objects", "Object"}, name).error();
    case FaultKind::kOverloaded:
      return Failure{429,
                     "TooManyRequests",
                     "Too many requests, please try again later.",
                     {{"retryAfterSeconds", fault.retry_after.count()}}};
    case FaultKind::kBudget:
      return budget_refusal();
    case FaultKind::kTwoBudgets:
      return Failure{
          500, "",
          "This pod has more than one PodDisruptionBudget, which the eviction subresource "
          "does not support.",
          nullptr};
    case FaultKind::kInternalError:
      return Failure{500,
                     "InternalError",
                     "Internal error occurred: injected fault",
                     {{"causes", Json::array({{{"message", "injected fault"}}})}}};
    case FaultKind::kUnauthorized:
      return unauthorized().error();
    case FaultKind::kForbidden:
      return Failure{403,
                     "Forbidden",
                     "objects \"" + name + "\" is forbidden: User \"tester\" cannot do that",
                     {{"name", name}, {"kind", "objects"}}};
    case FaultKind::kGone:
      return expired("too old resource version: 1 (2)");
    case FaultKind::kFailureInside:
      return Failure{500, "InternalError", "Internal error occurred: injected fault inside a 201",
                     nullptr};
    case FaultKind::kDelay:
    case FaultKind::kDropBefore:
    case FaultKind::kDropAfter:
    case FaultKind::kUnavailable:
    case FaultKind::kCutStream:
    case FaultKind::kExpireStream:
      break;
  }
  return std::nullopt;
}

std::size_t FaultPlan::add(const Fault& fault) {
  Planned planned{fault, std::regex(fault.method), std::regex(fault.path)};
  const std::lock_guard lock(mutex_);
  planned_.push_back(std::move(planned));
  return planned_.size() - 1;
}

std::optional<Fault> FaultPlan::meet(const std::string& method, const std::string& path) {
  const std::lock_guard lock(mutex_);
  for (Planned& planned : planned_) {
    if (planned.fault.times == 0 || !std::regex_match(method, planned.method) ||
        !std::regex_match(path, planned.path)) {
      continue;
    }
    if (planned.fault.skip > 0) {
      --planned.fault.skip;
      continue;
    }
    if (planned.fault.times > 0) --planned.fault.times;
    ++planned.hits;
    return planned.fault;
  }
  return std::nullopt;
}

std::size_t FaultPlan::hits(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  return number < planned_.size() ? planned_[number].hits : 0;
}

void FaultPlan::clear() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
}

Json FaultPlan::report() const {
  const std::lock_guard lock(mutex_);
  Json all = Json::array();
  for (const Planned& planned : planned_) {
    all.push_back({{"kind", name_of(planned.fault.kind)},
                   {"method", planned.fault.method},
                   {"path", planned.fault.path},
                   {"times_left", planned.fault.times},
                   {"hits", planned.hits}});
  }
  return all;
}

Outcome<Fault> parse_fault(const Json& json) {
  const auto kind = parse_fault_kind(string_at(json, "kind"));
  if (!kind) return bad_request("unknown fault kind \"" + string_at(json, "kind") + "\"");
  Fault fault;
  fault.kind = *kind;
  fault.method = string_at(json, "method", fault.method);
  fault.path = string_at(json, "path", fault.path);
  fault.times = static_cast<int>(number_at(json, "times", fault.times));
  fault.skip = static_cast<int>(number_at(json, "skip", fault.skip));
  fault.delay = std::chrono::milliseconds(number_at(json, "delay_ms", 0));
  fault.retry_after = std::chrono::seconds(number_at(json, "retry_after_seconds", 1));
  fault.after_events = static_cast<std::size_t>(number_at(json, "after_events", 0));
  return fault;
}

}  // namespace gpuward::fakes
