#include "core/aws/key_source.h"

#include <array>
#include <string_view>

#include "core/aws/profile.h"
#include "core/runtime/json.h"

namespace gpuward::aws {
namespace {

constexpr JsonLimits kKeyLimits{.max_bytes = 64U << 10U, .max_depth = 4};

struct KeySource {
  std::string_view name;
  Result<AwsKeys> (*fetch)(const KeyParts&);
};
constexpr std::array kSources = {
    KeySource{"environment", keys_of_environment}, KeySource{"web identity", keys_of_web_identity},
    KeySource{"profile", keys_of_profile},         KeySource{"container", keys_of_container},
    KeySource{"instance role", keys_of_instance},
};

std::string value_of(const Profile& profile, const std::string& key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string() : found->second;
}

Result<AwsKeys> both_or_none(AwsKeys keys, const std::string& id_name,
                             const std::string& secret_name) {
  if (keys.access_key_id.empty() && keys.secret_access_key.empty())
    return fail(ErrorKind::kNotFound, id_name + " is not set");
  if (keys.access_key_id.empty() || keys.secret_access_key.empty())
    return fail(ErrorKind::kInvalid, id_name + " and " + secret_name + " must be set together");
  return keys;
}

}  // namespace

Result<AwsKeys> keys_of_environment(const KeyParts& parts) {
  return both_or_none({.access_key_id = parts.environment.at("AWS_ACCESS_KEY_ID"),
                       .secret_access_key = parts.environment.at("AWS_SECRET_ACCESS_KEY"),
                       .session_token = parts.environment.at("AWS_SESSION_TOKEN")},
                      "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY");
}

Result<AwsKeys> keys_of_profile(const KeyParts& parts) {
  const auto profile = read_profile(parts.environment);
  if (!profile) return std::unexpected(profile.error());
  auto keys = both_or_none({.access_key_id = value_of(*profile, "aws_access_key_id"),
                            .secret_access_key = value_of(*profile, "aws_secret_access_key"),
                            .session_token = value_of(*profile, "aws_session_token")},
                           "aws_access_key_id", "aws_secret_access_key");
  if (keys || keys.error().kind != ErrorKind::kNotFound) return keys;
  for (const char* const other :
       {"role_arn", "credential_process", "sso_session", "sso_start_url"}) {
    if (!profile->contains(other)) continue;
    return fail(ErrorKind::kInvalid,
                "the profile uses " + std::string(other) +
                    ", which gpuward does not support: add access keys to the profile, or set "
                    "AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE");
  }
  return keys;
}

Result<AwsKeys> find_keys(const KeyParts& parts) {
  std::string missing;
  for (const KeySource& source : kSources) {
    auto keys = source.fetch(parts);
    if (keys) return keys;
    const std::string name(source.name);
    if (keys.error().kind != ErrorKind::kNotFound) {
      // Without keys AWS has not judged any permission yet.
      if (keys.error().kind == ErrorKind::kForbidden)
        keys.error().kind = ErrorKind::kUnauthenticated;
      return with_context("AWS credentials of " + name, keys.error());
    }
    missing += (missing.empty() ? "" : "; ") + name + ": " + keys.error().message;
  }
  return fail(ErrorKind::kUnauthenticated, "no AWS credentials: " + missing);
}

Result<AwsKeys> parse_keys(const std::string& json, const std::string& who) {
  const auto body = parse_json(json, kKeyLimits);
  if (!body) return with_context(who, body.error());
  const std::string code = string_at(*body, "Code", "Success");
  AwsKeys keys{.access_key_id = string_at(*body, "AccessKeyId"),
               .secret_access_key = string_at(*body, "SecretAccessKey"),
               .session_token = string_at(*body, "Token"),
               .expires = parse_rfc3339(string_at(*body, "Expiration"))};
  if (code == "Success" && !keys.access_key_id.empty() && !keys.secret_access_key.empty() &&
      keys.expires) {
    return keys;
  }
  return fail(ErrorKind::kUnavailable,
              who + " returned no credentials" + (code == "Success" ? std::string() : ": " + code));
}

}  // namespace gpuward::aws
