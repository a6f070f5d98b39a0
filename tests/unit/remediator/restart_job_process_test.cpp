// The program that restarts jobs, called by the real gpuward-remediator.
#include <gmock/gmock.h>

#include "core/runtime/files.h"
#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

// The program fails, and the remediation of the node continues.
TEST(WholeRestartOfJobs, CallsTheProgramOnceAfterTheDrainAndGoesOn) {
  FakeHands hands;
  const support::TempDir folder;
  const auto program = folder.write(
      "restart", "cat >> '" + (folder / "told").string() + "'; echo 'not today' >&2; exit 1\n");
  RemediationStage stage(
      hands,
      {.plan = "[taint, cordon, drain, restart-job: {program: [/bin/sh, " + program.string() +
               "]}, reboot: {timeout: 120s}, verify: {soak: 0s}, "
               "return-to-service]"});
  hands.patch(std::string(kStagePods) + "/work-1",
              {{"metadata", {{"labels", {{"batch.kubernetes.io/job-name", "train"}}}}}});

  stage.start();

  ASSERT_TRUE(stage.play_until([&] { return stage.phase() == "Released"; })) << stage.log();
  const auto told = parse_json(read_file(folder / "told").value_or(""));
  ASSERT_TRUE(told);
  EXPECT_EQ((*told)["jobs"], Json::array({"Job default/train"}));
  EXPECT_EQ((*told)["node"], kStageNode);
  EXPECT_EQ(stage.step("restart-job")["result"], "failed");
  EXPECT_THAT(string_at(stage.step("restart-job"), "message"), ::testing::HasSubstr("not today"));
  EXPECT_EQ(stage.calls().size(), 1U) << "the restart of the machine follows";
}

}  // namespace
}  // namespace gpuward::remediator
