// What has happened to a node under one Remediation, in the order in which it happened: alerts,
// what was decided and done, how it ended. For the page of the Remediation. Pure.
#pragma once

#include <map>
#include <string>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// What happened at the same time stands in the order in which it is told.
using Story = std::multimap<WallTime, std::string>;

// A step that was taken anew is told of once for each time that the record knows.
[[nodiscard]] Story story_of(const Remediation& remediation);

}  // namespace gpuward::remediator
