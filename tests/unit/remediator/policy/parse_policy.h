// Parses a policy from the text of its file. Used by the tests of the policy.
#pragma once

#include <string>

#include "remediator/policy/policy.h"

namespace gpuward::remediator {

inline Result<Policy> parse_policy(const std::string& yaml) {
  const auto file = YamlFile::parse(yaml, "policy.yaml");
  if (!file) return std::unexpected(file.error());
  return read_policy(*file);
}

}  // namespace gpuward::remediator
