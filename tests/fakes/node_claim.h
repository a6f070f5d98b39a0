// Karpenter's NodeClaim as far as a terminate needs it: the definition for an API server, and one
// that owns a node's machine. Tests play Karpenter: they take the finalizer off.
#pragma once

#include <string>

#include "core/runtime/json.h"

namespace gpuward::fakes {

inline constexpr const char* kNodeClaims = "/apis/karpenter.sh/v1/nodeclaims";

inline Json node_claim_definition() {
  Json version = {{"name", "v1"}, {"served", true}, {"storage", true}};
  version["schema"]["openAPIV3Schema"] = {{"type", "object"},
                                          {"x-kubernetes-preserve-unknown-fields", true}};
  Json definition = {{"apiVersion", "apiextensions.k8s.io/v1"},
                     {"kind", "CustomResourceDefinition"},
                     {"metadata", {{"name", "nodeclaims.karpenter.sh"}}}};
  definition["spec"] = {{"group", "karpenter.sh"},
                        {"scope", "Cluster"},
                        {"names",
                         {{"kind", "NodeClaim"},
                          {"listKind", "NodeClaimList"},
                          {"plural", "nodeclaims"},
                          {"singular", "nodeclaim"}}},
                        {"versions", Json::array({version})}};
  return definition;
}

inline Json node_claim(const std::string& name, const std::string& provider_id) {
  return {{"apiVersion", "karpenter.sh/v1"},
          {"kind", "NodeClaim"},
          {"metadata", {{"name", name}, {"finalizers", Json::array({"karpenter.sh/termination"})}}},
          {"status", {{"providerID", provider_id}}}};
}

// What Karpenter writes on the Node: a merge patch.
inline Json owned_by_node_claim(const std::string& name, const std::string& uid) {
  const Json owner = {{"apiVersion", "karpenter.sh/v1"},
                      {"kind", "NodeClaim"},
                      {"name", name},
                      {"uid", uid},
                      {"blockOwnerDeletion", true}};
  return {{"metadata", {{"ownerReferences", Json::array({owner})}}}};
}

}  // namespace gpuward::fakes
