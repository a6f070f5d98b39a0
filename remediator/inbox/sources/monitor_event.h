// Reads an event of the monitor that gpuward replaces: a finding on one node in the monitor's own
// classes. It is foreign evidence, which justifies at most the cordon. The monitor does not report
// that an error is over, so the finding ends if it is not repeated for a while. Pure, except for
// the source.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/cluster/known_evidence.h"
#include "remediator/inbox/sources/source.h"
#include "remediator/model/evidence.h"
#include "remediator/policy/current_policy.h"

namespace gpuward::remediator {

// Expects {timestamp, error_type, node_name, instance_id, error_details, cluster_name}, of which
// error_type and node_name are required. Severity: a class of a broken GPU (XID_CRITICAL_<n>, with
// UNKNOWN for a number that the monitor has not found; ECC_ERROR, GPU_HEALTH_ERROR) is reset, the
// others are monitor. Nullopt: HEALTHY, or of another cluster than `cluster`, the policy's; an
// empty `cluster` accepts any. A timestamp that is missing or later than `now` is `now`. kInvalid
// names the wrong member.
[[nodiscard]] Result<std::optional<AlertSignal>> signal_of_event(std::string_view body,
                                                                 WallTime now,
                                                                 std::string_view cluster = {});

// Ends findings that no event has repeated for loki.quiet_for. A repeat moves the start
// (model/evidence).
class MonitorEventSource final : public Source {
 public:
  // The arguments must outlive the source.
  MonitorEventSource(const CurrentPolicy& policy, const KnownEvidence& known, Clock& clock)
      : policy_(policy), known_(known), clock_(clock) {}
  [[nodiscard]] std::string_view name() const override { return "events"; }
  // This source makes no request.
  [[nodiscard]] std::chrono::milliseconds every() const override {
    return std::chrono::seconds(15);
  }
  [[nodiscard]] Result<SourceFindings> look() override;

 private:
  const CurrentPolicy& policy_;
  const KnownEvidence& known_;
  Clock& clock_;
};

}  // namespace gpuward::remediator
