#include "exporter/host/instance_type.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/runtime/text.h"
#include "exporter/host/instance_metadata.h"

namespace gpuward::exporter {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(trim(value));
}

bool is_true(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text == "true";
}

// What Kubernetes takes for the value of a label; other clouds have types such as
// Standard_ND96isr_H100_v5.
bool is_label_value(std::string_view text) {
  constexpr std::size_t kMostCharacters = 63;
  return !text.empty() && text.size() <= kMostCharacters && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

bool ask_metadata(const InstanceTypeQuestion& question, http::Client& client, InstanceType& found) {
  auto second = ask_metadata_v2(question.metadata_url, client);
  if (second) {
    found.type = std::move(*second);
    found.source = InstanceTypeSource::kMetadataV2;
    return true;
  }
  found.misses.push_back("IMDSv2: " + second.error().error.message);
  if (!second.error().allows_v1 || !question.asks_metadata_v1) return false;
  auto first = ask_metadata_v1(question.metadata_url, client);
  if (!first) {
    found.misses.push_back("IMDSv1: " + first.error().message);
    return false;
  }
  found.type = std::move(*first);
  found.source = InstanceTypeSource::kMetadataV1;
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
    case InstanceTypeSource::kFirmware:
      return "firmware";
  }
  return "unknown";
}

InstanceTypeQuestion instance_type_question() {
  InstanceTypeQuestion question;
  if (std::string url = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT"); !url.empty()) {
    while (url.ends_with('/')) url.pop_back();
    question.metadata_url = std::move(url);
  }
  question.asks_metadata = !is_true(environment("AWS_EC2_METADATA_DISABLED"));
  question.asks_metadata_v1 = !is_true(environment("AWS_EC2_METADATA_V1_DISABLED"));
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
