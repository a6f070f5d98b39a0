// The files that the AWS CLI writes: ~/.aws/config and ~/.aws/credentials, or those that
// AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name, and of them the profile that AWS_PROFILE
// names. Used inside core/aws.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/aws/environment.h"
#include "core/model/result.h"

namespace gpuward::aws {

using Profile = std::map<std::string, std::string>;
// By the name of the section as it stands between the brackets, blanks folded.
using ProfileSections = std::map<std::string, Profile>;

// kInvalid with the line. What is indented belongs to the key above it and is not read.
[[nodiscard]] Result<ProfileSections> parse_profiles(std::string_view text);

// Both files as one; what stands in the credentials file wins. Empty where there is no such file
// and no profile was asked for by name; a profile asked for that is nowhere is kInvalid. Files are
// read anew at each call.
[[nodiscard]] Result<Profile> read_profile(const AwsEnvironment& environment);

}  // namespace gpuward::aws
