// An EC2 instance in the form of a Node's provider ID and in the form of AWS's description, and
// whether both are one machine. Pure; used by the AWS provider.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/aws/xml.h"
#include "remediator/act/cloud/provider.h"

namespace gpuward::remediator {

struct Ec2Id {
  // For example "i-0123456789abcdef0", "us-east-1a", "us-east-1".
  std::string instance, zone, region;
};

// Parses `aws:///us-east-1a/i-0123456789abcdef0`. Returns nullopt for any other ID, even if it
// begins with aws://: Fargate, HyperPod and hybrid nodes have no EC2 instance in this account.
[[nodiscard]] std::optional<Ec2Id> parse_ec2_id(std::string_view provider_id);

struct Ec2Instance {
  std::string id, state;  // State, for example "running".
  std::string reason;     // EC2's reason for the state; may be empty.
  std::string zone, type, private_dns;
  std::set<std::string> tags;  // Keys of the tags.
};

// The values of DescribeInstanceStatus: "running", "ok", "impaired", "insufficient-data", ...
struct Ec2Status {
  std::string state, system, instance;
};
// Reads a response of DescribeInstanceStatus; nullopt if the instance is not in it.
[[nodiscard]] std::optional<Ec2Status> find_status(const aws::XmlElement& answer,
                                                   const std::string& id);

// Reads a response of DescribeInstances; nullopt if the instance is not in it.
[[nodiscard]] std::optional<Ec2Instance> find_instance(const aws::XmlElement& answer,
                                                       const std::string& id);

// Returns why the instance is not the machine of this node; nullopt if it is. Zone and type must
// match the node's labels. The instance must also have the node's name or the tag of `cluster`
// (kubernetes.io/cluster/NAME). `cluster` may be empty.
[[nodiscard]] std::optional<std::string> difference(const Ec2Instance& instance, const Ec2Id& id,
                                                    const Machine& machine,
                                                    const std::string& cluster);

}  // namespace gpuward::remediator
