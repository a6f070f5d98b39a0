// Reads the stop switch from its ConfigMap: one key that stops every step everywhere. Only a plain
// "false" permits steps; a missing, unreadable or unclear value stops them. Used by
// cluster/gates/stop_switch.
#pragma once

#include <string>
#include <string_view>

#include "core/kube/objects.h"
#include "core/model/result.h"

namespace gpuward::remediator {

struct SwitchPlace {
  std::string ns, config_map;
};

// The ConfigMap, in the namespace of the remediator.
inline constexpr const char* kSwitchName = "gpuward-remediator-switch";
inline constexpr std::string_view kStopKey = "stop";
// The annotation of the ConfigMap that says since when steps are stopped, by whom, and why.
inline constexpr std::string_view kStoppedAnnotation = "gpuward.dev/stopped";

// A value permits steps. Any error is kBlocked; its message says why and how to resume.
[[nodiscard]] Status permission_of(const SwitchPlace& place, const Result<kube::ConfigMap>& read);

}  // namespace gpuward::remediator
