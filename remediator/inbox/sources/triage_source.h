// Passes a language model's answers about unknown lines to the intake as foreign evidence. Such
// evidence justifies at most the cordon, for any answer. There is one finding per node and class;
// it ends after `loki.quiet_for` without another such line.
#pragma once

#include <string_view>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/quiet_evidence.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/inbox/triage/triage.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// Prefix of the fingerprints of a model's answers.
inline constexpr std::string_view kTriageOrigin = "triage.";

[[nodiscard]] AlertSignal signal_of_finding(const TriageFinding& finding);

class TriageSource final : public Source {
 public:
  // The arguments must outlive the source.
  TriageSource(Triage& triage, const CurrentPolicy& policy, const KnownEvidence& known,
               Clock& clock)
      : triage_(triage), policy_(policy), known_(known), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "triage"; }
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(2); }
  [[nodiscard]] Result<SourceFindings> look() override;
  [[nodiscard]] Status settle() override;

 private:
  Triage& triage_;
  const CurrentPolicy& policy_;
  const KnownEvidence& known_;
  Clock& clock_;
  std::size_t taken_ = 0;  // Number of findings in the last read.
  LastLines last_lines_;
};

}  // namespace gpuward::remediator
