// The removal of gpuward's taints from all nodes, against the fake API server.
#include "remediator/cli/commands/reset_command.h"

#include "remediator/policy/konduktor_taint.h"
#include "tests/unit/remediator/act/cluster_fixture.h"

namespace gpuward::remediator {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ResetCommand : public ClusterTest {
 protected:
  ResetCommand() {
    add_node("gpu-02");
    taint("gpu-02", std::string(kTaintKey));
  }
  // Sets a taint without an open Remediation, beside one of another program.
  void taint(const std::string& node, const std::string& key) {
    const Json ours = {{"key", key}, {"value", "true"}, {"effect", "NoSchedule"}};
    const Json other = {{"key", "team"}, {"value", "a"}, {"effect", "NoSchedule"}};
    kube_.patch("/api/v1/nodes/" + node, {{"spec", {{"taints", Json::array({other, ours})}}}});
  }
  void open_one() {
    ASSERT_TRUE(take({signal()}));
    ASSERT_TRUE(reconcile());
    ASSERT_TRUE(our_taint_on(node("gpu-01")));
  }
  ResetResult reset() {
    const auto report = reset_taints(flags_, api_, clock_);
    EXPECT_TRUE(report.has_value()) << (report ? "" : report.error().message);
    return report ? *report : ResetResult();
  }
  CommandFlags flags_;
};

TEST_F(ResetCommand, TakesOurTaintOffAndLeavesThoseOfOthers) {
  add_node("gpu-03");
  taint("gpu-03", std::string(kTaintKey));

  const auto report = reset();

  EXPECT_TRUE(report.all_done);
  EXPECT_THAT(report.table, Not(HasSubstr("gpu-01")));
  for (const char* name : {"gpu-02", "gpu-03"}) {
    EXPECT_THAT(report.table, HasSubstr(std::string(name) + "  removed"));
    ASSERT_EQ(node(name).taints.size(), 1U);
    EXPECT_EQ(node(name).taints[0].key, "team");
  }
  EXPECT_THAT(reset().table, HasSubstr("No node has the taint"));
}

TEST_F(ResetCommand, RefusesANodeThatARemediationIsOpenFor) {
  open_one();

  const auto report = reset();

  EXPECT_FALSE(report.all_done);
  EXPECT_THAT(report.table, HasSubstr("refused: " + remediation().name));
  EXPECT_TRUE(our_taint_on(node("gpu-01")));
  EXPECT_FALSE(our_taint_on(node("gpu-02")));
}

TEST_F(ResetCommand, CancelsItIfItIsToldTo) {
  open_one();
  flags_.cancels = true;

  const auto report = reset();

  EXPECT_TRUE(report.all_done);
  EXPECT_THAT(report.table, HasSubstr("cancelled"));
  EXPECT_FALSE(our_taint_on(node("gpu-01")));
  ASSERT_TRUE(reconcile());
  EXPECT_EQ(remediation().status.phase, Phase::kCancelled);
  EXPECT_FALSE(node("gpu-01").unschedulable);
}

TEST_F(ResetCommand, CancelsItIfTheRemediatorWritesAtTheSameMoment) {
  open_one();
  flags_.cancels = true;
  kube_.add_fault({.kind = fakes::FaultKind::kConflict,
                   .method = "PATCH",
                   .path = ".*/remediations/.*",
                   .times = 2});

  EXPECT_TRUE(reset().all_done);

  EXPECT_TRUE(remediation().wish.cancel);
}

TEST_F(ResetCommand, SaysWhatItWouldDoAndChangesNothing) {
  open_one();
  const auto before = writes();
  const auto refused = foresee_reset(flags_, api_, clock_);
  flags_.cancels = true;

  const auto cancels = foresee_reset(flags_, api_, clock_);

  ASSERT_TRUE(refused && cancels);
  EXPECT_THAT(refused->text, HasSubstr("1 node takes new pods again"));
  EXPECT_THAT(refused->text, HasSubstr("gpu-01  refused: "));
  EXPECT_THAT(cancels->text, HasSubstr("gpu-02  would be removed"));
  EXPECT_THAT(cancels->text, HasSubstr("gpu-01  would be removed, " + remediation().name));
  EXPECT_THAT(cancels->text, HasSubstr("2 nodes take new pods again"));
  EXPECT_EQ(writes(), before);
  EXPECT_FALSE(refused->all_done);
  EXPECT_TRUE(cancels->all_done);
  ASSERT_TRUE(reset().all_done);
  EXPECT_FALSE(foresee_reset(flags_, api_, clock_)->is_any);
}

TEST_F(ResetCommand, ChangesNothingThatTheOperatorWasNotAskedAbout) {
  flags_.allowed = foresee_reset(flags_, api_, clock_)->changes;
  add_node("gpu-03");
  taint("gpu-03", std::string(kTaintKey));
  open_one();
  flags_.cancels = true;

  const auto report = reset();

  EXPECT_FALSE(report.all_done);
  EXPECT_THAT(report.table, HasSubstr("gpu-02  removed"));
  EXPECT_THAT(report.table, HasSubstr("gpu-03  refused: the node or its remediation changed"));
  EXPECT_THAT(report.table, HasSubstr("gpu-01  refused: the node or its remediation changed"));
  EXPECT_FALSE(remediation().wish.cancel);
}

TEST_F(ResetCommand, SaysWhoHasCancelled) {
  open_one();
  flags_.cancels = true;
  EXPECT_TRUE(reset().all_done);
  EXPECT_THAT(remediation().wish.last_command, HasSubstr(" cancel by anonymous-admin"));
}

// The exporter writes its findings again at its next look.
TEST_F(ResetCommand, SaysOfKonduktorsTaintThatAnExporterWithAFindingSetsItAgain) {
  flags_.taint = std::string(kKonduktorTaintKey);
  taint("gpu-01", flags_.taint);
  taint("gpu-02", flags_.taint);
  const Json condition = {{"type", "GPUProblem"}, {"status", "True"}};
  kube_.patch_status("/api/v1/nodes/gpu-02",
                     {{"status", {{"conditions", Json::array({condition})}}}});

  const auto foreseen = foresee_reset(flags_, api_, clock_);
  const auto report = reset();

  ASSERT_TRUE(foreseen);
  for (const std::string& text : {foreseen->text, report.table}) {
    EXPECT_THAT(text, HasSubstr("removed\n")) << "gpu-01 has no finding";
    EXPECT_THAT(
        text,
        ContainsRegex("gpu-02  (would be )?removed; GPUProblem is True: .* sets the taint again"));
  }
}

TEST_F(ResetCommand, TakesOffOnlyTaintsThatAreOurs) {
  taint("gpu-01", "trainy.konduktor.ai/faulty");
  flags_.taint = "trainy.konduktor.ai/faulty";
  EXPECT_THAT(reset().table, HasSubstr("gpu-01  removed"));
  EXPECT_TRUE(our_taint_on(node("gpu-02")));

  flags_.taint = "team";

  const auto refused = reset_taints(flags_, api_, clock_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward::remediator
