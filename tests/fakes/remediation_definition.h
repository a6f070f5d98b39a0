// The Remediation resource for the fake API server: what has to be created there before anything
// that works with Remediations. Used by the tests of the remediator and by its simulation.
#pragma once

#include "core/runtime/json.h"

namespace gpuward::remediator {

inline constexpr const char* kDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

// The CRD as shipped, cut to what the fake needs.
inline Json remediation_definition() {
  Json version = {{"name", "v1alpha1"}, {"served", true}, {"storage", true}};
  version["subresources"]["status"] = Json::object();
  version["schema"]["openAPIV3Schema"] = {{"type", "object"},
                                          {"x-kubernetes-preserve-unknown-fields", true}};
  Json definition = {{"apiVersion", "apiextensions.k8s.io/v1"},
                     {"kind", "CustomResourceDefinition"},
                     {"metadata", {{"name", "remediations.gpuward.dev"}}}};
  definition["spec"] = {{"group", "gpuward.dev"},
                        {"scope", "Cluster"},
                        {"names",
                         {{"kind", "Remediation"},
                          {"listKind", "RemediationList"},
                          {"plural", "remediations"},
                          {"singular", "remediation"}}},
                        {"versions", Json::array({version})}};
  return definition;
}

}  // namespace gpuward::remediator
