// The Remediation resource for the fake API server: create it before any code that uses
// Remediations. Used by the tests of the remediator and by its simulation.
#pragma once

#include "tests/fakes/custom_definition.h"

namespace gpuward::remediator {

using fakes::kDefinitions;

// The shipped CRD, reduced to the parts that the fake needs.
inline Json remediation_definition() {
  return fakes::custom_definition({.group = "gpuward.dev",
                                   .version = "v1alpha1",
                                   .kind = "Remediation",
                                   .plural = "remediations",
                                   .has_status = true});
}

}  // namespace gpuward::remediator
