// Where keys come from, in the order in which AWS's SDKs look: the environment, a role by a web
// identity (IRSA), the files of the AWS CLI, a container's endpoint (EKS Pod Identity, ECS), the
// machine's own role (IMDSv2). Each is asked anew at every call: keys and tokens are rotated under
// us. Used by AwsKeyRing.
#pragma once

#include <string>

#include "core/aws/environment.h"
#include "core/aws/keys.h"
#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

// What a source may ask; all of it outlives the call.
struct KeyParts {
  http::Client& http;
  const AwsEnvironment& environment;
  Clock& clock;
};

// Of each: kNotFound where this source is not configured, so that the next one is asked; any other
// error is the answer, because whoever has configured a source does not want another one's keys.
[[nodiscard]] Result<AwsKeys> keys_of_environment(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_web_identity(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_profile(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_container(const KeyParts& parts);
[[nodiscard]] Result<AwsKeys> keys_of_instance(const KeyParts& parts);

// What the machine's metadata has at `path`. kNotFound where nothing answers, where it is switched
// off, or where there is no such path: this is no EC2 machine, or a pod that may not ask it.
[[nodiscard]] Result<std::string> read_of_instance(const KeyParts& parts, const std::string& path);

// All of them; the message of an error names the source, or all of them where none is configured.
[[nodiscard]] Result<AwsKeys> find_keys(const KeyParts& parts);

// A session's keys as the container's endpoint and the machine's metadata write them. `who` is for
// messages, which never hold what was read.
[[nodiscard]] Result<AwsKeys> parse_keys(const std::string& json, const std::string& who);

}  // namespace gpuward::aws
