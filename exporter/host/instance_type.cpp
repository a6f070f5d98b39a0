#include "exporter/host/instance_type.h"

#include <algorithm>
#include <utility>

#include "core/aws/instance_metadata.h"

namespace gpuward::exporter {
namespace {

// Kubernetes' rule for the value of a label; other clouds have types such as
// Standard_ND96isr_H100_v5.
bool is_label_value(std::string_view text) {
  constexpr std::size_t kMostCharacters = 63;
  return !text.empty() && text.size() <= kMostCharacters && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

Result<std::string> read_type(const aws::InstanceMetadata& metadata, const std::string& session) {
  auto type = metadata.read("/latest/meta-data/instance-type", session);
  if (type && !is_ec2_instance_type(*type))
    return fail(ErrorKind::kInvalid, "the answer is not an instance type");
  return type;
}

bool ask_metadata(const InstanceTypeQuestion& question, http::Client& client, InstanceType& found) {
  const aws::InstanceMetadata metadata(client, question.metadata_url);
  const auto session = metadata.open_session();
  auto type = session ? read_type(metadata, *session) : session;
  auto source = InstanceTypeSource::kMetadataV2;
  if (!type) found.misses.push_back("IMDSv2: " + type.error().message);
  if (!session && aws::may_be_version_1(session.error().kind) && question.asks_metadata_v1) {
    type = read_type(metadata, {});
    source = InstanceTypeSource::kMetadataV1;
    if (!type) found.misses.push_back("IMDSv1: " + type.error().message);
  }
  if (!type) return false;
  found.type = *std::move(type);
  found.source = source;
  return true;
}

bool ask_label(const InstanceTypeQuestion& question, InstanceType& found) {
  auto label = question.node_label();
  if (!label) {
    found.misses.push_back("node label: " + label.error().message);
    return false;
  }
  if (!is_label_value(*label)) {
    found.misses.emplace_back("node label: node.kubernetes.io/instance-type is not set");
    return false;
  }
  found.type = std::move(*label);
  found.source = InstanceTypeSource::kNodeLabel;
  return true;
}

}  // namespace

std::string_view to_string(InstanceTypeSource source) {
  switch (source) {
    case InstanceTypeSource::kUnknown:
      return "unknown";
    case InstanceTypeSource::kConfigured:
      return "configured";
    case InstanceTypeSource::kMetadataV2:
      return "imdsv2";
    case InstanceTypeSource::kMetadataV1:
      return "imdsv1";
    case InstanceTypeSource::kNodeLabel:
      return "node-label";
    case InstanceTypeSource::kRemembered:
      return "remembered";
    case InstanceTypeSource::kFirmware:
      return "firmware";
  }
  return "unknown";
}

bool is_ec2_instance_type(std::string_view text) {
  constexpr std::size_t kMostCharacters = 64;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  const auto dot = text.find('.');
  return text.size() <= kMostCharacters && dot != std::string_view::npos && dot > 0 &&
         dot + 1 < text.size() && std::ranges::all_of(text, is_part) && text.back() != '.';
}

InstanceTypeQuestion instance_type_question() {
  const auto environment = aws::read_aws_environment();
  InstanceTypeQuestion question;
  question.metadata_url = aws::metadata_endpoint(environment);
  question.asks_metadata = !environment.says_true("AWS_EC2_METADATA_DISABLED");
  question.asks_metadata_v1 = !environment.says_true("AWS_EC2_METADATA_V1_DISABLED");
  return question;
}

InstanceType find_instance_type(const InstanceTypeQuestion& question, http::Client& client) {
  InstanceType found;
  if (!question.configured.empty()) {
    found.type = question.configured;
    found.source = InstanceTypeSource::kConfigured;
    return found;
  }
  if (question.asks_metadata && ask_metadata(question, client, found)) return found;
  if (question.node_label && ask_label(question, found)) return found;
  if (!question.asks_metadata) found.misses.emplace_back("IMDS: AWS_EC2_METADATA_DISABLED is set");
  return found;
}

InstanceType learn_instance_type(const std::string& configured,
                                 std::function<Result<std::string>()> node_label) {
  InstanceTypeQuestion question = instance_type_question();
  question.configured = configured;
  question.node_label = std::move(node_label);
  http::CurlClient client;
  return find_instance_type(question, client);
}

InstanceType named_by_firmware(InstanceType found, const Machine& machine,
                               const InstanceProfiles& profiles) {
  const bool is_configured = found.source == InstanceTypeSource::kConfigured;
  if (is_configured || profiles.find(found.type)) return found;
  if (auto profile = profiles.find_machine(machine.product_name)) {
    found.type = std::move(profile->type);
    found.source = InstanceTypeSource::kFirmware;
  }
  return found;
}

}  // namespace gpuward::exporter
