// The Remediation resource for the fake API server: what has to be created there before anything
// that works with Remediations. Used by the tests of the remediator and by its simulation.
#pragma once

#include "tests/fakes/custom_definition.h"

namespace gpuward::remediator {

using fakes::kDefinitions;

// The CRD as shipped, cut to what the fake needs.
inline Json remediation_definition() {
  return fakes::custom_definition({.group = "gpuward.dev",
                                   .version = "v1alpha1",
                                   .kind = "Remediation",
                                   .plural = "remediations",
                                   .has_status = true});
}

}  // namespace gpuward::remediator
