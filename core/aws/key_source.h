// The sources of keys, in the order of AWS's SDKs: the environment, a role by a web identity
// (IRSA), the files of the AWS CLI, a container's endpoint (EKS Pod Identity, ECS), the machine's
// own role (IMDSv2). Each call reads its source again, because keys and tokens are rotated. Used by
// AwsKeyRing.
#pragma once

#include <string>

#include "core/aws/environment.h"
#include "core/aws/keys.h"
#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

// The inputs of a source; all of them outlive the call.
struct KeyParts {
  http::Client& http;
  const AwsEnvironment& environment;
  Clock& clock;
};

// Each returns kNotFound if its source is not configured, so that the next one is tried. Any other
// error ends the search, because an operator who has configured a source does not want the keys of
// another.
[[nodiscard]] Result<AwsKeys> keys_of_environment(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_web_identity(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_profile(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_container(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_instance(const KeyParts& parts);

// Returns the machine's metadata at `path`. kNotFound if the service does not answer, is switched
// off, or has no such path: this is not an EC2 machine, or the pod has no access to it.
[[nodiscard]] Result<std::string> read_of_instance(const KeyParts& parts, const std::string& path);

// Tries all sources. An error names the failed source, or all of them if none is configured.
[[nodiscard]] Result<AwsKeys> find_keys(const KeyParts& parts);

// Reads a session's keys as the container's endpoint and the machine's metadata write them. `who`
// names the source in messages, which never contain the text that was read.
[[nodiscard]] Result<AwsKeys> parse_keys(const std::string& json, const std::string& who);

}  // namespace gpuward::aws
