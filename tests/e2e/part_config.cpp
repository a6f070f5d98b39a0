#include "tests/e2e/part_config.h"

#include "core/runtime/files.h"
#include "core/runtime/yaml.h"
#include "tests/places.inc"

namespace gpuward::e2e {
namespace {

constexpr std::chrono::milliseconds kNoTime{0};
constexpr std::chrono::milliseconds kLongTime = std::chrono::hours(24);

Status replace_all(std::string& text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) {
    return fail(ErrorKind::kInvalid, "a file in alerts/ no longer has the text `" + from + "`");
  }
  for (; at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return {};
}

Result<std::string> with_replacements(
    const std::string& name, const std::vector<std::pair<std::string, std::string>>& replacements) {
  auto text = read_file(alerts_folder() / name);
  if (!text) return text;
  for (const auto& [from, to] : replacements) {
    if (auto status = replace_all(*text, from, to); !status) return std::unexpected(status.error());
  }
  return text;
}

std::string quoted_list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "\"" : ", \"") + item + "\"";
  return text;
}

Result<YamlFile> shipped(const std::string& name) { return YamlFile::load(alerts_folder() / name); }

void read_duration(const YamlMap& map, const char* key, std::chrono::milliseconds& out) {
  map.read(key, out, kNoTime, kLongTime);
}

}  // namespace

std::filesystem::path alerts_folder() {
  return std::filesystem::path(GPUWARD_SOURCE_DIR) / "alerts";
}

Result<std::string> prometheus_config(const PrometheusTargets& targets) {
  const std::string line =
      "      - {targets: [\"gpu-node-1:10980\"], labels: {node: gpu-node-1}}\n";
  std::string lines;
  for (const auto& [node, address] : targets.exporters) {
    lines += "      - {targets: [\"" + address + "\"], labels: {node: " + node + "}}\n";
  }
  return with_replacements(
      "prometheus.yaml",
      {{line, lines},
       {"  - gpuward.rules.yaml", "  - " + (alerts_folder() / "gpuward.rules.yaml").string()},
       {"\"gpuward-remediator:10982\"", quoted_list({targets.remediator})},
       {"\"alertmanager:9093\"", quoted_list(targets.alertmanagers)}});
}

Result<std::string> alertmanager_config(const std::string& webhook_url,
                                        const std::filesystem::path& token_file) {
  return with_replacements(
      "alertmanager.yaml",
      {{"http://gpuward-remediator.gpuward.svc:10981/api/v1/alerts", webhook_url},
       {"/etc/alertmanager/gpuward-token", token_file.string()}});
}

Result<ConfiguredIntervals> configured_intervals() {
  const auto prometheus = shipped("prometheus.yaml");
  const auto rules = shipped("gpuward.rules.yaml");
  const auto alertmanager = shipped("alertmanager.yaml");
  if (!prometheus) return std::unexpected(prometheus.error());
  if (!rules) return std::unexpected(rules.error());
  if (!alertmanager) return std::unexpected(alertmanager.error());
  ConfiguredIntervals out;
  const YamlMap global = prometheus->root().map("global");
  read_duration(global, "scrape_interval", out.scrape);
  read_duration(global, "evaluation_interval", out.evaluation);
  for (const YamlMap& group : rules->root().maps("groups")) {
    for (const YamlMap& rule : group.maps("rules")) {
      std::string name;
      rule.read("alert", name);
      if (name == "GpuNodeNeedsReboot") read_duration(rule, "for", out.wait);
    }
  }
  // The first route is the one of the severities that take a node out of service.
  const auto routes = alertmanager->root().map("route").maps("routes");
  if (routes.empty()) return fail(ErrorKind::kInvalid, "alertmanager.yaml has no routes");
  read_duration(routes.front(), "group_wait", out.group_wait);
  return out;
}

}  // namespace gpuward::e2e
