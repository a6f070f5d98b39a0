// What the machine itself says on EC2 (IMDS): its type, its region, its role's keys. In a session
// (IMDSv2), or without one (IMDSv1) where no session gets through. Used for AWS's keys and region
// by core/aws, and for the instance type by the exporter.
#pragma once

#include <string>
#include <utility>

#include "core/aws/environment.h"
#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

// Where the environment says that it is, as AWS's SDKs read that.
[[nodiscard]] std::string metadata_endpoint(const AwsEnvironment& environment);

// Whether an error of open_session() leaves version 1 to be asked, as the AWS SDKs do: the answer
// to a PUT does not travel further than the instance's hop limit, 1 by default, and so never
// reaches a pod.
[[nodiscard]] bool may_be_version_1(ErrorKind kind);

// Of each call: a second at most, two without a session; errors are the client's own where nothing
// answers, else kForbidden for 403, kNotFound for 404 and 405, kInternal for 5xx, kInvalid.
class InstanceMetadata {
 public:
  InstanceMetadata(http::Client& http, std::string endpoint)
      : http_(http), endpoint_(std::move(endpoint)) {}

  // A token, good for the calls that follow right away.
  [[nodiscard]] Result<std::string> open_session() const;
  // The text at `path`, "/latest/meta-data/placement/region"; an empty `session` is none.
  [[nodiscard]] Result<std::string> read(const std::string& path, const std::string& session) const;

 private:
  http::Client& http_;
  std::string endpoint_;
};

}  // namespace gpuward::aws
