// The instance type of this node, which determines the expected number of GPUs. The sources, in
// this order: the configuration, the instance metadata service (version 2, then 1), the node's
// label, the firmware. If none knows it, the result is "unknown", which the exporter reports. The
// top of the exporter calls it on a separate thread: it takes up to 4 s if no metadata service
// responds, and then the time for the label.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "exporter/host/instance_profile.h"
#include "exporter/host/machine.h"

namespace gpuward::exporter {

enum class InstanceTypeSource : std::uint8_t {
  kUnknown,
  kConfigured,
  kMetadataV2,
  kMetadataV1,
  kNodeLabel,
  kFirmware,
  kRemembered  // an earlier result of this boot: a running machine keeps its type
};

// "unknown", "configured", "imdsv2", "imdsv1", "node-label", "firmware", "remembered".
[[nodiscard]] std::string_view to_string(InstanceTypeSource source);

struct InstanceType {
  std::string type;  // "p5.48xlarge", as the source has it; empty: unknown
  InstanceTypeSource source = InstanceTypeSource::kUnknown;
  // Why the sources before it did not know, one sentence each, for the log.
  std::vector<std::string> misses;
};

struct InstanceTypeQuestion {
  std::string configured;  // empty: ask the other sources
  std::string metadata_url = "http://169.254.169.254";
  bool asks_metadata = true;
  bool asks_metadata_v1 = true;
  // Returns the label node.kubernetes.io/instance-type of this node; empty if there is no API
  // server.
  std::function<Result<std::string>()> node_label;
};

// `p5.48xlarge`, `ml.p5.48xlarge`, `u-6tb1.112xlarge`; rejects, for example, a page of HTML.
[[nodiscard]] bool is_ec2_instance_type(std::string_view text);

// Reads AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_DISABLED and
// AWS_EC2_METADATA_V1_DISABLED from the environment, as the AWS SDKs do.
[[nodiscard]] InstanceTypeQuestion instance_type_question();

[[nodiscard]] InstanceType find_instance_type(const InstanceTypeQuestion& question,
                                              http::Client& client);

// The same, configured by the environment and over the network. `configured` may be empty.
[[nodiscard]] InstanceType learn_instance_type(const std::string& configured,
                                               std::function<Result<std::string>()> node_label);

// If no profile has the type that was found, names the machine by its firmware, if a profile has
// that name. So a DGX is recognized under any type in its Node's label.
[[nodiscard]] InstanceType named_by_firmware(InstanceType found, const Machine& machine,
                                             const InstanceProfiles& profiles);

}  // namespace gpuward::exporter
