#include "remediator/execution/out_of_service_taints.h"

#include "remediator/model/out_of_service.h"
#include "remediator/records/view_queries.h"

namespace gpuward::remediator {

Status OutOfServiceTaints::take_off() {
  if (!view_.informers().synced()) return {};
  for (const auto& [name, has_open] : nodes_out_of_service(view_)) {
    if (auto status = take_off(name, has_open); !status)
      return with_context("taint out-of-service of node " + name, status.error());
  }
  return {};
}

Status OutOfServiceTaints::take_off(const std::string& name, bool has_open) {
  const auto node = api_.get_node(name);
  if (!node && node.error().kind == ErrorKind::kNotFound) return {};
  if (!node) return std::unexpected(node.error());
  const bool is_over = is_ready(*node) || !has_open;
  if (!is_over || !has_our_out_of_service_taint(*node)) return {};
  if (!permit_()) return {};  // the stop switch says why elsewhere
  kube::NodeChange change;
  change.remove_taints.push_back(out_of_service_taint());
  const auto changed = api_.change_node(*node, change);
  return changed ? Status() : std::unexpected(changed.error());
}

}  // namespace gpuward::remediator
