// Finds the AWS region: AWS_REGION, AWS_DEFAULT_REGION, the profile, the machine itself. Used
// inside core/aws.
#pragma once

#include <string>

#include "core/aws/endpoint.h"
#include "core/aws/key_source.h"
#include "core/model/result.h"

namespace gpuward::aws {

// kInvalid if the value is not a region, or if no source names one.
[[nodiscard]] Result<std::string> find_region(const KeyParts& parts);

}  // namespace gpuward::aws
