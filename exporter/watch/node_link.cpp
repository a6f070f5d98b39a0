#include "exporter/watch/node_link.h"

#include <utility>

#include "exporter/config/identity.h"
#include "exporter/publish/node/claim.h"

namespace gpuward::exporter {
namespace {

constexpr kube::ApiDeadlines kQuestion{std::chrono::seconds(3), std::chrono::seconds(5)};

void say_unreachable(const Error& error, Store& store, Log& log) {
  log.error("Node publishing is off: no usable configuration for the API server",
            {{"error", error.message}, {"hint", "leave NODE_NAME unset if this is intended"}});
  store.update_health([&](Health& health) { health.node.emplace().fault = error.message; });
}

}  // namespace

NodeLink::NodeLink(const Flags& flags, std::string boot_id, const Settings& settings,
                   FindingEvents events, Store& store, Clock& clock, Log& log)
    : node_(flags.node_name) {
  if (node_.empty()) {
    log.info("Node publishing is off: NODE_NAME is not set");
    return;
  }
  auto cluster = kube::find_cluster(flags.kubeconfig, flags.kube_context);
  if (!cluster) {
    say_unreachable(cluster.error(), store, log);
    return;
  }
  connection_ = std::make_unique<kube::Connection>(*std::move(cluster), user_agent(), clock);
  NodePublisherOptions options;
  options.node = node_;
  options.boot_id = std::move(boot_id);
  options.settings = settings.node;
  options.cycle = settings.checks.check_interval;
  options.events = std::move(events);
  const auto make_api = [this](kube::ApiDeadlines deadlines, std::stop_token stop) {
    return connection_->make_api(deadlines, std::move(stop));
  };
  publisher_ = std::make_unique<NodePublisher>(std::move(options), make_api, store, clock, log);
  own_node_ = std::make_unique<OwnNode>(node_, make_api, clock, log);
}

void NodeLink::configure(const Settings& settings) {
  if (publisher_) publisher_->configure(settings.node, settings.checks.check_interval);
}

Result<std::string> NodeLink::instance_type() const {
  if (!connection_) return fail(ErrorKind::kNotFound, "there is no Node object to read");
  return instance_type_at(*connection_, node_);
}

std::optional<std::string> NodeLink::asking_label() const {
  return own_node_ ? own_node_->asking_label() : std::nullopt;
}

std::function<std::optional<std::string>()> ask_for_maintenance(const Flags& flags, Clock& clock) {
  if (flags.node_name.empty()) return nullptr;
  return [kubeconfig = flags.kubeconfig, context = flags.kube_context, name = flags.node_name,
          &clock]() -> std::optional<std::string> {
    constexpr const char* kUnknown = "cannot tell whether a quarantine is running on the node: ";
    auto cluster = kube::find_cluster(kubeconfig, context);
    if (!cluster) return kUnknown + cluster.error().message;
    kube::Connection connection(*std::move(cluster), user_agent(), clock);
    const auto node = connection.make_api(kQuestion)->get_node(name);
    if (!node) return kUnknown + node.error().message;
    const auto who = maintenance_of(*node);
    return who ? std::optional("the node is not available: " + *who) : std::nullopt;
  };
}

Result<std::string> instance_type_at(kube::Connection& connection, const std::string& node) {
  return instance_type_label(*connection.make_api(kQuestion), node);
}

}  // namespace gpuward::exporter
