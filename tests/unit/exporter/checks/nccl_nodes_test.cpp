// Check 5 in an allocation of two nodes, with a launcher that replays the output of
// all_reduce_perf.
#include <gmock/gmock.h>

#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/nccl/nccl_check.h"
#include "tests/unit/exporter/checks/dcgm_samples.h"
#include "tests/unit/exporter/checks/external_check_node.h"

namespace gpuward::exporter {
namespace {

using samples::recorded;
using support::Environment;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = CheckOutcome::Kind;

class NcclNodesTest : public testing::Test {
 protected:
  NcclNodesTest() {
    node.is_exclusive = true;
    node.use_profile("p4d.24xlarge");
    node.host.write("proc/sys/kernel/hostname", "node-a.cluster.example\n");
  }
  void srun_gives(const std::string& output, int exit_code = 0, const std::string& complaint = "") {
    node.tools.add("srun", "", {.output = output, .complaint = complaint, .exit_code = exit_code});
  }
  CheckOutcome run() {
    NcclCheck check;
    return node.run(check);
  }

  const std::string two_nodes = "node-a:1:2 [0] NCCL INFO NET/OFI Selected Provider is efa\n" +
                                recorded("nccl/v2.13-h100-two-nodes.txt");
  ExternalCheckNode node{8};
  Environment job{"SLURM_JOB_ID", "17"};
  Environment nodes{"SLURM_JOB_NUM_NODES", "2"};
};

// CONTRACTS A, check 5: two nodes and more.
TEST_F(NcclNodesTest, TestsAllNodesOfTheAllocation) {
  srun_gives(two_nodes);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  EXPECT_EQ(describe_findings(outcome.findings), "");
  EXPECT_THAT(outcome.details,
              HasSubstr("over 8 GPUs on each of 2 nodes: best bus bandwidth 466.7 GB/s"));
  EXPECT_THAT(node.tools.calls("srun"),
              ElementsAre("srun --ntasks-per-node=1 all_reduce_perf -b 8 -e 128M -f 2 -g 8"));
}

TEST_F(NcclNodesTest, SetsTheNetworkAndHandsOnTheAllocation) {
  srun_gives(two_nodes);
  EXPECT_EQ(run().kind, Kind::kDone);
  for (const std::string variable :
       {"FI_PROVIDER=efa", "FI_EFA_USE_DEVICE_RDMA=1", "NCCL_NET_GDR_LEVEL=2", "NCCL_DEBUG=INFO",
        "SLURM_JOB_ID=17", "SLURM_JOB_NUM_NODES=2"}) {
    EXPECT_THAT(node.tools.environment("srun"), Contains(variable));
  }
}

TEST_F(NcclNodesTest, OnlyWarnsBelowTheThresholdOfSeveralNodes) {
  node.use_profile("p5.48xlarge");
  srun_gives(two_nodes);
  const CheckOutcome outcome = run();
  EXPECT_EQ(describe_findings(outcome.findings), "nccl_slow (monitor)");
  EXPECT_THAT(outcome.findings.at(0).line, HasSubstr("minimum is 800.0 GB/s"));
}

TEST_F(NcclNodesTest, HoldsNoOtherNodesHardwareAgainstThisOne) {
  srun_gives("node-b: Test CUDA failure common.cu:1 'uncorrectable ECC error encountered'\n", 3);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_THAT(outcome.details, HasSubstr("on 2 nodes ended with 3: node-b: Test CUDA failure"));
}

TEST_F(NcclNodesTest, TakesThisNodeOutIfItsOwnLineComplainsOfHardware) {
  srun_gives(
      "node-b: Test NCCL failure common.cu:1 'unhandled system error'\n"
      "[2025-02-19 10:00:00] node-a:1:2 [3] NCCL WARN Cuda failure 'uncorrectable NVLink error'\n",
      3);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(describe_findings(outcome.findings), "nccl_hardware_error (reset)");
  EXPECT_THAT(outcome.findings.at(0).line, HasSubstr("node-a:1:2"));
}

TEST_F(NcclNodesTest, OnlyWarnsOfWrongValuesAndAcquitsNobody) {
  srun_gives(recorded("nccl/v2.17.8-wrong-values.txt"), 3);
  const CheckOutcome outcome = run();
  EXPECT_EQ(describe_findings(outcome.findings), "nccl_wrong_values_unattributed (monitor)");
  ASSERT_EQ(outcome.untold.size(), 1U);
  Finding before;
  before.code = "nccl_wrong_values";
  EXPECT_TRUE(outcome.untold[0].covers(before));
}

TEST_F(NcclNodesTest, WithTheSeedProfileEachFailureIsThisNodesAsThere) {
  node.settings.is_seed_profile = true;
  srun_gives(recorded("nccl/v2.17.8-wrong-values.txt"), 3);
  EXPECT_EQ(worst_of(run().findings), Severity::kIsolate);
  srun_gives("node-b: Test CUDA failure common.cu:1 'uncorrectable ECC error encountered'\n", 3);
  EXPECT_EQ(worst_of(run().findings), Severity::kIsolate);
  srun_gives("", 1);
  EXPECT_EQ(worst_of(run().findings), Severity::kReset);
}

TEST_F(NcclNodesTest, CannotTellFromGarbageAndSaysWhatTheLauncherSaid) {
  srun_gives("1 2 3 \xff\n# size", 1, "srun: error: Unable to create step for job 17\n");
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_TRUE(outcome.findings.empty());
  EXPECT_THAT(outcome.details, HasSubstr("output: srun: error: Unable to create step"));
}

// Two processes that do not know of each other: nccl-tests issue 213.
TEST_F(NcclNodesTest, DoesNotPassNodesThatHaveEachTestedThemselves) {
  srun_gives(two_nodes + two_nodes);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("tested only itself"));
}

TEST_F(NcclNodesTest, SkipsIfItCannotRun) {
  EXPECT_EQ(run().kind, Kind::kSkipped);
  EXPECT_THAT(run().details, HasSubstr("srun"));
  srun_gives(two_nodes);
  node.is_exclusive = false;
  EXPECT_EQ(run().kind, Kind::kSkipped);
  node.is_exclusive = true;
  node.reading(3).mig_enabled = true;
  EXPECT_EQ(run().kind, Kind::kSkipped);
  node.reading(3).mig_enabled = false;
  node.reading(3).processes->push_back({1, std::nullopt});
  EXPECT_EQ(run().kind, Kind::kSkipped);
  EXPECT_TRUE(node.tools.calls("srun").empty());
}

TEST_F(NcclNodesTest, SkipsIfSlurmSaysNoNumber) {
  srun_gives(two_nodes);
  const Environment wrong("SLURM_JOB_NUM_NODES", "many");
  EXPECT_EQ(run().kind, Kind::kSkipped);
  EXPECT_THAT(run().details, HasSubstr("SLURM_JOB_NUM_NODES"));
}

TEST_F(NcclNodesTest, TestsThisNodeAloneInAnAllocationOfOne) {
  const Environment alone("SLURM_JOB_NUM_NODES", "1");
  srun_gives("");
  node.tools.add("all_reduce_perf", "", {.output = two_nodes});
  EXPECT_EQ(run().kind, Kind::kDone);
  EXPECT_TRUE(node.tools.calls("srun").empty());
  EXPECT_EQ(node.tools.calls("all_reduce_perf").size(), 1U);
}

TEST_F(NcclNodesTest, EndsALauncherThatHangsWithItsChildren) {
  node.tools.add("srun", "", {.hangs = true});
  node.settings.nccl_timeout = std::chrono::milliseconds(3'000);
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kError);
  EXPECT_THAT(outcome.details, HasSubstr("all_reduce timed out"));
  EXPECT_TRUE(is_gone(node.tools.child_of("srun").value()));
}

TEST_F(NcclNodesTest, SubTestsRunOnAllNodesAndOnlyWarn) {
  node.settings.nccl_isolation_tests = true;
  srun_gives("broken", 1);
  node.tools.add_once("srun", "", {.output = two_nodes});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone);
  EXPECT_EQ(describe_findings(outcome.findings),
            "nccl_sub_test (monitor); nccl_sub_test (monitor)");
  EXPECT_EQ(node.tools.calls("srun").size(), 3U);
  EXPECT_EQ(node.tools.calls("srun").back(),
            "srun --ntasks-per-node=1 all_reduce_perf -b 256M -e 256M -g 8");
  for (const std::string variable :
       {"NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "NCCL_NET=AWS Libfabric", "FI_PROVIDER=efa"}) {
    EXPECT_THAT(node.tools.environment("srun"), Contains(variable));
  }
}

TEST_F(NcclNodesTest, HoldsNvlinkAloneAgainstItsOwnThreshold) {
  node.use_profile("p5.48xlarge");  // 500 GB/s over NVLink, 800 over all
  node.settings.nccl_isolation_tests = true;
  srun_gives(two_nodes);
  const CheckOutcome outcome = run();
  ASSERT_EQ(outcome.findings.size(), 3U);
  EXPECT_THAT(outcome.findings[1].line, HasSubstr("NVLink only: 466.7 GB/s, minimum is 500.0"));
  EXPECT_THAT(outcome.findings[2].line, HasSubstr("EFA only: 466.7 GB/s, minimum is 800.0"));
}

TEST_F(NcclNodesTest, TakesAHostFileInsteadOfSlurm) {
  node.settings.nccl_hostfile = "/etc/nccl/hosts";
  node.tools.add("mpirun", "", {.output = two_nodes});
  const CheckOutcome outcome = run();
  EXPECT_EQ(outcome.kind, Kind::kDone) << outcome.details;
  EXPECT_THAT(node.tools.calls("mpirun"),
              ElementsAre(HasSubstr("mpirun --hostfile /etc/nccl/hosts --map-by ppr:1:node -np 2 "
                                    "-x FI_EFA_USE_DEVICE_RDMA")));
  EXPECT_THAT(node.tools.environment("mpirun"), Contains("FI_EFA_USE_DEVICE_RDMA=1"));
}

}  // namespace
}  // namespace gpuward::exporter
