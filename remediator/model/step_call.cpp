#include "remediator/model/step_call.h"

#include <array>
#include <cstddef>

#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 3> kCalls = {"unknown", "accepted", "none"};

}  // namespace

std::string_view to_string(Call call) { return kCalls[static_cast<std::size_t>(call)]; }

Call call_of(const StepRecord& record) {
  const auto fact = record.facts.find(kCallFact);
  if (fact == record.facts.end()) return Call::kUnknown;
  return enumerator_of<Call>(kCalls, fact->second).value_or(Call::kUnknown);
}

bool has_treated(const StepRecord& record) {
  if (record.result == StepResult::kDone || record.facts.contains(kTreatedFact)) return true;
  // A Job's record has the outcome only once the Job has ended.
  const bool has_run = !record.facts.contains(kCallFact) && record.facts.contains(kHasRunFact);
  return has_run || call_of(record) == Call::kAccepted;
}

}  // namespace gpuward::remediator
