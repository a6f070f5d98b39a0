// The files that the AWS CLI writes: ~/.aws/config and ~/.aws/credentials, or those that
// AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name. Only the profile that AWS_PROFILE names is
// used. Used inside core/aws.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/aws/environment.h"
#include "core/model/result.h"

namespace gpuward::aws {

using Profile = std::map<std::string, std::string>;
// The key is the section's name between the brackets, with blanks folded.
using ProfileSections = std::map<std::string, Profile>;

// kInvalid, with the line number. Indented lines belong to the key above them and are not read.
[[nodiscard]] Result<ProfileSections> parse_profiles(std::string_view text);

// Merges both files; a value in the credentials file wins. Empty if no file has the profile and no
// profile was requested by name; a requested profile that is in neither file is kInvalid. Reads the
// files at each call.
[[nodiscard]] Result<Profile> read_profile(const AwsEnvironment& environment);

}  // namespace gpuward::aws
