// Turns the announcements of clouds about machines into findings of severity monitor, for the kinds
// that the policy lists. The exporter writes announcements into an annotation of the Node. When an
// announcement disappears from its Node, the finding ends.
#pragma once

#include <chrono>

#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/cluster/node_announcements.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

class AnnouncementSource final : public Source {
 public:
  // The arguments must outlive the source.
  AnnouncementSource(const CurrentPolicy& policy, const NodeAnnouncements& nodes,
                     const KnownEvidence& known, Clock& clock)
      : policy_(policy), nodes_(nodes), known_(known), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "announcement"; }
  // Reads often, because it makes no request and some clouds announce only two minutes ahead.
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(2); }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  const CurrentPolicy& policy_;
  const NodeAnnouncements& nodes_;
  const KnownEvidence& known_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
