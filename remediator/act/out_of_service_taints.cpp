#include "remediator/act/out_of_service_taints.h"

#include <string>

#include "remediator/cluster/view_queries.h"
#include "remediator/model/out_of_service.h"

namespace gpuward::remediator {
namespace {

Status take_off(kube::Api& api, const Permit& permit, const std::string& name, bool has_open) {
  const auto node = api.get_node(name);
  if (!node && node.error().kind == ErrorKind::kNotFound) return {};
  if (!node) return std::unexpected(node.error());
  const bool is_over = is_ready(*node) || !has_open;
  if (!is_over || !has_our_out_of_service_taint(*node)) return {};
  if (!permit()) return {};  // the stop switch reports why
  kube::NodeChange change;
  change.remove_taints.push_back(out_of_service_taint());
  const auto changed = api.change_node(*node, change);
  return changed ? Status() : std::unexpected(changed.error());
}

}  // namespace

Status take_off_out_of_service(kube::Api& api, const ClusterView& view, const Permit& permit) {
  if (!view.informers().synced()) return {};
  for (const auto& [name, has_open] : nodes_out_of_service(view)) {
    if (auto status = take_off(api, permit, name, has_open); !status)
      return with_context("removing the out-of-service taint from node " + name, status.error());
  }
  return {};
}

}  // namespace gpuward::remediator
