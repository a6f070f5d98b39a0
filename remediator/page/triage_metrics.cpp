#include "remediator/page/triage_metrics.h"

#include <string>
#include <utility>

namespace gpuward::remediator {
namespace {

std::string_view word_of(TriageOutcome outcome) {
  switch (outcome) {
    case TriageOutcome::kAnswered:
      return "answered";
    case TriageOutcome::kCached:
      return "cached";
    case TriageOutcome::kNoAnswer:
      return "no_answer";
    case TriageOutcome::kFailed:
      return "failed";
    case TriageOutcome::kLimited:
      return "limited";
    case TriageOutcome::kBreakerOpen:
      return "breaker_open";
    case TriageOutcome::kOverflow:
      break;
  }
  return "overflow";
}

}  // namespace

void append_triage(std::vector<metrics::Family>& families, const TriageTally& tally) {
  if (!tally.is_on) return;
  metrics::Family lines{"gpuward_remediator_triage_lines_total",
                        "Lines that the catalogue does not know, by what a language model made "
                        "of them",
                        metrics::Type::kCounter,
                        {}};
  for (const auto& [outcome, number] : tally.lines) {
    lines.samples.push_back(
        {{{"outcome", std::string(word_of(outcome))}}, static_cast<double>(number)});
  }
  families.push_back(std::move(lines));
  families.push_back(metrics::counter("gpuward_remediator_triage_characters_total",
                                      "Characters that were sent to the language model",
                                      static_cast<double>(tally.characters)));
  families.push_back(metrics::gauge("gpuward_remediator_triage_waiting",
                                    "Lines that wait for the language model",
                                    static_cast<double>(tally.waiting)));
  families.push_back(metrics::gauge("gpuward_remediator_triage_breaker_open",
                                    "Whether it is not asked because it has failed too often",
                                    tally.is_breaker_open ? 1 : 0));
}

}  // namespace gpuward::remediator
