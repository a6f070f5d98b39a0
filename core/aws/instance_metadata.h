// Metadata of an EC2 machine (IMDS): its type, its region, the keys of its role. Uses a session
// (IMDSv2), or none (IMDSv1) if no session can be opened. core/aws reads keys and the region, the
// exporter the instance type.
#pragma once

#include <string>
#include <utility>

#include "core/aws/environment.h"
#include "core/http/client/client.h"
#include "core/model/result.h"

namespace gpuward::aws {

// The address of the service by the environment, read as AWS's SDKs do.
[[nodiscard]] std::string metadata_endpoint(const AwsEnvironment& environment);

// Whether IMDSv1 may be tried after this error of open_session(), as the AWS SDKs do: the response
// to a PUT travels no further than the instance's hop limit, 1 by default, and so never reaches a
// pod.
[[nodiscard]] bool may_be_version_1(ErrorKind kind);

// Each call takes a second at most, two without a session. Errors: those of the client if the
// service does not answer; else kForbidden for 403, kNotFound for 404 and 405, kInternal for 5xx,
// kInvalid.
class InstanceMetadata {
 public:
  InstanceMetadata(http::Client& http, std::string endpoint)
      : http_(http), endpoint_(std::move(endpoint)) {}

  // Returns a token for the calls that follow right away.
  [[nodiscard]] Result<std::string> open_session() const;
  // Returns the text at `path`, such as "/latest/meta-data/placement/region". An empty `session`
  // means IMDSv1.
  [[nodiscard]] Result<std::string> read(const std::string& path, const std::string& session) const;

 private:
  http::Client& http_;
  std::string endpoint_;
};

}  // namespace gpuward::aws
