// IRSA: STS exchanges the token of the pod's service account for the keys of a role, in a request
// that needs no signature.
#include <algorithm>

#include "core/aws/answer.h"
#include "core/aws/key_source.h"
#include "core/aws/region.h"
#include "core/aws/xml.h"
#include "core/http/syntax/url.h"
#include "core/runtime/files.h"
#include "core/runtime/text.h"

namespace gpuward::aws {
namespace {

constexpr std::chrono::seconds kStsTimeout{10};
constexpr std::size_t kLargestToken = 64U << 10U;
constexpr std::size_t kLargestStsAnswer = 64U << 10U;

Result<http::ClientRequest> exchange_of(const KeyParts& parts, const std::string& token_file,
                                        const std::string& role) {
  // Read at every call: the kubelet renews it.
  const auto token = read_file(token_file, kLargestToken);
  if (!token) return with_context("AWS_WEB_IDENTITY_TOKEN_FILE", token.error());
  const auto region = find_region(parts);
  if (!region) return std::unexpected(region.error());
  const auto endpoint = endpoint_of(parts.environment, kSts, *region);
  if (!endpoint) return std::unexpected(endpoint.error());
  const std::string session = parts.environment.at("AWS_ROLE_SESSION_NAME");
  http::ClientRequest request;
  request.method = "POST";
  request.url = *endpoint + "/";
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}};
  request.body = http::build_query({{"Action", "AssumeRoleWithWebIdentity"},
                                    {"Version", "2011-06-15"},
                                    {"RoleArn", role},
                                    {"RoleSessionName", session.empty() ? "gpuward" : session},
                                    {"WebIdentityToken", std::string(trim(*token))}});
  request.timeout = kStsTimeout;
  request.max_response_bytes = kLargestStsAnswer;
  return request;
}

Result<AwsKeys> keys_in(const std::string& body) {
  const auto root = parse_xml(body);
  if (!root) return with_context("STS", root.error());
  const XmlElement& given = root->child("AssumeRoleWithWebIdentityResult").child("Credentials");
  AwsKeys keys{.access_key_id = given.text_at("AccessKeyId"),
               .secret_access_key = given.text_at("SecretAccessKey"),
               .session_token = given.text_at("SessionToken"),
               .expires = parse_rfc3339(given.text_at("Expiration"))};
  if (keys.access_key_id.empty() || keys.secret_access_key.empty() || !keys.expires)
    return fail(ErrorKind::kUnavailable, "STS returned no credentials");
  return keys;
}

}  // namespace

Result<AwsKeys> keys_of_web_identity(const KeyParts& parts) {
  const std::string file = parts.environment.at("AWS_WEB_IDENTITY_TOKEN_FILE");
  const std::string role = parts.environment.at("AWS_ROLE_ARN");
  if (file.empty()) return fail(ErrorKind::kNotFound, "AWS_WEB_IDENTITY_TOKEN_FILE is not set");
  if (role.empty())
    return fail(ErrorKind::kInvalid,
                "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not: set both");
  const auto request = exchange_of(parts, file, role);
  if (!request) return std::unexpected(request.error());
  const auto answer = parts.http.send(*request);
  if (!answer) return with_context("STS", answer.error());
  if (answer->status == 200) return keys_in(answer->body);
  const AwsFailure failure = read_failure(*answer);
  return fail(kind_of(failure),
              "STS AssumeRoleWithWebIdentity for " + role + ": " + words_of(failure));
}

}  // namespace gpuward::aws
