// What several keys of the policy take: how far gpuward may go, how bad a finding is, which nodes.
// Used by the readers of this folder.
#pragma once

#include <string>
#include <vector>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"
#include "remediator/model/step.h"

namespace gpuward::remediator {

inline const auto kModeWords = yaml_words<Mode, 4>();
inline constexpr YamlWord<Severity> kSeverityWords[] = {{"isolate", Severity::kIsolate},
                                                        {"reboot", Severity::kReboot},
                                                        {"reset", Severity::kReset},
                                                        {"monitor", Severity::kMonitor}};

// `labels` of nodes, each `key` or `key=value`.
inline void read_node_labels(const YamlMap& map, std::vector<std::string>& out,
                             std::string_view about) {
  map.read("labels", out, about);
  for (const std::string& label : out)
    if (label.empty() || label.front() == '=')
      map.reject("labels", "each entry must be `key` or `key=value`");
}

}  // namespace gpuward::remediator
