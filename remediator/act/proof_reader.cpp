#include "remediator/act/proof_reader.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kNodeLeases = "kube-node-lease";
// How old the list of all Leases may be: it shows the state of the other nodes, not of this one.
constexpr std::chrono::seconds kListLasts{20};

bool is_live(Clock::Wall renewed, Clock::Wall now) { return now - renewed < kLeaseLasts; }

// Treats nodes whose Lease is no longer renewed as silent before Kubernetes does.
void note_leases(const std::map<std::string, Clock::Wall>& renewals, Clock::Wall now,
                 std::vector<NodeSign>& nodes) {
  for (NodeSign& node : nodes) {
    const auto found = renewals.find(node.node);
    if (node.is_silent() || found == renewals.end() || is_live(found->second, now)) continue;
    node.ready = "Unknown";
    node.since = found->second;
  }
}

}  // namespace

Status ProofReader::check_silent(const kube::Node& node) {
  if (is_ready(node)) return fail(ErrorKind::kRefused, "the node is Ready again");
  const auto lease = parts_.api.get_lease(kNodeLeases, node.meta.name);
  if (!lease && lease.error().kind != ErrorKind::kNotFound)
    return fail(lease.error().kind, "the node's Lease cannot be read");
  const auto renewed = lease ? parse_rfc3339(lease->renew_time) : std::nullopt;
  if (renewed && is_live(*renewed, parts_.clock.wall()))
    return fail(ErrorKind::kRefused, "the kubelet is still renewing the node's Lease");
  return {};
}

Result<ProofReader::Renewals> ProofReader::renewals() {
  const std::lock_guard lock(mutex_);
  if (listed_at_ && parts_.clock.steady() - *listed_at_ < kListLasts) return renewals_;
  const auto leases =
      parts_.api.list_custom({"coordination.k8s.io", "v1", "leases", std::string(kNodeLeases)});
  if (!leases) return std::unexpected(leases.error());
  Renewals read;
  for (const kube::CustomObject& lease : *leases) {
    const auto renewed = parse_rfc3339(string_at(member_at(*lease.json, "spec"), "renewTime"));
    if (renewed) read.emplace(lease.meta.name, *renewed);
  }
  renewals_ = std::move(read);
  listed_at_ = parts_.clock.steady();
  return renewals_;
}

Status ProofReader::check_partition(const kube::Node& node) {
  if (!parts_.nodes.is_current(parts_.clock.steady()))
    return fail(ErrorKind::kUnavailable, "no recent contact with the API server");
  const auto renewed = renewals();
  if (!renewed) return fail(renewed.error().kind, "the Leases of the nodes cannot be read");
  const auto now = parts_.clock.wall();
  const auto policy = parts_.policy.get();
  std::vector<NodeSign> nodes = parts_.nodes.signs(now);
  note_leases(*renewed, now, nodes);
  const auto own = std::ranges::find(nodes, node.meta.name, &NodeSign::node);
  if (own == nodes.end() || !own->has_gpus)
    return fail(ErrorKind::kRefused, "the node has no GPUs");
  const SilentNodes silent(nodes, policy->silent, policy->startup_grace, now);
  if (const auto why = silent.objection(*own)) return fail(ErrorKind::kRefused, why->message);
  return {};
}

MachineProof ProofReader::scraped(const kube::Node& node) {
  MachineProof proof;
  proof.kind = ProofKind::kScrapes;
  proof.words = "Prometheus does not answer";
  if (parts_.scrapes == nullptr) {
    proof.words = "--prometheus.url is not set";
    return proof;
  }
  const auto scrapes = parts_.scrapes->of(node.meta.name, node.internal_ip);
  if (!scrapes) return proof;
  const auto all =
      static_cast<std::size_t>(scrapes->fleet_up) + static_cast<std::size_t>(scrapes->fleet_down);
  return proof_of(*scrapes, at_most(parts_.policy.get()->silent.at_most, all));
}

bool ProofReader::have_stood(const std::string& node_uid, const Result<MachineProofs>& proofs) {
  const auto now = parts_.clock.steady();
  const std::lock_guard lock(mutex_);
  std::erase_if(standing_, [&](const auto& one) { return now - one.second.looked > kLookedLast; });
  if (!proofs || objection_to_dead(*proofs, parts_.clock.wall())) {
    standing_.erase(node_uid);
    return true;  // an error or an objection is the answer at once
  }
  Standing& standing = standing_.try_emplace(node_uid, Standing{now, now}).first->second;
  standing.looked = now;
  return now - standing.since >= kProofsStand;
}

Result<MachineProofs> ProofReader::read(const kube::Node& node) {
  auto proofs = gather(node);
  if (have_stood(node.meta.uid, proofs)) return proofs;
  return fail(ErrorKind::kRefused, "the proofs that the machine is down must hold for 2m");
}

Result<MachineProofs> ProofReader::gather(const kube::Node& node) {
  if (!parts_.policy.get()->silent.is_on)
    return fail(ErrorKind::kRefused, "the policy no longer has the section `silent`");
  if (auto silent = check_silent(node); !silent) return std::unexpected(silent.error());
  if (auto partition = check_partition(node); !partition) return std::unexpected(partition.error());
  MachineProofs proofs = {scraped(node)};
  std::ranges::move(parts_.machines.proofs({.remediation = {},
                                            .node = node.meta.name,
                                            .node_uid = node.meta.uid,
                                            .provider_id = node.provider_id,
                                            .boot_id = node.boot_id,
                                            .labels = node.meta.labels}),
                    std::back_inserter(proofs));
  return proofs;
}

}  // namespace gpuward::remediator
