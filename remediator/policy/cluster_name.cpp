#include "remediator/policy/cluster_name.h"

#include <algorithm>

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongest = 253;
constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:/@";

// The dot is the only character of a name with a meaning in a regular expression.
std::string as_pattern(std::string_view cluster) {
  std::string pattern;
  for (const char c : cluster) {
    if (c == '.')
      pattern += "[.]";
    else
      pattern += c;
  }
  return pattern;
}

std::string matcher(std::string_view comparison, std::string_view cluster) {
  if (cluster.empty()) return {};
  return "," + kClusterLabel + std::string(comparison) + "\"|" + as_pattern(cluster) + "\"";
}

}  // namespace

std::string read_cluster_name(const YamlMap& root) {
  std::string name;
  root.read("cluster", name,
            "value of the label `cluster` on alerts and series of this cluster; required if they "
            "have that label");
  if (name.size() > kLongest || name.find_first_not_of(kLetters) != std::string::npos)
    root.reject("cluster", "must be at most 253 characters: letters, digits and -_.:/@");
  return name;
}

Result<bool> is_of_cluster(const std::map<std::string, std::string>& labels,
                           std::string_view cluster) {
  const auto label = labels.find(kClusterLabel);
  const std::string_view named = label == labels.end() ? std::string_view() : label->second;
  if (named == cluster) return true;
  if (cluster.empty())
    return fail(ErrorKind::kInvalid,
                "label cluster: the policy does not say which cluster this is; set `cluster`");
  if (named.empty())
    return fail(ErrorKind::kInvalid, "label cluster: missing, but the policy sets `cluster`");
  return false;
}

std::string cluster_matcher(std::string_view cluster) { return matcher("=~", cluster); }

std::string other_clusters_matcher(std::string_view cluster) { return matcher("!~", cluster); }

}  // namespace gpuward::remediator
