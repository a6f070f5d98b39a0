// What the environment tells every program that speaks to AWS: the variables that AWS's own SDKs
// read. Read once, so that nothing later asks the process; tests write their own. Used by core/aws,
// the exporter's instance type and the composition root.
#pragma once

#include <map>
#include <string>

namespace gpuward::aws {

struct AwsEnvironment {
  std::map<std::string, std::string> variables;

  // Empty where it is not set.
  [[nodiscard]] std::string at(const std::string& name) const {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  }
  // `true`, whatever its case.
  [[nodiscard]] bool says_true(const std::string& name) const;
};

// HOME and everything that begins with AWS_. Before other threads may change the environment.
[[nodiscard]] AwsEnvironment read_aws_environment();

}  // namespace gpuward::aws
