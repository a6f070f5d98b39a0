#include "tests/fakes/kube/target.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpuward::fakes {
namespace {

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  for (std::size_t begin = 1; begin < path.size();) {
    const auto slash = std::min(path.find('/', begin), path.size());
    if (slash > begin) segments.emplace_back(path.substr(begin, slash - begin));
    begin = slash + 1;
  }
  return segments;
}

// Removes and returns the first segment, if there is one.
std::string take(std::vector<std::string>& segments) {
  if (segments.empty()) return {};
  std::string first = std::move(segments.front());
  segments.erase(segments.begin());
  return first;
}

bool names_namespace_itself(const std::vector<std::string>& rest) {
  return rest.size() <= 2 || (rest.size() == 3 && (rest[2] == "status" || rest[2] == "finalize"));
}

}  // namespace

Outcome<Target> parse_target(const Registry& registry, std::string_view path) {
  std::vector<std::string> rest = segments_of(path);
  const std::string root = take(rest);
  if (root != "api" && root != "apis") return no_such_page();
  const std::string group = root == "apis" ? take(rest) : "";
  const std::string version = take(rest);
  Target target;
  if (!rest.empty() && rest[0] == "watch") {
    target.legacy_watch = true;
    take(rest);
  }
  if (!rest.empty() && rest[0] == "namespaces" &&
      !(group.empty() && names_namespace_itself(rest))) {
    take(rest);
    target.ns = take(rest);
  }
  const std::string plural = take(rest);
  target.name = take(rest);
  target.subresource = take(rest);
  target.resource = registry.find(group, version, plural);
  if (!target.resource && !registry.serves(group, version)) return no_such_page();
  if (!target.resource || !rest.empty()) return no_such_path();
  if (!target.resource->traits.namespaced && !target.ns.empty()) return no_such_path();
  if (target.resource->traits.namespaced && target.ns.empty() && !target.name.empty()) {
    return no_such_path();
  }
  return target;
}

}  // namespace gpuward::fakes
