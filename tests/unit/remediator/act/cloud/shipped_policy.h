// The shipped IAM policy in the forms that tests need: for one cluster, and as a list of its
// actions. Used by the tests of the AWS provider and of the whole program on AWS.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"

namespace gpuward::remediator {

inline Json shipped_policy(const std::string& cluster) {
  constexpr std::string_view kPlace = "CLUSTER_NAME";
  auto text = read_file(GPUWARD_SOURCE_DIR "/manifests/remediator-aws-iam.json").value_or("");
  for (std::size_t at = text.find(kPlace); at != std::string::npos; at = text.find(kPlace))
    text.replace(at, kPlace.size(), cluster);
  return parse_json(text).value_or(Json());
}

inline std::vector<std::string> shipped_actions() {
  std::vector<std::string> actions;
  const Json policy = shipped_policy("fleet");
  for (const Json& statement : policy.at("Statement")) {
    for (const Json& action : statement.at("Action")) actions.push_back(action.get<std::string>());
  }
  return actions;
}

}  // namespace gpuward::remediator
