// Finds GPU nodes with a kubelet that no longer reports, by the policy's section `silent`. A node
// that has been Ready again for a while is no longer silent. Nodes that are silent because of a
// probable partition get no findings. The source counts them, and one alert notifies operators of
// all of them.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/cluster/node_signs.h"
#include "remediator/inbox/sources/last_known.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/model/machine_proofs.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// How long a node that was silent must be Ready before its finding ends.
inline constexpr std::chrono::minutes kBackFor{2};

class SilentSource final : public Source {
 public:
  // The arguments must outlive the source; `scrapes` is null if no Prometheus is configured.
  // `last_known`: further sources of facts about a silent node, read once for each silence.
  SilentSource(const CurrentPolicy& policy, const NodeSigns& nodes, const KnownEvidence& known,
               ScrapeStates* scrapes, Clock& clock,
               std::vector<std::unique_ptr<LastKnown>> last_known = {})
      : policy_(policy),
        nodes_(nodes),
        known_(known),
        scrapes_(scrapes),
        clock_(clock),
        last_known_(std::move(last_known)) {}
  [[nodiscard]] std::string_view name() const override { return "silent"; }
  [[nodiscard]] std::chrono::milliseconds every() const override {
    return std::chrono::seconds(15);
  }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  struct Told {
    WallTime since;
    std::string text;
  };

  [[nodiscard]] AlertSignal signal_of(const NodeSign& node, const SilentRules& rules);
  // Returns the facts of the other sources, for a silence that is not recorded yet.
  [[nodiscard]] std::string told_of(const NodeSign& node);

  const CurrentPolicy& policy_;
  const NodeSigns& nodes_;
  const KnownEvidence& known_;
  ScrapeStates* scrapes_;
  Clock& clock_;
  const std::vector<std::unique_ptr<LastKnown>> last_known_;
  std::map<std::string, Told> told_;  // Nodes that were silent at the last check.
  std::vector<bool> did_not_answer_;  // Which of `last_known_` did not answer in this check.
};

}  // namespace gpuward::remediator
