// The owners of machines, as far as a terminate needs them: the definitions of Karpenter's
// NodeClaim and of the Machine for an API server, and such objects. Tests play Karpenter: they
// remove the finalizer.
#pragma once

#include <string>

#include "tests/fakes/custom_definition.h"

namespace gpuward::fakes {

inline constexpr const char* kNodeClaims = "/apis/karpenter.sh/v1/nodeclaims";

inline Json node_claim_definition() {
  return custom_definition(
      {.group = "karpenter.sh", .version = "v1", .kind = "NodeClaim", .plural = "nodeclaims"});
}

inline Json node_claim(const std::string& name, const std::string& provider_id) {
  return {{"apiVersion", "karpenter.sh/v1"},
          {"kind", "NodeClaim"},
          {"metadata", {{"name", name}, {"finalizers", Json::array({"karpenter.sh/termination"})}}},
          {"status", {{"providerID", provider_id}}}};
}

// The merge patch that Karpenter writes on the Node.
inline Json owned_by_node_claim(const std::string& name, const std::string& uid) {
  const Json owner = {{"apiVersion", "karpenter.sh/v1"},
                      {"kind", "NodeClaim"},
                      {"name", name},
                      {"uid", uid},
                      {"blockOwnerDeletion", true}};
  return {{"metadata", {{"ownerReferences", Json::array({owner})}}}};
}

// The Machine of Cluster API or OpenShift.
inline Json machine_definition(const std::string& group, const std::string& version) {
  return custom_definition({.group = group,
                            .version = version,
                            .kind = "Machine",
                            .plural = "machines",
                            .namespaced = true});
}

inline Json machine_object(const std::string& api_version, const std::string& name,
                           const std::string& provider_id) {
  return {{"apiVersion", api_version},
          {"kind", "Machine"},
          {"metadata", {{"name", name}}},
          {"spec", {{"providerID", provider_id}}}};
}

}  // namespace gpuward::fakes
