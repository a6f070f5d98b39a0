#include "remediator/act/cloud/ec2_instance.h"

#include <algorithm>

#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kAwsPrefix = "aws:///";
constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";
constexpr const char* kTypeLabel = "node.kubernetes.io/instance-type";

bool is_instance_id(std::string_view text) {
  if (!text.starts_with("i-")) return false;
  text.remove_prefix(2);
  const bool is_long_enough = text.size() == 8 || text.size() == 17;
  return is_long_enough && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The parts of a zone up to the first number: "us-gov-west-1" of us-gov-west-1a, "us-west-2" of the
// local zone us-west-2-lax-1a.
std::string region_of(std::string_view zone) {
  for (std::size_t at = zone.find('-'); at != std::string_view::npos; at = zone.find('-', at + 1)) {
    std::size_t end = at + 1;
    while (end < zone.size() && is_digit(zone[end])) ++end;
    if (end > at + 1) return std::string(zone.substr(0, end));
  }
  return {};
}

bool names_node(const Ec2Instance& instance, const std::string& node) {
  return node == instance.private_dns || node == instance.id || node.starts_with(instance.id + ".");
}

}  // namespace

std::optional<Ec2Id> parse_ec2_id(std::string_view provider_id) {
  if (!provider_id.starts_with(kAwsPrefix)) return std::nullopt;
  provider_id.remove_prefix(kAwsPrefix.size());
  const std::size_t slash = provider_id.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view zone = provider_id.substr(0, slash);
  const std::string_view instance = provider_id.substr(slash + 1);
  const std::string region = region_of(zone);
  if (region.empty() || !is_instance_id(instance)) return std::nullopt;
  return Ec2Id{.instance = std::string(instance), .zone = std::string(zone), .region = region};
}

std::optional<Ec2Instance> find_instance(const aws::XmlElement& answer, const std::string& id) {
  for (const aws::XmlElement& reservation : answer.child("reservationSet").children) {
    for (const aws::XmlElement& item : reservation.child("instancesSet").children) {
      if (item.text_at("instanceId") != id) continue;
      Ec2Instance instance{.id = id,
                           .state = item.text_at("instanceState/name"),
                           .reason = item.text_at("stateReason/message"),
                           .zone = item.text_at("placement/availabilityZone"),
                           .type = item.text_at("instanceType"),
                           .private_dns = item.text_at("privateDnsName"),
                           .tags = {}};
      for (const aws::XmlElement& tag : item.child("tagSet").children)
        instance.tags.insert(tag.text_at("key"));
      return instance;
    }
  }
  return std::nullopt;
}

std::optional<Ec2Status> find_status(const aws::XmlElement& answer, const std::string& id) {
  for (const aws::XmlElement& item : answer.child("instanceStatusSet").children) {
    if (item.text_at("instanceId") != id) continue;
    return Ec2Status{.state = item.text_at("instanceState/name"),
                     .system = item.text_at("systemStatus/status"),
                     .instance = item.text_at("instanceStatus/status")};
  }
  return std::nullopt;
}

std::optional<std::string> difference(const Ec2Instance& instance, const Ec2Id& id,
                                      const Machine& machine, const std::string& cluster) {
  const std::string what = "instance " + instance.id;
  for (const std::string& zone : {id.zone, value_at(machine.labels, kZoneLabel)}) {
    if (!zone.empty() && zone != instance.zone)
      return what + " is in zone " + instance.zone + ", but the node is in zone " + zone;
  }
  const std::string type = value_at(machine.labels, kTypeLabel);
  if (!type.empty() && type != instance.type)
    return what + " has type " + instance.type + ", but the node has type " + type;
  if (names_node(instance, machine.node)) return std::nullopt;
  if (cluster.empty()) {
    return what + " has the private DNS name " + instance.private_dns +
           ", which does not match the node name, and machines.aws.cluster is not set";
  }
  const std::string tag = "kubernetes.io/cluster/" + cluster;
  if (instance.tags.contains(tag)) return std::nullopt;
  return what + " has the private DNS name " + instance.private_dns +
         ", which does not match the node name, and it has no tag " + tag;
}

}  // namespace gpuward::remediator
