#include "core/aws/instance_metadata.h"
#include "core/aws/key_source.h"

namespace gpuward::aws {
namespace {

const std::string kRolePath = "/latest/meta-data/iam/security-credentials/";

// An absent service makes find_keys() try the next source; a broken service is an error.
Error seen_as_source(Error error) {
  if (error.kind == ErrorKind::kInternal) return {ErrorKind::kUnavailable, error.message, {}};
  if (error.kind == ErrorKind::kTimeout || error.kind == ErrorKind::kUnavailable)
    error.message = "the EC2 metadata service does not answer";
  return {ErrorKind::kNotFound, error.message, {}};
}

}  // namespace

Result<std::string> read_of_instance(const KeyParts& parts, const std::string& path) {
  if (parts.environment.says_true("AWS_EC2_METADATA_DISABLED"))
    return fail(ErrorKind::kNotFound, "AWS_EC2_METADATA_DISABLED is true");
  const InstanceMetadata metadata(parts.http, metadata_endpoint(parts.environment));
  const auto session = metadata.open_session();
  auto text = session ? metadata.read(path, *session) : session;
  if (!text) return std::unexpected(seen_as_source(std::move(text).error()));
  return text;
}

Result<AwsKeys> keys_of_instance(const KeyParts& parts) {
  const auto role = read_of_instance(parts, kRolePath);
  if (!role) return std::unexpected(role.error());
  const auto keys = read_of_instance(parts, kRolePath + role->substr(0, role->find('\n')));
  if (!keys) return std::unexpected(keys.error());
  return parse_keys(*keys, "the EC2 metadata service");
}

}  // namespace gpuward::aws
