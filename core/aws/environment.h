// The environment variables of AWS that AWS's own SDKs read as well. They are read once, so that no
// later code reads the process's environment; tests write their own. Used by core/aws, the
// exporter's instance type and the composition root.
#pragma once

#include <map>
#include <string>

namespace gpuward::aws {

struct AwsEnvironment {
  std::map<std::string, std::string> variables;

  // Empty if it is not set.
  [[nodiscard]] std::string at(const std::string& name) const {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  }
  // Whether the value is `true`, in any case.
  [[nodiscard]] bool says_true(const std::string& name) const;
};

// Reads HOME and all variables that begin with AWS_. Call it before other threads may change the
// environment.
[[nodiscard]] AwsEnvironment read_aws_environment();

}  // namespace gpuward::aws
