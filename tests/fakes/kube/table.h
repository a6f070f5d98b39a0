// Objects as the Table that kubectl prints: real columns for the kinds that users read, NAME and
// AGE for the rest.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// `metadata` is the list's own (null for a single object).
[[nodiscard]] Json to_table(const Resource& resource, const std::vector<Json>& objects,
                            const Json& metadata, Clock::Wall now);

// "5d", "3h2m", "47s" as kubectl writes ages (apimachinery/pkg/util/duration HumanDuration).
[[nodiscard]] std::string human_duration(std::chrono::seconds duration);

}  // namespace gpuward::fakes
