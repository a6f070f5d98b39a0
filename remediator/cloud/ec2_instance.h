// An EC2 instance as a Node names it and as AWS describes it, and whether the two are one machine.
// Used by the AWS provider. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/aws/xml.h"
#include "remediator/cloud/provider.h"

namespace gpuward::remediator {

struct Ec2Id {
  std::string instance, zone, region;  // "i-0123456789abcdef0", "us-east-1a", "us-east-1"
};

// Of `aws:///us-east-1a/i-0123456789abcdef0`; nullopt for all else that begins with aws:// too:
// Fargate, HyperPod and hybrid nodes run on no EC2 instance of ours.
[[nodiscard]] std::optional<Ec2Id> parse_ec2_id(std::string_view provider_id);

struct Ec2Instance {
  std::string id, state;  // "running"
  std::string reason;     // of the state, as EC2 says it; empty where it says none
  std::string zone, type, private_dns;
  std::set<std::string> tags;  // their keys
};

// As DescribeInstanceStatus has it: "running", "ok", "impaired", "insufficient-data", ...
struct Ec2Status {
  std::string state, system, instance;
};
// Of an answer of DescribeInstanceStatus; nullopt where the instance is not in it.
[[nodiscard]] std::optional<Ec2Status> find_status(const aws::XmlElement& answer,
                                                   const std::string& id);

// Of an answer of DescribeInstances; nullopt where the instance is not in it.
[[nodiscard]] std::optional<Ec2Instance> find_instance(const aws::XmlElement& answer,
                                                       const std::string& id);

// Why the instance is not the machine of this node; nullopt where it is. Zone and type are those of
// the node's own labels, and its name is the node's, or it carries the tag of `cluster`
// (kubernetes.io/cluster/NAME), which may be empty.
[[nodiscard]] std::optional<std::string> difference(const Ec2Instance& instance, const Ec2Id& id,
                                                    const Machine& machine,
                                                    const std::string& cluster);

}  // namespace gpuward::remediator
