#include "remediator/workflow/remediation_store.h"

#include <algorithm>

#include "remediator/workflow/remediation_json.h"
#include "remediator/workflow/remediation_name.h"

namespace gpuward::remediator {
namespace {

Result<Remediation> decoded(const Result<kube::CustomObject>& object) {
  if (!object) return std::unexpected(object.error());
  return to_remediation(*object);
}

}  // namespace

Result<Remediation> RemediationStore::read(std::string_view name) {
  return decoded(api_.get_custom(remediation_type(), name));
}

Result<std::vector<Remediation>> RemediationStore::list_for(std::string_view node_uid) {
  const std::string selector = std::string(kNodeUidLabel) + "=" + to_label_value(node_uid);
  const auto objects = api_.list_custom(remediation_type(), selector);
  if (!objects) return std::unexpected(objects.error());
  std::vector<Remediation> result;
  for (const kube::CustomObject& object : *objects) {
    auto remediation = to_remediation(object);
    // One that a human has broken must not keep the node from being looked after.
    if (remediation && remediation->node_uid == node_uid) result.push_back(std::move(*remediation));
  }
  std::sort(result.begin(), result.end(), [](const Remediation& a, const Remediation& b) {
    return count_in(a.name) < count_in(b.name);
  });
  return result;
}

Result<std::vector<Remediation>> RemediationStore::list_all() {
  const auto objects = api_.list_custom(remediation_type());
  if (!objects) return std::unexpected(objects.error());
  std::vector<Remediation> result;
  for (const kube::CustomObject& object : *objects) {
    if (auto remediation = to_remediation(object)) result.push_back(std::move(*remediation));
  }
  return result;
}

Result<Remediation> RemediationStore::create(const Remediation& remediation) {
  return decoded(api_.create_custom(remediation_type(), create_body(remediation)));
}

Result<Remediation> RemediationStore::write_evidence(const Remediation& remediation) {
  return decoded(
      api_.patch_custom(remediation_type(), remediation.name, evidence_patch(remediation)));
}

Status RemediationStore::let_go(const Remediation& remediation) {
  const auto written =
      api_.patch_custom(remediation_type(), remediation.name, release_patch(remediation));
  if (!written) return std::unexpected(written.error());
  return {};
}

Status RemediationStore::remove(const Remediation& remediation) {
  return api_.delete_custom(remediation_type(), remediation.name, remediation.uid);
}

Result<Remediation> RemediationStore::write_status(const Remediation& remediation) {
  return decoded(
      api_.patch_custom_status(remediation_type(), remediation.name, status_patch(remediation)));
}

}  // namespace gpuward::remediator
