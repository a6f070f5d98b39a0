#include "tests/alerts/month/routes.h"

#include <algorithm>
#include <regex>
#include <stdexcept>

#include "tests/alerts/month/yaml_seconds.h"

namespace gpuward::alerts {
namespace {

Matchers read_matchers(const YamlMap& map, const char* key) {
  std::vector<std::string> texts;
  map.read(key, texts);
  return {texts.begin(), texts.end()};
}

// A route inherits from `parent` all keys that it does not set.
Route read_route(const YamlMap& map, const Route& parent) {
  if (map.has("routes") && !parent.receiver.empty())
    throw std::runtime_error("routes below routes");
  Route route = parent;
  map.read("receiver", route.receiver);
  map.read("group_by", route.group_by);
  map.read("continue", route.goes_on);
  route.matchers = read_matchers(map, "matchers");
  route.group_wait = read_seconds(map, "group_wait", parent.group_wait);
  route.group_interval = read_seconds(map, "group_interval", parent.group_interval);
  route.repeat_interval = read_seconds(map, "repeat_interval", parent.repeat_interval);
  return route;
}

}  // namespace

Matcher::Matcher(const std::string& text) {
  static const std::regex kForm(R"re(\s*(\w+)\s*(=|!=|=~|!~)\s*"(.*)"\s*)re");
  std::smatch parts;
  if (!std::regex_match(text, parts, kForm)) throw std::runtime_error("no matcher: " + text);
  label_ = parts[1];
  value_ = parts[3];
  is_regex_ = parts[2].str().ends_with('~');
  is_negative_ = parts[2].str().starts_with('!');
}

bool Matcher::matches(const Labels& labels) const {
  const std::string found = label_of(labels, label_);
  const bool is_same = is_regex_ ? std::regex_match(found, std::regex(value_)) : found == value_;
  return is_same != is_negative_;
}

bool all_match(const Matchers& matchers, const Labels& labels) {
  return std::ranges::all_of(matchers, [&](const Matcher& one) { return one.matches(labels); });
}

std::vector<const Route*> Routing::routes_of(const Labels& labels) const {
  std::vector<const Route*> taken;
  for (const Route& route : routes) {
    const bool is_last = &route == &routes.back();
    if (is_last ? !taken.empty() : !all_match(route.matchers, labels)) continue;
    taken.push_back(&route);
    if (!route.goes_on) break;
  }
  return taken;
}

Routing read_routing(const std::string& text) {
  const auto file = YamlFile::parse(text, "alertmanager.yaml");
  if (!file) throw std::runtime_error(file.error().message);
  Routing routing;
  const YamlMap top = file->root().map("route");
  const Route root = read_route(top, {});
  for (const YamlMap& child : top.maps("routes")) routing.routes.push_back(read_route(child, root));
  routing.routes.push_back(root);
  for (const YamlMap& rule : file->root().maps("inhibit_rules")) {
    Inhibition inhibition{.source = read_matchers(rule, "source_matchers"),
                          .target = read_matchers(rule, "target_matchers"),
                          .equal = {}};
    rule.read("equal", inhibition.equal);
    routing.inhibitions.push_back(std::move(inhibition));
  }
  return routing;
}

}  // namespace gpuward::alerts
