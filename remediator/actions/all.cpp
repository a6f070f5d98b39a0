#include <algorithm>
#include <array>
#include <cstdlib>

#include "remediator/actions/action.h"
#include "remediator/actions/quarantine_action.h"
#include "remediator/actions/release_action.h"

namespace gpuward::remediator {
namespace {

constinit const std::array<Action, 2> kActions = {{
    {"quarantine", plan_quarantine},
    {"release", plan_release},
}};

}  // namespace

std::span<const Action> all_actions() { return kActions; }

const Action& action(std::string_view name) {
  const auto found = std::find_if(kActions.begin(), kActions.end(),
                                  [&](const Action& candidate) { return candidate.name == name; });
  if (found == kActions.end()) std::abort();  // a broken program
  return *found;
}

}  // namespace gpuward::remediator
