// CustomResourceDefinitions for an API server, fake or real, reduced to the parts that a test
// needs: one version, whose objects may have any fields.
#pragma once

#include <string>

#include "core/runtime/json.h"

namespace gpuward::fakes {

inline constexpr const char* kDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

struct CustomKind {
  std::string group, version, kind, plural;
  bool namespaced = false;
  bool has_status = false;  // as a subresource
};

inline Json custom_definition(const CustomKind& custom) {
  Json version = {{"name", custom.version}, {"served", true}, {"storage", true}};
  if (custom.has_status) version["subresources"]["status"] = Json::object();
  version["schema"]["openAPIV3Schema"] = {{"type", "object"},
                                          {"x-kubernetes-preserve-unknown-fields", true}};
  const std::string singular = custom.plural.substr(0, custom.plural.size() - 1);
  Json definition = {{"apiVersion", "apiextensions.k8s.io/v1"},
                     {"kind", "CustomResourceDefinition"},
                     {"metadata", {{"name", custom.plural + "." + custom.group}}}};
  definition["spec"] = {{"group", custom.group},
                        {"scope", custom.namespaced ? "Namespaced" : "Cluster"},
                        {"names",
                         {{"kind", custom.kind},
                          {"listKind", custom.kind + "List"},
                          {"plural", custom.plural},
                          {"singular", singular}}},
                        {"versions", Json::array({version})}};
  return definition;
}

}  // namespace gpuward::fakes
