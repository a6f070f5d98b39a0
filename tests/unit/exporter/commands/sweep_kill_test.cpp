// A sweep that is killed at any of its requests, before the server gets it or before the answer is
// back: no maintenance taint stays (a fault of the suite that gpuward replaces).
#include "exporter/publish/node/node_writer.h"
#include "tests/unit/exporter/commands/sweep_cluster.h"

namespace gpuward::exporter {
namespace {

using Death = MortalClient::Death;

constexpr const char* kFailLine =
    R"({"check":"1-dcgm-diag-l2","status":"FAIL","severity":"RESET","details":"memory"})";

// A cluster of three idle nodes: one good, one bad, one whose Job never ends.
struct World {
  World() {
    kube.create("/api/v1/namespaces", {{"metadata", {{"name", "gpu-healthcheck"}}}});
    for (const char* name : kNames) kube.create("/api/v1/nodes", fakes::ready_node(name));
    jobs.ends["gpu-02"] = {.exit_code = 1, .message = kFailLine};
    jobs.ends["gpu-03"] = {.never = true};
  }
  static SweepOptions options(const std::string& owner) {
    SweepOptions made;
    made.job.image = "registry.example/gpuward:1";
    made.owner = owner;
    made.poll_interval = std::chrono::minutes(4);  // few requests: each is one death
    return made;
  }
  // Runs a sweep and returns the number of its requests.
  std::size_t sweep(const std::string& owner, std::size_t lives, Death death) {
    SweepProcess process(kube, jobs, clock);
    process.client.lives = lives;
    process.client.death = death;
    (void)process.sweep(options(owner));
    return process.client.requests;
  }
  bool is_under_maintenance(const std::string& name) {
    const Json node = kube.get("/api/v1/nodes/" + name);
    const Json& annotations = member_at(member_at(node, "metadata"), "annotations");
    if (annotations.contains(kGpuwardNames(NodeName::kMaintenanceClaim))) return true;
    for (const Json& taint : member_at(member_at(node, "spec"), "taints")) {
      if (taint["key"] == kGpuwardNames(NodeName::kMaintenance)) return true;
    }
    return false;
  }

  static constexpr const char* kNames[] = {"gpu-01", "gpu-02", "gpu-03"};
  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  fakes::FakeKube kube{clock};
  JobRunner jobs{kube};
};

class KilledSweep : public ::testing::TestWithParam<Death> {
 protected:
  static std::size_t requests_of_a_whole_sweep() {
    return World().sweep("sweep 1", kForEver, Death::kBeforeTheRequest);
  }
};

TEST_P(KilledSweep, LeavesNothingThatTheNextSweepDoesNotTakeAway) {
  const std::size_t whole = requests_of_a_whole_sweep();
  ASSERT_GT(whole, 20U);
  std::size_t left_behind = 0;
  for (std::size_t lives = 1; lives <= whole; ++lives) {
    World world;
    world.sweep("sweep 1", lives, GetParam());
    for (const char* name : World::kNames) left_behind += world.is_under_maintenance(name) ? 1 : 0;
    world.clock.advance(std::chrono::hours(6));
    world.sweep("sweep 2", kForEver, Death::kBeforeTheRequest);
    for (const char* name : World::kNames)
      EXPECT_FALSE(world.is_under_maintenance(name)) << name << " after request " << lives;
  }
  EXPECT_GT(left_behind, 0U);  // otherwise the test would prove nothing
}

TEST_P(KilledSweep, LeavesNothingThatTheNodesOwnAgentDoesNotTakeAway) {
  const std::size_t whole = requests_of_a_whole_sweep();
  for (std::size_t lives = 1; lives <= whole; ++lives) {
    World world;
    world.sweep("sweep 1", lives, GetParam());
    world.clock.advance(std::chrono::minutes(30));
    SweepProcess agent(world.kube, world.jobs, world.clock);
    kube::Api api = agent.make_api();
    for (const char* name : World::kNames) {
      NodeWriter writer(api, world.clock, name, "");
      ASSERT_TRUE(writer.write({}, keys_of({}), std::chrono::minutes(5), {}));
      EXPECT_FALSE(world.is_under_maintenance(name)) << name << " after request " << lives;
    }
  }
}

TEST_P(KilledSweep, NeverTaintsAGoodNode) {
  const std::size_t whole = requests_of_a_whole_sweep();
  for (std::size_t lives = 1; lives <= whole; ++lives) {
    World world;
    world.sweep("sweep 1", lives, GetParam());
    const Json node = world.kube.get("/api/v1/nodes/gpu-01");
    for (const Json& taint : member_at(member_at(node, "spec"), "taints"))
      EXPECT_NE(taint["key"], kGpuwardNames(NodeName::kUnhealthy));
  }
}

INSTANTIATE_TEST_SUITE_P(At, KilledSweep,
                         ::testing::Values(Death::kBeforeTheRequest, Death::kBeforeTheAnswer),
                         [](const auto& one) {
                           return one.param == Death::kBeforeTheRequest
                                      ? "EachRequestBeforeTheServerHasIt"
                                      : "EachRequestBeforeItsAnswerIsBack";
                         });

}  // namespace
}  // namespace gpuward::exporter
