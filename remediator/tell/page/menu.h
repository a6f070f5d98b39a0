// The menu of all pages that the remediator serves, from any folder: those of the fleet and of the
// runbooks. Pure.
#pragma once

#include <vector>

#include "core/html/page.h"

namespace gpuward::remediator {

// Addresses are relative to the root of the program.
inline std::vector<html::NavLink> site_menu() {
  return {{"", "Fleet"}, {"policy", "Policy"}, {"runbooks", "Runbooks"}, {"metrics", "Metrics"}};
}

}  // namespace gpuward::remediator
