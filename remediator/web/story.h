// What has happened to a node under one Remediation, in the order in which it happened: alerts,
// what was decided and done, how it ended. For the page of the Remediation. Pure.
#pragma once

#include <string>
#include <vector>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

struct StoryEvent {
  WallTime at;
  std::string text;
};

// The oldest first. A step that was taken anew is told of once for each time that the record knows.
[[nodiscard]] std::vector<StoryEvent> story_of(const Remediation& remediation);

}  // namespace gpuward::remediator
