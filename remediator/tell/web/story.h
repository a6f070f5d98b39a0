// The events of a node under one Remediation, in order: alerts, decisions and actions, and the end.
// For the page of the Remediation. Pure.
#pragma once

#include <map>
#include <string>

#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// Events of the same time are in the order of insertion.
using Story = std::multimap<WallTime, std::string>;

// A repeated step has one event for each time in the record.
[[nodiscard]] Story story_of(const Remediation& remediation);

}  // namespace gpuward::remediator
