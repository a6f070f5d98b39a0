#include "core/aws/instance_metadata.h"

#include "core/http/client.h"
#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

// It is a hop away, or not there: pods behind a hop limit of 1 get silence.
constexpr std::chrono::seconds kMetadataTimeout{1};
constexpr std::size_t kLargestMetadata = 64U << 10U;
// Long enough for the requests that follow.
constexpr const char* kSessionSeconds = "300";
const std::string kRolePath = "/latest/meta-data/iam/security-credentials/";

std::string metadata_endpoint(const AwsEnvironment& environment) {
  std::string given = environment.at("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  while (given.ends_with('/')) given.pop_back();
  if (!given.empty()) return given;
  const bool by_ipv6 = environment.at("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") == "ipv6" ||
                       environment.at("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE") == "IPv6";
  return by_ipv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254";
}

Result<std::string> ask(const KeyParts& parts, const char* method, const std::string& path,
                        std::pair<std::string, std::string> header) {
  http::ClientRequest request;
  request.method = method;
  request.url = metadata_endpoint(parts.environment) + path;
  request.headers = {std::move(header)};
  request.timeout = kMetadataTimeout;
  request.max_response_bytes = kLargestMetadata;
  const auto answer = parts.http.send(request);
  if (!answer) return fail(ErrorKind::kNotFound, "the EC2 metadata service does not answer");
  if (answer->status == 200) return std::string(trim(answer->body));
  const std::string words =
      "the EC2 metadata service answers HTTP " + std::to_string(answer->status);
  return fail(answer->status >= 500 ? ErrorKind::kUnavailable : ErrorKind::kNotFound, words);
}

}  // namespace

Result<std::string> read_instance_metadata(const KeyParts& parts, const std::string& path) {
  if (parts.environment.says_true("AWS_EC2_METADATA_DISABLED"))
    return fail(ErrorKind::kNotFound, "AWS_EC2_METADATA_DISABLED is true");
  const auto session = ask(parts, "PUT", "/latest/api/token",
                           {"X-aws-ec2-metadata-token-ttl-seconds", kSessionSeconds});
  if (!session) return std::unexpected(session.error());
  return ask(parts, "GET", path, {"X-aws-ec2-metadata-token", *session});
}

Result<AwsKeys> keys_of_instance(const KeyParts& parts) {
  const auto role = read_instance_metadata(parts, kRolePath);
  if (!role) return std::unexpected(role.error());
  const auto keys = read_instance_metadata(parts, kRolePath + role->substr(0, role->find('\n')));
  if (!keys) return std::unexpected(keys.error());
  return parse_keys(*keys, "the EC2 metadata service");
}

}  // namespace gpuward::aws
