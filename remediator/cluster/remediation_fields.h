// The fields of the Remediation resource, one line each: name, member, form and description. The
// JSON (remediation_json), the schema in manifests/crd.yaml and docs/remediation.md are made from
// them. A new field is optional, and no form gets wider: after a rollback the previous version
// reads and writes the same objects.
#pragma once

#include "remediator/cluster/fields.h"
#include "remediator/model/remediation.h"

namespace gpuward::remediator {

// The spec: fields that are written once, and the evidence, which grows.
[[nodiscard]] const Fields<Remediation>& identity_fields();
[[nodiscard]] const Fields<Remediation>& evidence_fields();

[[nodiscard]] const Fields<RemediationStatus>& status_fields();

// Schema of the whole resource, as a CustomResourceDefinition needs it.
[[nodiscard]] Json remediation_schema();

}  // namespace gpuward::remediator
