#include "remediator/tell/texts/connection_links.h"

#include <algorithm>
#include <utility>

#include "core/runtime/text.h"
#include "remediator/inbox/connection_watch.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kNamed = 5;

Link works(std::string name, std::string text) {
  return {std::move(name), LinkState::kWorks, std::move(text)};
}
Link off(std::string name, std::string text) {
  return {std::move(name), LinkState::kOff, std::move(text)};
}
Link unknown(std::string name, std::string text) {
  return {std::move(name), LinkState::kUnknown, std::move(text)};
}
Link broken(std::string name, std::string text, std::string next) {
  return {std::move(name), LinkState::kBroken, std::move(text), std::move(next)};
}

std::string some(const NamedNodes& nodes) {
  const std::size_t shown = std::min(nodes.names.size(), kNamed);
  std::string text = list_first(std::span(nodes.names).first(shown), shown);
  if (nodes.count > shown) text += " and " + std::to_string(nodes.count - shown) + " more";
  return text;
}

// Builds sentences about the nodes of a list: all of them, or only the node of the command.
class Scope {
 public:
  explicit Scope(std::string_view node) : node_(node) {}
  [[nodiscard]] bool has_any(const NamedNodes& nodes) const {
    return node_.empty() ? nodes.count > 0 : nodes.has(node_);
  }
  // Faults of a few nodes of a fleet do not break the link for the fleet.
  [[nodiscard]] bool is_broken_by(const NamedNodes& nodes, std::size_t of) const {
    return node_.empty() ? nodes.count * kFewOf >= std::max<std::size_t>(of, 1) : nodes.has(node_);
  }
  // The list is cut, so this node may be missing.
  [[nodiscard]] bool is_unsure(const NamedNodes& nodes) const {
    return !node_.empty() && nodes.is_cut() && !nodes.has(node_);
  }
  [[nodiscard]] std::string subject(const NamedNodes& nodes) const {
    if (!node_.empty()) return "Node " + std::string(node_);
    return std::to_string(nodes.count) + (nodes.count == 1 ? " GPU node" : " GPU nodes");
  }
  // Returns the end of a sentence about the subject.
  [[nodiscard]] std::string names(const NamedNodes& nodes) const {
    return node_.empty() ? ": " + some(nodes) : std::string();
  }
  [[nodiscard]] std::string first(const NamedNodes& nodes) const {
    if (!node_.empty()) return std::string(node_);
    return nodes.names.empty() ? std::string("NODE") : nodes.names.front();
  }
  [[nodiscard]] bool is_one() const { return !node_.empty(); }

 private:
  static constexpr std::size_t kFewOf = 10;  // a tenth breaks the link
  std::string_view node_;
};

std::string pods_on(const std::string& node) {
  return "kubectl get pods -A -o wide -l app.kubernetes.io/component=agent "
         "--field-selector spec.nodeName=" +
         node;
}

// Returns the link that is broken for nodes of a list; nullopt if it is broken for none of them.
std::optional<Link> link_by(const std::string& link, const NamedNodes& nodes, std::size_t of,
                            const Scope& scope, const std::string& what, const std::string& next) {
  if (scope.is_unsure(nodes))
    return unknown(link, "This node may be one of " + std::to_string(nodes.count) +
                             " affected nodes, too many to list: " + what);
  if (!scope.has_any(nodes)) return std::nullopt;
  const std::string text = scope.subject(nodes) + ": " + what + scope.names(nodes);
  if (!scope.is_broken_by(nodes, of)) return works(link, "It works, except for " + text);
  return broken(link, text, next);
}

const std::string kMonitors =
    "set prometheusOperator.monitors=true in the chart's values, and prometheusOperator.labels to "
    "the labels that your Prometheus selects; without the operator, add the scrape jobs of "
    "alerts/prometheus-kubernetes.yaml";

