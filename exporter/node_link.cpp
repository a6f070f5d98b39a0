#include "exporter/node_link.h"

#include <utility>

#include "exporter/identity.h"

namespace gpuward::exporter {
namespace {

void say_unreachable(const Error& error, Store& store, Log& log) {
  log.error("Nothing is written to the node: there is no API server",
            {{"error", error.message}, {"hint", "leave NODE_NAME unset where this is meant"}});
  store.update_health([&](Health& health) { health.node.emplace().fault = error.message; });
}

}  // namespace

NodeLink::NodeLink(const Flags& flags, std::string boot_id, const Settings& settings, Store& store,
                   Clock& clock, Log& log)
    : node_(flags.node_name) {
  if (node_.empty()) {
    log.info("Nothing is written to the node: it has no name here (NODE_NAME)");
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
  publisher_ = std::make_unique<NodePublisher>(
      std::move(options),
      [this](kube::ApiDeadlines deadlines, std::stop_token stop) {
        return connection_->make_api(deadlines, std::move(stop));
      },
      store, clock, log);
}

void NodeLink::configure(const Settings& settings) {
  if (publisher_) publisher_->configure(settings.node, settings.checks.check_interval);
}

Result<std::string> NodeLink::instance_type() const {
  if (!connection_) return fail(ErrorKind::kNotFound, "there is no node to ask");
  return instance_type_at(*connection_, node_);
}

Result<std::string> instance_type_at(kube::Connection& connection, const std::string& node) {
  constexpr kube::ApiDeadlines kDeadlines{std::chrono::seconds(3), std::chrono::seconds(5)};
  if (node.empty()) return fail(ErrorKind::kNotFound, "there is no node to ask");
  return instance_type_label(*connection.make_api(kDeadlines), node);
}

}  // namespace gpuward::exporter
