#include "tests/dashboards/panels.h"

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "core/runtime/files.h"
#include "tests/places.inc"

namespace gpuward::dashboards {

std::filesystem::path folder() { return std::filesystem::path(GPUWARD_SOURCE_DIR) / "dashboards"; }

std::vector<Dashboard> load_dashboards() {
  std::vector<Dashboard> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".json") continue;
    const auto text = read_file(entry.path());
    if (!text) throw std::runtime_error(text.error().message);
    auto json = parse_json(*text);
    if (!json) throw std::runtime_error(entry.path().string() + ": " + json.error().message);
    out.push_back({entry.path().filename(), string_at(*json, "uid"), *std::move(json)});
  }
  std::ranges::sort(out, {}, &Dashboard::file);
  return out;
}

std::vector<Query> queries_of(const Dashboard& dashboard) {
  std::vector<Query> out;
  for (const Json& panel : member_at(dashboard.json, "panels")) {
    for (const Json& target : member_at(panel, "targets")) {
      out.push_back({dashboard.uid, string_at(panel, "title"), string_at(target, "expr")});
    }
  }
  return out;
}

std::vector<Query> annotations_of(const Dashboard& dashboard) {
  std::vector<Query> out;
  for (const Json& one : member_at(member_at(dashboard.json, "annotations"), "list")) {
    out.push_back({dashboard.uid, string_at(one, "name"), string_at(one, "expr")});
  }
  return out;
}

std::string with_variables(std::string expr, const std::string& clusters) {
  for (const auto& [variable, value] : {std::pair{"cluster", clusters.c_str()},
                                        {"job", ".+"},
                                        {"instance", ".+"},
                                        {"node", ".+"},
                                        {"__rate_interval", "1m"},
                                        {"__range", "10m"}}) {
    expr = std::regex_replace(expr, std::regex("\\$" + std::string(variable) + "\\b"), value);
  }
  return expr;
}

}  // namespace gpuward::dashboards
