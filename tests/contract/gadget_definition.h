// A small CustomResourceDefinition with a status subresource and a schema that refuses objects.
// Used by the contract tests.
#pragma once

namespace gpuward::contract {

inline constexpr const char* kGadgetDefinition = R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "gadgets.contract.gpuward.dev"},
  "spec": {
    "group": "contract.gpuward.dev", "scope": "Cluster",
    "names": {"kind": "Gadget", "listKind": "GadgetList", "plural": "gadgets", "singular": "gadget"},
    "versions": [{
      "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {
        "type": "object", "required": ["spec"],
        "properties": {
          "spec": {"type": "object", "required": ["severity"], "properties": {
            "severity": {"type": "string", "enum": ["reset", "reboot"]},
            "count": {"type": "integer", "minimum": 0},
            "note": {"type": "string", "maxLength": 8}}},
          "status": {"type": "object", "properties": {"phase": {"type": "string"}}}}}}}]}})";

}  // namespace gpuward::contract