Link target_link(const PrometheusFacts& facts, const Scope& scope) {
  if (facts.targets == 0 && facts.unnamed > 0)
    return broken("target",
                  "Prometheus scrapes " + std::to_string(facts.unnamed) +
                      " exporters without a `node` label: the rules ignore them",
                  "add the relabelings of alerts/prometheus-kubernetes.yaml to your scrape job");
  if (facts.targets == 0 && facts.other_jobs > 0)
    return broken(
        "target",
        "Prometheus scrapes " + std::to_string(facts.other_jobs) +
            " exporters under another job name: the rules use only job=\"gpuward-exporter\"",
        "name the scrape job gpuward-exporter");
  if (facts.targets == 0)
    return broken("target",
                  "Prometheus scrapes no exporter in this cluster (with the policy's `cluster`, if "
                  "it has one)",
                  kMonitors);
  if (auto link = link_by("target", facts.without_target, facts.targets, scope,
                          "Prometheus has no target for the exporter",
                          pods_on(scope.first(facts.without_target))))
    return *link;
  if (auto link =
          link_by("target", facts.down, facts.targets, scope,
                  "Prometheus cannot scrape the exporter", pods_on(scope.first(facts.down))))
    return *link;
  if (scope.is_one()) return works("target", "Prometheus scrapes the exporter");
  return works("target", "Prometheus scrapes " + std::to_string(facts.up) + " of " +
                             std::to_string(facts.targets) + " exporters");
}

Link series_link(const PrometheusFacts& facts, const Scope& scope) {
  if (facts.targets == 0) return unknown("series", "Prometheus must scrape an exporter first");
  if (auto link =
          link_by("series", facts.without_series, facts.targets, scope,
                  "the exporter reports no severity", "gpuwardctl runbook GpuFindingsAbsent"))
    return *link;
  return works("series", scope.is_one() ? "The exporter reports a severity"
                                        : "Each scraped exporter reports a severity");
}

bool is_heard(const std::optional<WebhookCall>& call, WallTime now) {
  return call && now - call->at < kHeardWithin;
}

Link alert_link(const Connections& all, const Scope& scope, WallTime now) {
  const PrometheusFacts& facts = *all.prometheus;
  if (!facts.heartbeat_fires && is_heard(all.calls.heartbeat, now))
    return unknown("alert", "The rules are evaluated elsewhere: the webhook receives " +
                                std::string(kHeartbeatAlert) +
                                ", but this Prometheus has no such alert");
  if (!facts.heartbeat_fires && !facts.reads_remediator)
    return broken("alert", "Prometheus does not scrape the remediator's metrics (port 10982)",
                  kMonitors);
  if (!facts.heartbeat_fires)
    return broken("alert",
                  "Prometheus has no alert " + std::string(kHeartbeatAlert) +
                      ": gpuward's rules are not loaded, or no replica leads",
                  "set prometheusOperator.rules=true in the chart's values (and leave this alert "
                  "out of disabledRules), and prometheusOperator.labels to the labels that your "
                  "Prometheus selects; without the operator, load alerts/gpuward.rules.yaml");
  if (scope.has_any(facts.unalerted))
    return broken(
        "alert",
        scope.subject(facts.unalerted) +
            ": a finding of severity reset or worse has had no alert for at least 3 minutes" +
            scope.names(facts.unalerted),
        "check gpuward's rules on Prometheus' Rules page");
  return works("alert", "The rules are loaded");
}

Link route_link(const Connections& facts, WallTime now) {
  if (facts.alertmanager && !facts.alertmanager->error.empty())
    return broken("route", "Alertmanager does not answer: " + facts.alertmanager->error,
                  "check remediator.alertmanagerURL in the chart's values");
  if (facts.reads_alerts) return off("route", "Alerts are read from Prometheus itself");
  const auto& prometheus = facts.prometheus;
  const bool is_seen = prometheus && prometheus->error.empty();
  if (is_seen && prometheus->alertmanagers == 0U && !is_heard(facts.calls.heartbeat, now))
    return broken("route", "Prometheus does not send alerts to any Alertmanager",
                  "add your Alertmanager to `alerting` of Prometheus' configuration");
  if (is_seen && prometheus->alertmanagers.value_or(0) > 0)
    return works("route", "Prometheus sends alerts to " +
                              std::to_string(*prometheus->alertmanagers) + " Alertmanager" +
                              (*prometheus->alertmanagers == 1 ? "" : "s"));
  if (facts.alertmanager) return works("route", "Alertmanager answers");
  return unknown("route", "Prometheus does not say where it sends alerts");
}

