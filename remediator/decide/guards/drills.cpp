#include "remediator/decide/guards/drills.h"

#include "remediator/model/text_map.h"

namespace gpuward::remediator {

bool allows_drills(const kube::Node& node) {
  return value_at(node.meta.labels, std::string(kDrillLabel)) == kDrillAllowed;
}

std::optional<std::string> objection_to_drill(const Remediation& remediation,
                                              const kube::Node& node) {
  if (!remediation.is_drill() || allows_drills(node)) return std::nullopt;
  return "drill refused: the node does not have the label " + std::string(kDrillLabel) + "=" +
         std::string(kDrillAllowed);
}

std::string told_as(bool is_drill, std::string message) {
  if (!is_drill || message.starts_with("drill")) return message;
  return "drill: " + message;
}

}  // namespace gpuward::remediator
