// What the machine itself says on EC2 (IMDS), by sessions only (IMDSv2): its role's keys and its
// region, where nothing else names them. Used inside core/aws.
#pragma once

#include <string>

#include "core/aws/key_source.h"
#include "core/model/result.h"

namespace gpuward::aws {

// The text at `path`, "/latest/meta-data/placement/region". kNotFound where nothing answers in a
// second, where it is switched off, or where there is no such path: this is no EC2 machine, or a
// pod that may not ask it (a hop limit of 1).
[[nodiscard]] Result<std::string> read_instance_metadata(const KeyParts& parts,
                                                         const std::string& path);

}  // namespace gpuward::aws
