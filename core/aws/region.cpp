#include "core/aws/region.h"

#include "core/aws/profile.h"

namespace gpuward::aws {
namespace {

Result<std::string> checked(const std::string& region, const std::string& source) {
  if (is_region(region)) return region;
  return fail(ErrorKind::kInvalid, source + " gives an invalid AWS region: " + region);
}

}  // namespace

Result<std::string> find_region(const KeyParts& parts) {
  for (const char* const name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
    if (const std::string region = parts.environment.at(name); !region.empty())
      return checked(region, name);
  }
  const auto profile = read_profile(parts.environment);
  if (!profile) return std::unexpected(profile.error());
  if (const auto found = profile->find("region"); found != profile->end())
    return checked(found->second, "the profile");
  const auto region = read_of_instance(parts, "/latest/meta-data/placement/region");
  if (region) return checked(*region, "the EC2 metadata service");
  return fail(ErrorKind::kInvalid,
              "the AWS region is unknown: set AWS_REGION (" + region.error().message + ")");
}

}  // namespace gpuward::aws
