// Announcements of clouds about machines (the exporter writes them into an annotation of the Node)
// as findings of severity monitor, of the kinds that the policy lists. An announcement that
// disappears from its Node is over.
#pragma once

#include <chrono>

#include "core/runtime/clock.h"
#include "remediator/policy/current_policy.h"
#include "remediator/sources/known_evidence.h"
#include "remediator/sources/node_announcements.h"
#include "remediator/sources/source.h"

namespace gpuward::remediator {

class AnnouncementSource final : public Source {
 public:
  // All must outlive it.
  AnnouncementSource(const CurrentPolicy& policy, const NodeAnnouncements& nodes,
                     const KnownEvidence& known, Clock& clock)
      : policy_(policy), nodes_(nodes), known_(known), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "announcement"; }
  // It makes no request, and some clouds announce only two minutes ahead.
  [[nodiscard]] std::chrono::milliseconds every() const override { return std::chrono::seconds(2); }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  const CurrentPolicy& policy_;
  const NodeAnnouncements& nodes_;
  const KnownEvidence& known_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
