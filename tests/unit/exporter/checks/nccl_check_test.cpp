#include "exporter/checks/nccl/nccl_check.h"

#include <gmock/gmock.h>

#include "exporter/checks/check/finding_list.h"
#include "tests/unit/exporter/checks/dcgm_samples.h"
#include "tests/unit/exporter/checks/external_check_node.h"

namespace gpuward::exporter {
namespace {

using samples::recorded;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = CheckOutcome::Kind;

const std::string kOverEfa = "a:1:2 [0] NCCL INFO NET/OFI Selected Provider is efa\n";

class NcclCheckTest : public testing::Test {
 protected:
  NcclCheckTest() {
    node.is_exclusive = true;
    node.use_profile("p4d.24xlarge");
  }
  void has_nccl_tests(const std::string& output, int exit_code = 0) {
    node.tools.add("all_reduce_perf", "", {.output = output, .exit_code = exit_code});
  }
  CheckOutcome run() {
    NcclCheck check;
    return node.run(check);
  }

  ExternalCheckNode node{8};
};

TEST_F(NcclCheckTest, Check5PassesAboveTheThreshold) {
  has_nccl_tests(kOverEfa + recorded("nccl/v2.13-h100-two-nodes.txt"));
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(describe_findings(outcome.findings), "");
  EXPECT_THAT(outcome.details, HasSubstr("466.7 GB/s"));
  EXPECT_THAT(node.tools.calls("all_reduce_perf"),
              ElementsAre("all_reduce_perf -b 8 -e 128M -f 2 -g 8"));
}

TEST_F(NcclCheckTest, WarnsBelowTheThreshold) {
  node.use_profile("p5.48xlarge");
  has_nccl_tests(kOverEfa + recorded("nccl/v2.13-h100-two-nodes.txt"));
  const CheckOutcome outcome = run();
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].code, "nccl_slow");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
}

TEST_F(NcclCheckTest, TakesTheOperatorsThreshold) {
  node.use_profile("p5.48xlarge");
  node.settings.nccl_min_bus_bandwidth = 400;
  has_nccl_tests(kOverEfa + recorded("nccl/v2.13-h100-two-nodes.txt"));
  EXPECT_TRUE(run().findings.empty());
}

TEST_F(NcclCheckTest, WarnsIfNcclDoesNotUseEfa) {
  has_nccl_tests("a:1:2 [0] NCCL INFO Using network Socket\n" +
                 recorded("nccl/v2.13-h100-two-nodes.txt"));
  const CheckOutcome outcome = run();
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].code, "nccl_no_efa");
}

TEST_F(NcclCheckTest, TakesTheNodeOutForWrongValues) {
  has_nccl_tests(recorded("nccl/v2.17.8-wrong-values.txt"), 3);
  EXPECT_EQ(worst_of(run().findings), Severity::kReset);
  node.settings.is_seed_profile = true;
  EXPECT_EQ(worst_of(run().findings), Severity::kIsolate);
}

TEST_F(NcclCheckTest, DoesNotBlameHardwareForAFailureOfTheProgram) {
  has_nccl_tests(recorded("nccl/v2.17.8-busy.txt"), 2);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("busy or unavailable"));
  node.settings.is_seed_profile = true;
  EXPECT_EQ(worst_of(run().findings), Severity::kIsolate);
}

TEST_F(NcclCheckTest, TakesTheNodeOutForAnErrorOfTheHardware) {
  has_nccl_tests("x: Test CUDA failure common.cu:1 'uncorrectable ECC error encountered'\n", 2);
  EXPECT_EQ(worst_of(run().findings), Severity::kReset);
}

TEST_F(NcclCheckTest, DoesNotPassATableWithoutItsEnd) {
  has_nccl_tests(recorded("nccl/v2.18.2-without-end.txt"));
  EXPECT_EQ(run().kind, Kind::kError);
}

TEST_F(NcclCheckTest, SkipsIfItCannotRun) {
  EXPECT_EQ(run().kind, Kind::kSkipped);  // no program
  has_nccl_tests("");
  node.is_exclusive = false;
  EXPECT_THAT(run().details, HasSubstr("multi-node allocation"));
  node.is_exclusive = true;
  node.reading(3).mig_enabled = true;
  EXPECT_EQ(run().kind, Kind::kSkipped);
  node.reading(3).mig_enabled = false;
  node.reading(3).processes->push_back({1, std::nullopt});
  EXPECT_EQ(run().kind, Kind::kSkipped);
  node.snapshot.gpus.resize(1);
  EXPECT_THAT(run().details, HasSubstr("two GPUs"));
  EXPECT_TRUE(node.tools.calls("all_reduce_perf").empty());
}

TEST_F(NcclCheckTest, EndsAProgramThatHangsWithItsChildren) {
  node.tools.add("all_reduce_perf", "", {.hangs = true});
  node.settings.nccl_timeout = std::chrono::milliseconds(3'000);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("all_reduce timed out"));
  EXPECT_TRUE(is_gone(node.tools.child_of("all_reduce_perf").value()));
}

TEST_F(NcclCheckTest, SubTestsHaveATimeOfTheirOwn) {
  node.settings.nccl_isolation_tests = true;
  node.settings.nccl_isolation_timeout = std::chrono::milliseconds(3'000);
  node.tools.add("all_reduce_perf", "", {.hangs = true});
  node.tools.add_once("all_reduce_perf", "",
                      {.output = kOverEfa + recorded("nccl/v2.13-h100-two-nodes.txt")});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(worst_of(outcome.findings), Severity::kMonitor);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_EQ(outcome.findings[0].code, "nccl_sub_test");
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("timed out after 3000 ms"));
  EXPECT_TRUE(is_gone(node.tools.child_of("all_reduce_perf").value()));
}

TEST_F(NcclCheckTest, SubTestsOnlyWarn) {
  node.settings.nccl_isolation_tests = true;
  has_nccl_tests("broken", 1);
  node.tools.add_once("all_reduce_perf", "",
                      {.output = kOverEfa + recorded("nccl/v2.13-h100-two-nodes.txt")});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(worst_of(outcome.findings), Severity::kMonitor);
  EXPECT_EQ(node.tools.calls("all_reduce_perf").size(), 3U);
  EXPECT_EQ(node.tools.calls("all_reduce_perf").back(), "all_reduce_perf -b 256M -e 256M -g 8");
}

}  // namespace
}  // namespace gpuward::exporter
