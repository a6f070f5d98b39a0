#include "remediator/policy/konduktor_taint.h"

#include <algorithm>

#include "remediator/model/node_mark.h"

namespace gpuward::remediator {

kube::Taint konduktor_taint() {
  return {.key = std::string(kKonduktorTaintKey),
          .value = "true",
          .effect = std::string(kTaintEffect),
          .raw = {}};
}

bool has_konduktor_taint(const kube::Node& node) {
  return std::ranges::any_of(node.taints, [](const kube::Taint& taint) {
    return taint.key == kKonduktorTaintKey && taint.effect == kTaintEffect;
  });
}

bool wants_konduktor_taint(const Policy& policy, const Remediation& remediation) {
  return policy.loki.konduktor_taint &&
         std::ranges::any_of(remediation.alerts, [](const AlertEvidence& alert) {
           return alert.firing() && alert.fingerprint.starts_with(kLokiOrigin);
         });
}

bool lacks_konduktor_taint(const Policy& policy, const Remediation& remediation,
                           const kube::Node& node) {
  if (!wants_konduktor_taint(policy, remediation) || has_konduktor_taint(node)) return false;
  const auto mark = owner_annotation_on(node);
  return !mark || mark->name != remediation.name || !mark->konduktor;
}

std::optional<std::string> tainted_by_another_writer(std::span<const kube::Node> nodes) {
  for (const kube::Node& node : nodes) {
    const auto mark = owner_annotation_on(node);
    if (has_konduktor_taint(node) && !(mark && mark->konduktor)) return node.meta.name;
  }
  return std::nullopt;
}

}  // namespace gpuward::remediator
