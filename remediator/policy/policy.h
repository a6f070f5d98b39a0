// What the operator wants done about which severity, and to whom nothing may be done. Read from the
// YAML file of --config.file; an immutable value afterwards. Used by every decision.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/kube/objects.h"
#include "core/model/result.h"
#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/policy/step.h"

namespace gpuward::remediator {

struct Exclusions {
  std::set<std::string> nodes;
  std::vector<std::string> labels;  // "key" or "key=value"
  bool control_plane = true;        // nodes of the control plane
};

struct ReturnToService {
  bool enabled = false;
  std::chrono::milliseconds max_report_age{60'000};
};

struct Policy {
  Mode mode = Mode::kObserve;
  // What is done at each severity, in order. Monitor is recorded, never acted on.
  std::map<Severity, std::vector<Step>> steps = {
      {Severity::kReset, {Step::kTaint, Step::kCordon}},
      {Severity::kReboot, {Step::kTaint, Step::kCordon}},
      {Severity::kIsolate, {Step::kTaint, Step::kCordon}},
  };
  Exclusions excluded;
  ReturnToService return_to_service;
};

// Label by which anybody takes a node out of gpuward's hands: `gpuward.dev/managed=false`.
inline constexpr std::string_view kManagedLabel = "gpuward.dev/managed";

// Reads a policy; absent keys keep their defaults. kInvalid with one `file:line: field: what` a
// fault.
[[nodiscard]] Result<Policy> read_policy(const YamlFile& file);

// Why gpuward keeps its hands off this node; nullopt where it does not.
[[nodiscard]] std::optional<std::string> exclusion_of(const Policy& policy, const kube::Node& node);

// The steps of `severity` that the mode lets be taken. `rule` of a Remediation's status names the
// line.
[[nodiscard]] std::vector<Step> steps_for(const Policy& policy, Severity severity);

}  // namespace gpuward::remediator
