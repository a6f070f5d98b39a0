#include "tests/e2e/watch.h"

#include "core/runtime/json.h"
#include "tests/e2e/stack.h"
#include "tests/support/http_get.h"

namespace gpuward::e2e {
namespace {

constexpr const char* kTaint = "gpuward.dev/remediation";

std::string percent_encoded(const std::string& text) {
  constexpr const char* kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4U], kHex[byte & 15U]};
    }
  }
  return out;
}

// Null if there is no answer or it is not JSON.
Json json_of(const std::string& body) { return parse_json(body).value_or(Json()); }
Json json_from(const std::string& url) { return json_of(support::http_get(url).body); }

}  // namespace

bool Watch::exporter_serves(const std::string& node, const std::string& line) const {
  const auto page = support::http_get(stack_.exporter_url(node) + "/metrics").body;
  return ("\n" + page).find("\n" + line + "\n") != std::string::npos;
}

std::string Watch::alert_state(const std::string& alertname, const std::string& node) const {
  const auto alerts = alerts_of(node);
  const auto at = alerts.find(alertname);
  return at == alerts.end() ? "" : at->second;
}

std::map<std::string, std::string> Watch::alerts_of(const std::string& node) const {
  const Json answer = json_from(stack_.prometheus_url() + "/api/v1/alerts");
  std::map<std::string, std::string> out;
  for (const Json& alert : member_at(member_at(answer, "data"), "alerts")) {
    const Json& labels = member_at(alert, "labels");
    if (string_at(labels, "node") != node) continue;
    out[string_at(labels, "alertname")] = string_at(alert, "state");
  }
  return out;
}

std::optional<double> Watch::query(const std::string& expression) const {
  const Json answer =
      json_from(stack_.prometheus_url() + "/api/v1/query?query=" + percent_encoded(expression));
  const Json& result = member_at(member_at(answer, "data"), "result");
  if (!result.is_array() || result.size() != 1) return std::nullopt;
  const Json& value = member_at(result[0], "value");
  if (!value.is_array() || value.size() != 2 || !value[1].is_string()) return std::nullopt;
  return std::stod(value[1].get<std::string>());
}

std::size_t Watch::scraped_exporters() const {
  return static_cast<std::size_t>(query("sum(up{job=\"gpuward-exporter\"})").value_or(0));
}

std::size_t Watch::known_alertmanagers() const {
  const Json answer = json_from(stack_.prometheus_url() + "/api/v1/alertmanagers");
  return member_at(member_at(answer, "data"), "activeAlertmanagers").size();
}

std::optional<NodeView> Watch::node(const std::string& name) const {
  const auto body = cluster_.get("/api/v1/nodes/" + name);
  if (!body) return std::nullopt;
  const Json node = json_of(*body);
  const Json& meta = member_at(node, "metadata");
  const Json& spec = member_at(node, "spec");
  NodeView view;
  view.resource_version = string_at(meta, "resourceVersion");
  view.cordoned = member_at(spec, "unschedulable") == true;
  view.annotation = string_at(member_at(meta, "annotations"), kTaint);
  for (const Json& taint : member_at(spec, "taints")) {
    if (string_at(taint, "key") == kTaint) {
      view.taint = string_at(taint, "value") + ":" + string_at(taint, "effect");
    } else {
      view.other_taints.push_back(string_at(taint, "key"));
    }
  }
  return view;
}

std::vector<RemediationView> Watch::remediations_of(const std::string& node) const {
  const auto body = cluster_.get("/apis/gpuward.dev/v1alpha1/remediations");
  std::vector<RemediationView> out;
  if (!body) return out;
  const Json list = json_of(*body);
  for (const Json& item : member_at(list, "items")) {
    const Json& spec = member_at(item, "spec");
    const Json& meta = member_at(item, "metadata");
    if (string_at(spec, "nodeName") != node) continue;
    out.push_back({string_at(meta, "name"), string_at(meta, "resourceVersion"),
                   string_at(spec, "severity"), string_at(member_at(item, "status"), "phase")});
  }
  return out;
}

std::vector<std::string> Watch::events_about(const std::string& node) const {
  const auto body = cluster_.get("/api/v1/namespaces/default/events");
  std::vector<std::string> out;
  if (!body) return out;
  const Json list = json_of(*body);
  for (const Json& item : member_at(list, "items")) {
    const Json& object = member_at(item, "involvedObject");
    if (string_at(object, "kind") != "Node" || string_at(object, "name") != node) continue;
    out.push_back(string_at(item, "reason"));
  }
  return out;
}

}  // namespace gpuward::e2e
