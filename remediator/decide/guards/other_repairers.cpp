#include "remediator/decide/guards/other_repairers.h"

#include <algorithm>

#include "core/runtime/yaml_scalars.h"

namespace gpuward::remediator {
namespace {

bool is_at_rest(const RepairerSign& sign, const std::string& value) {
  return std::ranges::find(sign.at_rest, value) != sign.at_rest.end();
}

bool has_taint(const kube::Node& node, const RepairerSign& sign) {
  return std::ranges::any_of(node.taints, [&](const kube::Taint& taint) {
    return taint.key == sign.key && !is_at_rest(sign, taint.value);
  });
}

bool has_entry(const kube::Labels& entries, const RepairerSign& sign) {
  const auto found = entries.find(sign.key);
  return found != entries.end() && !is_at_rest(sign, found->second);
}

bool is_on(const kube::Node& node, const RepairerSign& sign) {
  switch (sign.kind) {
    case SignKind::kOfTaint:
      return has_taint(node, sign);
    case SignKind::kOfAnnotation:
      return has_entry(node.meta.annotations, sign);
    case SignKind::kOfLabel:
      break;
  }
  return has_entry(node.meta.labels, sign);
}

}  // namespace

std::optional<std::string> repairer_at_work(const kube::Node& node,
                                            std::span<const RepairerSign> signs) {
  const auto found =
      std::ranges::find_if(signs, [&](const RepairerSign& sign) { return is_on(node, sign); });
  if (found == signs.end()) return std::nullopt;
  return found->who + " (" + std::string(to_string(found->kind)) + " " + found->key + ")";
}

std::optional<std::string> other_repairer(const kube::Node& node,
                                          std::span<const RepairerSign> signs, WallTime now,
                                          std::chrono::milliseconds startup_grace) {
  if (auto who = repairer_at_work(node, signs)) return who;
  if (node.meta.created && now - *node.meta.created < startup_grace) {
    return "the node is younger than " + to_duration_text(startup_grace);
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
