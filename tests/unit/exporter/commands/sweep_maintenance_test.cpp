// The taint that a sweep holds while its Jobs run.
#include "exporter/commands/sweep.h"
#include "tests/unit/exporter/commands/sweep_cluster.h"

namespace gpuward::exporter {
namespace {

using SweepMaintenance = SweepTest;

bool puts_taint_on(const fakes::LoggedRequest& request) {
  const auto body = parse_json(request.body);
  if (request.method != "PATCH" || !body) return false;
  for (const Json& taint : member_at(member_at(*body, "spec"), "taints")) {
    if (string_at(taint, "key") == "gpuward.dev/maintenance" &&
        string_at(taint, "value") == "sweep" && string_at(taint, "effect") == "NoSchedule")
      return true;
  }
  return false;
}

TEST_F(SweepMaintenance, TheTaintIsOnBeforeTheJobStartsAndOffAtTheEnd) {
  add_node("gpu-01");
  ASSERT_TRUE(sweep());
  bool is_on = false;
  for (const fakes::LoggedRequest& request : kube_.requests()) {
    is_on = is_on || puts_taint_on(request);
    if (request.method == "POST" && request.path == kJobs) {
      EXPECT_TRUE(is_on);
    }
  }
  EXPECT_EQ(jobs_created(), 1U);
  EXPECT_FALSE(has_taint("gpu-01", kGpuwardNames(NodeName::kMaintenance)));
}

}  // namespace
}  // namespace gpuward::exporter
