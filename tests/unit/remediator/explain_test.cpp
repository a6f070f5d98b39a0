#include "remediator/explain.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const WallTime kStart = WallTime(std::chrono::hours(500'000));

Remediation closed(Phase phase, const std::string& node_uid) {
  Remediation remediation;
  remediation.name = "gpu-01-1";
  remediation.node = "gpu-01";
  remediation.node_uid = node_uid;
  remediation.status.phase = phase;
  remediation.alerts = {{.alertname = "GpuNodeBad",
                         .fingerprint = "ab",
                         .severity = Severity::kReboot,
                         .starts_at = kStart,
                         .first_received = kStart,
                         .ended_at = std::nullopt}};
  return remediation;
}

kube::Node joined(const std::string& uid, WallTime at) {
  kube::Node node;
  node.meta.name = "gpu-01";
  node.meta.uid = uid;
  node.meta.created = at;
  return node;
}

TEST(Explain, SaysThatAnAlertIsIgnoredBecauseItIsOlderThanTheNode) {
  const auto node = joined("new", kStart + std::chrono::hours(1));

  EXPECT_THAT(ignored_alerts(closed(Phase::kSuperseded, "old"), node),
              HasSubstr("alert GpuNodeBad (ab) since 2027-01-15T08:00:00Z: it is older than the "
                        "node, which joined 2027-01-15T09:00:00Z"));
}

TEST(Explain, SaysThatRepeatsOfACancelledAlertAreIgnored) {
  EXPECT_THAT(ignored_alerts(closed(Phase::kCancelled, "same"), joined("same", kStart)),
              HasSubstr("gpu-01-1 was cancelled; a new start is taken in"));
}

TEST(Explain, SaysNothingOfAlertsThatAreTakenIn) {
  const auto node = joined("same", kStart - std::chrono::hours(1));

  EXPECT_THAT(ignored_alerts(closed(Phase::kPending, "same"), node), IsEmpty());
  EXPECT_THAT(ignored_alerts(closed(Phase::kReleased, "same"), node), IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
