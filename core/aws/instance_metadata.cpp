#include "core/aws/instance_metadata.h"

#include <algorithm>
#include <chrono>

#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

// The service is one hop away or absent: it does not answer a pod behind a hop limit of 1.
constexpr std::chrono::seconds kSessionTimeout{1};
constexpr std::chrono::seconds kSessionlessTimeout{2};
constexpr std::size_t kLargestMetadata = 64U << 10U;
// Long enough for the requests that follow.
constexpr const char* kSessionSeconds = "300";

ErrorKind kind_of(int status) {
  if (status == 403) return ErrorKind::kForbidden;
  if (status == 404 || status == 405) return ErrorKind::kNotFound;
  return status >= 500 ? ErrorKind::kInternal : ErrorKind::kInvalid;
}

Result<std::string> ask(http::Client& http, http::ClientRequest request) {
  request.max_response_bytes = kLargestMetadata;
  const auto answer = http.send(request);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 200) return std::string(trim(answer->body));
  return fail(kind_of(answer->status),
              "the EC2 metadata service returned HTTP " + std::to_string(answer->status));
}

}  // namespace

std::string metadata_endpoint(const AwsEnvironment& environment) {
  std::string given = environment.at("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  while (given.ends_with('/')) given.pop_back();
  if (!given.empty()) return given;
  const std::string mode = environment.at("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
  return mode == "ipv6" || mode == "IPv6" ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

bool may_be_version_1(ErrorKind kind) {
  return kind == ErrorKind::kTimeout || kind == ErrorKind::kForbidden ||
         kind == ErrorKind::kNotFound;
}

Result<std::string> InstanceMetadata::open_session() const {
  http::ClientRequest request;
  request.method = "PUT";
  request.url = endpoint_ + "/latest/api/token";
  request.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", kSessionSeconds}};
  request.timeout = kSessionTimeout;
  auto token = ask(http_, std::move(request));
  const auto is_of_token = [](char c) { return c > ' ' && c < '\x7F' && c != '<'; };
  if (token && (token->empty() || !std::ranges::all_of(*token, is_of_token)))
    return fail(ErrorKind::kInvalid, "the EC2 metadata service did not return a valid token");
  return token;
}

Result<std::string> InstanceMetadata::read(const std::string& path,
                                           const std::string& session) const {
  http::ClientRequest request;
  request.url = endpoint_ + path;
  request.timeout = session.empty() ? kSessionlessTimeout : kSessionTimeout;
  if (!session.empty()) request.headers = {{"X-aws-ec2-metadata-token", session}};
  return ask(http_, std::move(request));
}

}  // namespace gpuward::aws
