// EKS Pod Identity and ECS: an endpoint next to the pod returns keys to a client that presents the
// token from the pod's token file.
#include <algorithm>
#include <array>

#include "core/aws/key_source.h"
#include "core/http/client/target.h"
#include "core/http/syntax/headers.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

constexpr std::chrono::seconds kContainerTimeout{2};
constexpr std::size_t kLargestContainerText = 64U << 10U;
constexpr std::string_view kEcsHost = "http://169.254.170.2";
// Hosts for which plain HTTP stays on the machine: ECS, EKS Pod Identity in IPv4 and IPv6,
// loopback.
constexpr std::array<std::string_view, 6> kHostsBeside = {
    "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]", "localhost", "127.0.0.1", "[::1]"};

std::string container_url(const AwsEnvironment& environment) {
  const std::string relative = environment.at("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  if (!relative.empty()) return std::string(kEcsHost) + relative;
  return environment.at("AWS_CONTAINER_CREDENTIALS_FULL_URI");
}

// The request carries a token, which must not go to another machine in the clear.
Status check_host(const std::string& url) {
  const auto target = http::parse_target(url);
  if (!target) return with_context("AWS_CONTAINER_CREDENTIALS_FULL_URI", target.error());
  if (target->is_tls || std::ranges::find(kHostsBeside, target->host) != kHostsBeside.end())
    return {};
  return fail(ErrorKind::kInvalid, "AWS_CONTAINER_CREDENTIALS_FULL_URI uses plain HTTP to " +
                                       target->host +
                                       ", which is not an EKS or ECS endpoint: use https://");
}

Result<std::string> container_token(const AwsEnvironment& environment) {
  const std::string file = environment.at("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  std::string token = environment.at("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (!file.empty()) {
    const auto content = read_file(file, kLargestContainerText);
    if (!content) return with_context("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", content.error());
    token = trim(*content);
  }
  if (http::is_field_text(token)) return token;
  return fail(ErrorKind::kInvalid, "the container authorization token contains a line break");
}

}  // namespace

Result<AwsKeys> keys_of_container(const KeyParts& parts) {
  const std::string url = container_url(parts.environment);
  if (url.empty())
    return fail(ErrorKind::kNotFound, "AWS_CONTAINER_CREDENTIALS_FULL_URI is not set");
  if (auto checked = check_host(url); !checked) return std::unexpected(checked.error());
  const auto token = container_token(parts.environment);
  if (!token) return std::unexpected(token.error());
  http::ClientRequest request;
  request.url = url;
  request.headers = {{"Accept", "application/json"}};
  if (!token->empty()) request.headers.emplace_back("Authorization", *token);
  request.timeout = kContainerTimeout;
  request.max_response_bytes = kLargestContainerText;
  const auto answer = parts.http.send(request);
  if (!answer) return std::unexpected(answer.error());
  if (answer->status == 200) return parse_keys(answer->body, "the container credentials endpoint");
  return fail(answer->status >= 500 ? ErrorKind::kUnavailable : ErrorKind::kForbidden,
              "the container credentials endpoint returned HTTP " + std::to_string(answer->status));
}

}  // namespace gpuward::aws