std::string refusal_text(const Connections& facts, WallTime now) {
  if (!facts.refused || facts.refused->at + kHeardWithin < now) return {};
  return "; a request was refused with HTTP " + std::to_string(facts.refused->status) + " " +
         age_text(facts.refused->at, now) + " ago";
}

std::string call_text(const WebhookCall& call, WallTime now) {
  std::string text = age_text(call.at, now) + " ago";
  if (!call.sender.empty()) text += " from " + call.sender;
  if (!call.receiver.empty()) text += " (receiver " + call.receiver + ")";
  return text;
}

std::string command_for_webhook(const Connections& facts, const std::string& ns, WallTime now) {
  std::string next =
      "add gpuward's routes to Alertmanager: with the operator, set prometheusOperator"
      ".alertmanagerConfig=true and alertmanagerConfigMatcherStrategy {type: None}; otherwise use "
      "those in alerts/alertmanager.yaml";
  if (!refusal_text(facts, now).empty())
    next += "; compare its token with the remediator's: kubectl -n " + ns +
            " get secret gpuward-webhook -o jsonpath='{.data.token}' | base64 -d";
  return next;
}

Link webhook_link(const Connections& facts, const std::string& ns, WallTime now) {
  const auto& [any, heartbeat, foreign] = facts.calls;
  const std::string refused = refusal_text(facts, now);
  if (is_heard(heartbeat, now))
    return works("webhook", "Alertmanager last sent the heartbeat " + call_text(*heartbeat, now));
  if (facts.reads_alerts) return off("webhook", "Alerts are read from Prometheus itself");
  if (facts.alertmanager && facts.alertmanager->error.empty())
    return off("webhook", "Alerts are read from Alertmanager each minute" + refused);
  if (is_heard(foreign, now))
    return broken("webhook",
                  "The heartbeat came " + call_text(*foreign, now) +
                      ", but its label `cluster` does not match the policy's `cluster`",
                  "set the policy's `cluster` to the external label `cluster` of your Prometheus");
  const std::string route = std::string("add the route of ") + kHeartbeatAlert.data() +
                            " to Alertmanager (alerts/alertmanager.yaml)";
  if (is_heard(any, now))
    return unknown("webhook", "Alertmanager called the webhook " + call_text(*any, now) +
                                  ", but does not send the heartbeat: " + route);
  if (any)
    return broken("webhook",
                  "Alertmanager last called the webhook " + call_text(*any, now) + ", but " +
                      std::string(kHeartbeatAlert) + " is due every 15 min" + refused,
                  command_for_webhook(facts, ns, now));
  return broken("webhook", "Alertmanager has not called the webhook" + refused,
                command_for_webhook(facts, ns, now));
}

Link record_link(const Connections& all, const Scope& scope, const std::string& ns) {
  const PrometheusFacts& facts = *all.prometheus;
  if (facts.targets == 0) return unknown("record", "Prometheus must scrape an exporter first");
  if (!scope.has_any(facts.unrecorded))
    return works("record", scope.is_one() ? "Every alert of the node has a Remediation"
                                          : "Every firing alert has a Remediation");
  const std::string text =
      scope.subject(facts.unrecorded) +
      ": an alert has been firing for at least 3 minutes without a Remediation" +
      scope.names(facts.unrecorded);
  // Only Alertmanager has the silences.
  if (!all.alertmanager) return unknown("record", text + ". The alert may be silenced");
  return broken("record", text,
                "kubectl -n " + ns + " logs -l app.kubernetes.io/component=controller --tail=50");
}

Link remediator_link(const ConnectionReading& reading) {
  const auto& [ns, now, facts] = reading;
  const std::string next =
      "kubectl -n " + ns + " get pods -l app.kubernetes.io/component=controller";
  if (!facts)
    return broken("remediator",
                  "No replica has written the ConfigMap " + std::string(kSourcesMap) +
                      ": none is running, its version is too old, or it lacks permission "
                      "(remediator-rbac.yaml)",
                  "kubectl -n " + ns + " logs -l app.kubernetes.io/component=controller --tail=50");
  const std::string age = age_text(facts->at, now) + " ago";
  if (facts->at + kFactsLast < now)
    return broken("remediator",
                  "No replica has checked the connections since " + to_rfc3339(facts->at), next);
  return works("remediator", facts->replica + " checked the connections " + age);
}

