// Whether a policy of IAM allows a call, with its resources and conditions, of which moto knows
// nothing. It reads what the shipped policy consists of and refuses to read anything else. Used by
// AwsFront.
#pragma once

#include <map>
#include <string>

#include "core/runtime/json.h"

namespace gpuward::support {

struct IamCall {
  std::string action, resource;             // "ec2:RebootInstances", an ARN or "*"
  std::map<std::string, std::string> tags;  // of the resource
};

// A statement allows where Action, Resource and all of its conditions match; what none allows is
// refused (IAM User Guide, "Policy evaluation logic"). Throws for what it cannot read.
[[nodiscard]] bool allows(const Json& policy, const IamCall& call);

}  // namespace gpuward::support
