// What the ConfigMap with the switch says: the one key that stops every step everywhere. Only a
// plain "false" lets work go on; whatever is missing, unreadable or unclear stops it. Used by
// gates/stop_switch.
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

// A value: go on. Else kBlocked, always: the message says why and what to do.
[[nodiscard]] Status permission_of(const SwitchPlace& place, const Result<kube::ConfigMap>& read);

}  // namespace gpuward::remediator
