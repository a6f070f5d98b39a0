// Whether an IAM policy allows a call, with the resources and conditions that moto ignores. It
// reads only the elements of the shipped policy, and rejects others. Used by AwsFront.
#pragma once

#include <map>
#include <string>

#include "core/runtime/json.h"

namespace gpuward::support {

struct IamCall {
  std::string action, resource;             // "ec2:RebootInstances", an ARN or "*"
  std::map<std::string, std::string> tags;  // of the resource
};

// A statement allows a call if Action, Resource and all of its conditions match; without such a
// statement the call is refused (IAM User Guide, "Policy evaluation logic"). Throws if it cannot
// read the policy.
[[nodiscard]] bool allows(const Json& policy, const IamCall& call);

}  // namespace gpuward::support
