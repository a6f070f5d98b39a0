// What kind of machine this node is, so that a count of GPUs can be wrong at all. Asked of, in this
// order: the configuration, the instance metadata service (version 2, then 1), the node's label,
// the firmware. Nobody knowing it is an answer of its own, which the exporter says aloud. Called by
// the top of the exporter on a thread of its own: up to 4 s where no metadata service answers, and
// the label after that.
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
  kRemembered  // an earlier answer of this boot: a running machine keeps its type
};

// "unknown", "configured", "imdsv2", "imdsv1", "node-label", "firmware", "remembered".
[[nodiscard]] std::string_view to_string(InstanceTypeSource source);

struct InstanceType {
  std::string type;  // "p5.48xlarge", as it was given; empty: unknown
  InstanceTypeSource source = InstanceTypeSource::kUnknown;
  // Why those that were asked before could not tell, one sentence each, for the log.
  std::vector<std::string> misses;
};

struct InstanceTypeQuestion {
  std::string configured;  // empty: ask
  std::string metadata_url = "http://169.254.169.254";
  bool asks_metadata = true;
  bool asks_metadata_v1 = true;
  // The label node.kubernetes.io/instance-type of this node; empty: nobody to ask.
  std::function<Result<std::string>()> node_label;
};

// `p5.48xlarge`, `ml.p5.48xlarge`, `u-6tb1.112xlarge`: a page of HTML is none.
[[nodiscard]] bool is_ec2_instance_type(std::string_view text);

// With AWS_EC2_METADATA_SERVICE_ENDPOINT, AWS_EC2_METADATA_DISABLED and
// AWS_EC2_METADATA_V1_DISABLED of the environment, as the AWS SDKs read them.
[[nodiscard]] InstanceTypeQuestion instance_type_question();

[[nodiscard]] InstanceType find_instance_type(const InstanceTypeQuestion& question,
                                              http::Client& client);

// The same as the environment wishes it and over the network. `configured` may be empty.
[[nodiscard]] InstanceType learn_instance_type(const std::string& configured,
                                               std::function<Result<std::string>()> node_label);

// Where no profile has the type that was found: the machine by the name in its firmware, if that
// has one. So a DGX is known under whatever type its Node is labelled with.
[[nodiscard]] InstanceType named_by_firmware(InstanceType found, const Machine& machine,
                                             const InstanceProfiles& profiles);

}  // namespace gpuward::exporter
