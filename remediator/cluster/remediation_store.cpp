#include "remediator/cluster/remediation_store.h"

#include <algorithm>
#include <utility>

#include "core/runtime/json.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/model/remediation_name.h"

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
  auto found = list(std::string(kNodeUidLabel) + "=" + to_label_value(node_uid));
  if (!found) return found;
  std::erase_if(*found, [&](const Remediation& one) { return one.node_uid != node_uid; });
  std::ranges::sort(*found, {}, [](const Remediation& one) { return count_in(one.name); });
  return found;
}

Result<std::vector<Remediation>> RemediationStore::list_all() { return list({}); }

// A Remediation that an operator has broken is skipped: gpuward must still look after its node.
Result<std::vector<Remediation>> RemediationStore::list(const std::string& selector) {
  std::vector<Remediation> found;
  const auto visited = api_.visit(remediation_collection(), selector,
                                  {.on_restart = [&] { found.clear(); },
                                   .on_object =
                                       [&](const Json& object) {
                                         auto remediation = read_remediation(object);
                                         if (remediation) found.push_back(*std::move(remediation));
                                       }});
  if (!visited) return std::unexpected(visited.error());
  return found;
}

Result<Remediation> RemediationStore::create(const Remediation& remediation) {
  return decoded(api_.create_custom(remediation_type(), create_body(remediation)));
}

Result<Remediation> RemediationStore::write_evidence(const Remediation& remediation) {
  return decoded(
      api_.patch_custom(remediation_type(), remediation.name, evidence_patch(remediation)));
}

Status RemediationStore::annotate(const Remediation& remediation, const Wishes& wishes) {
  Json annotations = Json::object();
  for (const auto& [key, value] : wishes)
    annotations[std::string(key)] = value ? Json(*value) : Json();
  const Json patch = {{"metadata",
                       {{"resourceVersion", remediation.resource_version},
                        {"annotations", std::move(annotations)}}}};
  const auto written = api_.patch_custom(remediation_type(), remediation.name, dump_json(patch));
  if (!written) return with_context("writing remediation " + remediation.name, written.error());
  return {};
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

// Returns it as it would be read back: under that version nothing else in it can have changed.
Result<Remediation> RemediationStore::write_status(const Remediation& remediation) {
  StatusWrite write = status_write(remediation);
  const auto meta = api_.update_custom_status(remediation_type(), remediation.name, write.body);
  if (!meta) return std::unexpected(meta.error());
  Remediation written = remediation;
  written.status = std::move(write.kept);
  written.resource_version = meta->resource_version;
  return written;
}

}  // namespace gpuward::remediator
