#include "remediator/tell/web/site.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "core/html/page.h"
#include "core/html/parts.h"
#include "remediator/cluster/cluster.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/exclusions_json.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/cluster/view_queries.h"
#include "remediator/decide/budgets/ledger_store.h"
#include "remediator/tell/page/menu.h"
#include "remediator/tell/web/node_health.h"
#include "remediator/tell/web/pages.h"

namespace gpuward::remediator {
namespace {

using html::element;
using html::Markup;
using html::Page;

constexpr std::chrono::seconds kReadAgainAfter{2};
constexpr std::string_view kNodes = "/nodes/";
constexpr std::string_view kRemediations = "/remediations/";

Page page_of(const std::string& heading, std::string root, const Markup& body, int status = 200) {
  Markup whole = element("h1", {heading});
  whole += body;
  return {.title = heading + " - gpuward",
          .root = std::move(root),
          .program = "gpuward-remediator " GPUWARD_VERSION,
          .nav = site_menu(),
          .body = std::move(whole),
          .status = status};
}

Page not_found(const std::string& what) {
  Markup text = what + " was not found. See ";
  text += html::link("../", "the fleet");
  text += ", ";
  text += html::command("gpuwardctl list");
  return page_of("Not found", "../", html::note(text), 404);
}

// Shown before the first list of the API server.
Page nothing_read(const std::string& ns) {
  Markup text = html::alarm("The API server has not answered yet. ");
  text += "Retrying. To see the reason: ";
  text += html::command("kubectl -n " + ns +
                        " logs -l app.kubernetes.io/name=gpuward-remediator --prefix --tail=50");
  return page_of("Fleet", "", html::note(text), 503);
}

std::string name_after(std::string_view prefix, const http::Request& request) {
  return request.path.substr(std::min(prefix.size(), request.path.size()));
}

std::vector<Remediation> remediations_on(const ClusterView& view, const std::string& node) {
  std::vector<Remediation> found;
  {
    const auto state = view.lock();
    const auto [first, last] = state->by_node.equal_range(node);
    for (auto one = first; one != last; ++one) {
      const auto remediation = state->remediations.find(one->second);
      if (remediation != state->remediations.end()) found.push_back(remediation->second);
    }
  }
  std::ranges::sort(
      found, [](const Remediation& a, const Remediation& b) { return a.created > b.created; });
  return found;
}

// Returns why gpuward does not act on the node; empty if it may.
std::string exclusion_text_of(const Result<ExclusionList>& list, const Policy& policy,
                              const kube::Node& node, WallTime now) {
  if (!list) return "not known: " + list.error().message;
  if (const auto hit = exclusion_for(*list, node, now)) return hit->why;
  return exclusion_of(policy, node).value_or(std::string());
}

// Returns the exclusions; none if the ConfigMap does not exist.
Result<ExclusionList> read_exclusions(kube::Api& api, const std::string& ns) {
  const auto map = api.get_config_map(ns, kExclusionMap);
  if (map) return decode_exclusions(map->data);
  if (map.error().kind == ErrorKind::kNotFound) return ExclusionList();
  return std::unexpected(map.error());
}

}  // namespace

// Other requests at the same time wait for the same reads.
std::shared_ptr<const OverviewReadings> Site::readings() {
  const std::lock_guard lock(mutex_);
  if (readings_ && clock_.steady() - read_at_ < kReadAgainAfter) return readings_;
  LedgerStore ledger(api_, {.ns = ns_}, clock_);
  readings_ = std::make_shared<const OverviewReadings>(
      OverviewReadings{.lease = api_.get_lease(ns_, kLeaseName),
                       .stop_switch = api_.get_config_map(ns_, kSwitchName),
                       .ledger = ledger.read(),
                       .exclusions = read_exclusions(api_, ns_),
                       .connections = read_connections(api_, ns_, clock_.wall())});
  read_at_ = clock_.steady();
  return readings_;
}

std::string Site::in_cluster(const std::string& what) const {
  const auto policy = policy_.get();
  const std::string& name =
      policy->cluster.empty() ? policy->notifications.cluster : policy->cluster;
  return name.empty() ? what : what + " in " + name;
}

http::Response Site::show_fleet(const http::Request& request) {
  const auto now = clock_.wall();
  if (!view_.informers().synced()) return html::answer(request, nothing_read(ns_), now);
  const auto read = readings();
  const auto overview = overview_of(view_, *read, health_of_nodes(view_, now), *policy_.get(), now);
  return html::answer(request, page_of(in_cluster("Fleet"), "", fleet_page(overview, now)), now);
}

http::Response Site::show_node(const http::Request& request) {
  const auto now = clock_.wall();
  const std::string name = name_after(kNodes, request);
  NodeSeen seen{
      .name = name, .node = last_node(view_, name), .remediations = remediations_on(view_, name)};
  if (!seen.node && seen.remediations.empty())
    return html::answer(request, not_found("Node " + name), now);
  if (seen.node) {
    seen.health = health_of(*seen.node, now);
    seen.exclusion = exclusion_text_of(readings()->exclusions, *policy_.get(), *seen.node, now);
  }
  return html::answer(request, page_of(in_cluster("Node " + name), "../", node_page(seen, now)),
                      now);
}

http::Response Site::show_remediation(const http::Request& request) {
  const auto now = clock_.wall();
  const std::string name = name_after(kRemediations, request);
  const auto remediation = last_remediation(view_, name);
  if (!remediation) return html::answer(request, not_found("Remediation " + name), now);
  const std::string heading = "Remediation " + name + " of node " + remediation->node;
  return html::answer(
      request, page_of(in_cluster(heading), "../", remediation_page(*remediation, now)), now);
}

http::Response Site::show_policy(const http::Request& request) {
  return html::answer(request,
                      page_of(in_cluster("Policy in force"), "", policy_page(*policy_.get())),
                      clock_.wall());
}

std::vector<http::Route> Site::routes() {
  const auto route = [](std::string_view path, http::Match match, auto show) {
    return http::Route{.path = std::string(path),
                       .methods = {"GET"},
                       .handler = std::move(show),
                       .match = match,
                       .audience = http::Audience::kBrowsers};
  };
  using http::Match;
  using http::Request;
  std::vector<http::Route> routes = html::asset_routes();
  routes.push_back(
      route("/", Match::kExact, [this](const Request& one) { return show_fleet(one); }));
  routes.push_back(
      route("/policy", Match::kExact, [this](const Request& one) { return show_policy(one); }));
  routes.push_back(
      route(kNodes, Match::kPrefix, [this](const Request& one) { return show_node(one); }));
  routes.push_back(route(kRemediations, Match::kPrefix,
                         [this](const Request& one) { return show_remediation(one); }));
  return routes;
}

}  // namespace gpuward::remediator
