// The state that the earlier version left (tests/testdata/upgrade), and its way of writing: it
// keeps only those fields of a status and of alerts that its CRD knows. Used by the tests of
// upgrade/.
#pragma once

#include <stdexcept>
#include <string>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/e2e/manifest_json.h"
#include "tests/fakes/kube/schema.h"
#include "tests/places.inc"

namespace gpuward::remediator {

inline const std::string kVersionBefore = GPUWARD_SOURCE_DIR "/tests/testdata/upgrade/24322db/";

// {at, node, remediation, ledger} as they were at that moment.
inline Json left_behind(const std::string& name) {
  const auto text = read_file(kVersionBefore + name + ".json");
  auto json = text ? parse_json(*text) : std::unexpected(text.error());
  if (!json) throw std::runtime_error(name + ": " + json.error().message);
  return *std::move(json);
}

inline Json definition_in(const std::string& file) {
  auto definition = e2e::manifest_as_json(file);
  if (!definition) throw std::runtime_error(file + ": " + definition.error().message);
  return *std::move(definition);
}

inline Json schema_of(const Json& definition) {
  return definition.at("spec").at("versions").at(0).at("schema").at("openAPIV3Schema");
}

inline const Json& schema_before() {
  static const Json kSchema = schema_of(definition_in(kVersionBefore + "crd.yaml"));
  return kSchema;
}

// The object as the earlier version would write it back.
inline Json as_written_before(Json object) {
  fakes::prune(object, schema_before());
  return object;
}

}  // namespace gpuward::remediator
