#include "exporter/publish/node/node_writer.h"

#include <utility>

#include "core/kube/update_node.h"
#include "exporter/publish/node/diagnosis.h"
#include "exporter/publish/node/node_change.h"

namespace gpuward::exporter {
namespace {

bool has_own_taint(const kube::Node& node, const NodeKeys& keys) {
  return (keys.taint && has_taint(node, *keys.taint)) ||
         has_taint(node, unhealthy_taint(keys.names())) ||
         has_taint(node, unhealthy_taint(names_on(node)));
}

}  // namespace

NodeWriter::NodeWriter(kube::Api& api, Clock& clock, std::string node, std::string boot_id)
    : api_(api), clock_(clock), node_(std::move(node)), boot_id_(std::move(boot_id)) {}

Status NodeWriter::write(const NodeWish& wish, const NodeKeys& keys,
                         std::chrono::milliseconds heartbeat, const std::stop_token& stop) {
  auto node = write_keys(wish, keys, stop);
  if (!node && node.error().kind == ErrorKind::kGone && pin_anew())
    node = write_keys(wish, keys, stop);
  Status status;
  if (!node) {
    status = std::unexpected(node.error());
    const bool was_refused =
        node.error().kind == ErrorKind::kForbidden || node.error().kind == ErrorKind::kInvalid;
    if (!was_refused || !keys.has_condition) return status;
    node = api_.get_node(node_);
    if (!node || (!uid_.empty() && node->meta.uid != uid_)) return status;
  }
  uid_ = node->meta.uid;
  labels_ = node->meta.labels;
  is_tainted_ = has_own_taint(*node, keys);
  if (!keys.has_condition) return status;
  const WallTime now = clock_.wall();
  const auto wanted = condition_of(with_diagnosis(wish, *node, now), *node, now, heartbeat);
  if (!wanted) return status;
  const auto beaten = api_.set_node_condition(*node, *wanted);
  if (!beaten && status) return std::unexpected(beaten.error());
  return status;
}

Result<kube::Node> NodeWriter::write_keys(const NodeWish& wish, const NodeKeys& keys,
                                          const std::stop_token& stop) {
  return kube::update_node(
      api_, {node_, uid_},
      [&](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        const WallTime now = clock_.wall();
        return change_of(with_diagnosis(wish, seen, now), keys, seen, now);
      },
      clock_, stop);
}

// A user has deleted the Node object, and the kubelet of this same machine has registered it again.
bool NodeWriter::pin_anew() {
  const auto node = api_.get_node(node_);
  if (!node || boot_id_.empty() || node->boot_id != boot_id_) return false;
  uid_ = node->meta.uid;
  return true;
}

Status NodeWriter::say_stopped(kube::Api& api, const NodeNames& names) {
  if (uid_.empty()) return {};
  const auto node = kube::update_node(
      api, {node_, uid_},
      [&names](const kube::Node& seen) -> std::optional<kube::NodeChange> {
        const std::string status(names(NodeName::kStatus));
        // A node without GPUs has no status label and gets none.
        if (!seen.meta.labels.contains(status)) return std::nullopt;
        kube::NodeChange change;
        change.set_labels.emplace(status, kAgentStopped);
        return change;
      },
      clock_);
  if (!node) return std::unexpected(node.error());
  return {};
}

}  // namespace gpuward::exporter
