// Which fields the Remediation resource has, one line each: its name, its member, its form and its
// sentence. The JSON (remediation_json), the schema in manifests/crd.yaml and docs/remediation.md
// come from there. A new field is optional, and no form gets wider: after a rollback the version
// before reads and writes the same objects.
#pragma once

#include "remediator/model/remediation.h"
#include "remediator/records/fields.h"

namespace gpuward::remediator {

// The spec: what is written once, and the evidence, which grows.
[[nodiscard]] const Fields<Remediation>& identity_fields();
[[nodiscard]] const Fields<Remediation>& evidence_fields();

[[nodiscard]] const Fields<RemediationStatus>& status_fields();

// Of the whole resource, as a CustomResourceDefinition has it.
[[nodiscard]] Json remediation_schema();

}  // namespace gpuward::remediator