std::vector<Link> links(const ConnectionReading& reading, const Scope& scope) {
  const auto& [ns, now, facts] = reading;
  std::vector<Link> all{remediator_link(reading)};
  if (first_broken(all) != nullptr) {
    for (const char* name : {"target", "series", "alert", "route", "webhook", "record"})
      all.push_back(unknown(name, "The remediator must check first"));
    return all;
  }
  const auto& prometheus = facts->prometheus;
  const bool is_seen = prometheus && prometheus->error.empty();
  if (!prometheus) {
    all.push_back(broken("target", "No Prometheus is configured: nodes cannot be verified",
                         "set remediator.prometheusURL in the chart's values"));
  } else if (!is_seen) {
    all.push_back(broken("target", "Prometheus does not answer: " + prometheus->error,
                         "check remediator.prometheusURL in the chart's values"));
  }
  if (is_seen) {
    all.push_back(target_link(*prometheus, scope));
    all.push_back(series_link(*prometheus, scope));
    all.push_back(alert_link(*facts, scope, now));
  } else {
    for (const char* name : {"series", "alert"})
      all.push_back(unknown(name, "Prometheus must answer first"));
  }
  all.push_back(route_link(*facts, now));
  all.push_back(webhook_link(*facts, ns, now));
  all.push_back(is_seen ? record_link(*facts, scope, ns)
                        : unknown("record", "Prometheus must answer first"));
  return all;
}

Link named(std::string name, Link link) {
  link.name = std::move(name);
  return link;
}

// Returns the first broken link of these, else the first of them.
const Link& worst(const std::vector<Link>& all, std::initializer_list<std::string_view> names) {
  const auto is_one = [&](const Link& link) {
    return std::ranges::find(names, link.name) != names.end();
  };
  const auto bad = std::ranges::find_if(
      all, [&](const Link& link) { return is_one(link) && link.state == LinkState::kBroken; });
  return bad != all.end() ? *bad : *std::ranges::find_if(all, is_one);
}

}  // namespace

std::string_view to_string(LinkState state) {
  switch (state) {
    case LinkState::kWorks:
      return "ok";
    case LinkState::kOff:
      return "off";
    case LinkState::kUnknown:
      return "?";
    case LinkState::kBroken:
      return "BROKEN";
  }
  return "?";
}

Result<ConnectionReading> read_connections(kube::Api& api, const std::string& ns, WallTime now) {
  const auto map = api.get_config_map(ns, kSourcesMap);
  if (!map && map.error().kind == ErrorKind::kNotFound) return ConnectionReading{ns, now, {}};
  if (!map) return std::unexpected(map.error());
  return ConnectionReading{ns, now, newest_of(map->data, now)};
}

std::vector<Link> fleet_links(const ConnectionReading& reading) {
  return links(reading, Scope({}));
}

std::vector<Link> node_links(const ConnectionReading& reading, std::string_view node) {
  return links(reading, Scope(node));
}

const Link* first_broken(std::span<const Link> links) {
  const auto found = std::ranges::find(links, LinkState::kBroken, &Link::state);
  return found == links.end() ? nullptr : &*found;
}

std::vector<Link> sources(const ConnectionReading& reading) {
  const auto all = fleet_links(reading);
  if (all.front().state == LinkState::kBroken) return {named("Remediator", all.front())};
  std::vector<Link> sources{named("Webhook", worst(all, {"webhook"})),
                            named("Prometheus", worst(all, {"target", "series", "alert"}))};
  const Link& route = worst(all, {"route"});
  if (route.state == LinkState::kBroken) {
    sources.push_back(named("Alertmanager", route));
  } else if (reading.facts->alertmanager) {
    sources.push_back(works("Alertmanager", "it answers"));
  } else {
    sources.push_back(off("Alertmanager", "not configured (optional)"));
  }
  if (const Link& record = worst(all, {"record"}); record.state == LinkState::kBroken)
    sources.push_back(named("Remediations", record));
  return sources;
}

std::string source_text(const Link& source) {
  const bool is_broken = source.state == LinkState::kBroken;
  return source.name + ": " + (is_broken ? "NOT CONNECTED: " : "") + source.text;
}

}  // namespace gpuward::remediator
