#include "remediator/cluster/view_feed.h"

#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/kube/decode.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/cluster/view_queries.h"

namespace gpuward::remediator {
namespace {

std::optional<FleetNode> census_of(const kube::Node& node, const BudgetLimits& budgets) {
  if (!is_gpu_node(node)) return std::nullopt;
  return fleet_node(node, place_keys(budgets));
}

void wake(const ViewFeed& feed, const std::string& node) {
  if (!open_for(feed.view, node).empty()) (void)feed.queue.add(node);
}

void take_node(const ViewFeed& feed, const Json& object) {
  auto node = kube::decode_node(object);
  if (!node) {
    feed.log.error("Failed to parse Node", {{"error", node.error().message}});
    return;
  }
  const std::string name = node->meta.name;
  // The writer of this version has checked the node already, and queues it itself if needed.
  const bool is_own = is_own_change(feed.view, name, node->meta.resource_version);
  auto census = census_of(*node, feed.policy.get()->budgets);
  feed.view.put_node(std::move(*node), std::move(census));
  if (!is_own) wake(feed, name);
}

void take_remediation(const ViewFeed& feed, const Json& object) {
  auto remediation = read_remediation(object);
  if (!remediation) {
    feed.log.error("Failed to parse Remediation", {{"error", remediation.error().message}});
    return;
  }
  // This process knows its own writes already.
  if (knows_version(feed.view, remediation->name, remediation->resource_version)) return;
  const std::string node = remediation->node;
  const bool wants_us = remediation->wants_us();
  feed.view.put_remediation(std::move(*remediation));
  if (wants_us) (void)feed.queue.add(node);
}

}  // namespace

kube::InformerHandlers node_handlers(const ViewFeed& feed) {
  return {.on_upsert = [feed](const Json& object) { take_node(feed, object); },
          .on_delete =
              [feed](const std::string& name) {
                feed.view.remove_node(name);
                wake(feed, name);
              },
          .on_synced = [feed](const auto&,
                              const auto&) { feed.view.informers().note_synced(Informer::kNodes); },
          .on_heard =
              [feed] { feed.view.informers().note_heard(Informer::kNodes, feed.clock.steady()); },
          .on_went_back = feed.on_went_back,
          .on_error = feed.on_error};
}

kube::InformerHandlers remediation_handlers(const ViewFeed& feed) {
  return {.on_upsert = [feed](const Json& object) { take_remediation(feed, object); },
          .on_delete = [feed](const std::string& name) { feed.view.remove_remediation(name); },
          .on_synced =
              [feed](const std::set<std::string>& names, const std::string& version) {
                feed.view.keep_remediations(names, version);
                feed.view.informers().note_synced(Informer::kRemediations);
              },
          .on_heard =
              [feed] {
                feed.view.informers().note_heard(Informer::kRemediations, feed.clock.steady());
              },
          .known = [feed] { return remediation_versions(feed.view); },
          .on_went_back = feed.on_went_back,
          .on_error = feed.on_error};
}

}  // namespace gpuward::remediator
