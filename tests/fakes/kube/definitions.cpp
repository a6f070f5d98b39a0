#include "tests/fakes/kube/definitions.h"

#include <string>
#include <utility>

namespace gpuward::fakes {
namespace {

const Json& spec_of(const Json& definition) { return member_at(definition, "spec"); }

std::string lower(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

Json condition(const char* type, const char* reason, const char* message, const std::string& now) {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", message},
          {"lastTransitionTime", now}};
}

}  // namespace

std::vector<Cause> faults_of_definition(const Json& definition) {
  std::vector<Cause> causes;
  const Json& spec = spec_of(definition);
  const std::string group = string_at(spec, "group");
  const std::string plural = string_at(member_at(spec, "names"), "plural");
  const std::string name = string_at(member_at(definition, "metadata"), "name");
  if (name != plural + "." + group) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"" + name + "\": must be spec.names.plural+\".\"+spec.group",
                      "metadata.name"});
  }
  const std::string scope = string_at(spec, "scope");
  if (scope != "Cluster" && scope != "Namespaced") {
    causes.push_back({"FieldValueRequired", "Required value", "spec.scope"});
  }
  int stored = 0, index = 0;
  for (const Json& version : member_at(spec, "versions")) {
    stored += member_at(version, "storage") == true ? 1 : 0;
    const Json& schema = member_at(member_at(version, "schema"), "openAPIV3Schema");
    const std::string field =
        "spec.versions[" + std::to_string(index++) + "].schema.openAPIV3Schema";
    if (!schema.is_object()) {
      causes.push_back({"FieldValueRequired", "Required value: schemas are required", field});
    }
  }
  if (stored != 1) {
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: must have exactly one version marked as storage version",
                      "spec.versions"});
  }
  return causes;
}

std::vector<Resource> resources_of(const Json& definition) {
  std::vector<Resource> resources;
  const Json& spec = spec_of(definition);
  const Json& names = member_at(spec, "names");
  for (const Json& version : member_at(spec, "versions")) {
    if (member_at(version, "served") != true) continue;
    Resource resource;
    resource.group = string_at(spec, "group");
    resource.version = string_at(version, "name");
    resource.plural = string_at(names, "plural");
    resource.kind = string_at(names, "kind");
    resource.singular = string_at(names, "singular", lower(resource.kind));
    for (const Json& name : member_at(names, "shortNames")) resource.short_names.push_back(name);
    resource.custom = true;
    resource.schema = member_at(member_at(version, "schema"), "openAPIV3Schema");
    resource.columns = member_at(version, "additionalPrinterColumns");
    resource.traits.namespaced = string_at(spec, "scope") == "Namespaced";
    resource.traits.has_status =
        member_at(member_at(version, "subresources"), "status").is_object();
    resource.traits.has_generation = true;
    resources.push_back(std::move(resource));
  }
  return resources;
}

void establish(Json& definition, const std::string& now) {
  Json& names = definition["spec"]["names"];
  const std::string kind = string_at(names, "kind");
  if (!names.contains("singular")) names["singular"] = lower(kind);
  if (!names.contains("listKind")) names["listKind"] = kind + "List";
  if (!definition["spec"].contains("conversion")) {
    definition["spec"]["conversion"] = {{"strategy", "None"}};
  }
  Json stored = Json::array();
  for (const Json& version : definition["spec"]["versions"]) {
    if (member_at(version, "storage") == true) stored.push_back(version["name"]);
  }
  definition["status"] = {{"conditions",
                           {condition("NamesAccepted", "NoConflicts", "no conflicts found", now),
                            condition("Established", "InitialNamesAccepted",
                                      "the initial names have been accepted", now)}},
                          {"acceptedNames", names},
                          {"storedVersions", stored}};
}

}  // namespace gpuward::fakes
