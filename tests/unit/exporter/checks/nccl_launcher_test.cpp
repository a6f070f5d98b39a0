#include "exporter/checks/nccl/nccl_launcher.h"

#include <gmock/gmock.h>

#include "tests/unit/exporter/checks/external_check_node.h"

namespace gpuward::exporter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;
using Variables = std::map<std::string, std::string, std::less<>>;

class NcclLauncherTest : public testing::Test {
 protected:
  [[nodiscard]] Result<NcclPlace> place() const {
    return nccl_place(node.settings, [&](std::string_view name) {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    });
  }
  [[nodiscard]] ChildCommand command(const NcclTest& test) const {
    const HostPaths paths = node.host.paths();
    return nccl_command(test, place().value(),
                        {node.snapshot, node.settings, paths, node.type, node.profile, clock,
                         std::stop_token(), false});
  }

  ExternalCheckNode node{8};
  Variables variables;
  mutable SystemClock clock;
  NcclTest whole{{"-b", "8", "-e", "128M", "-f", "2"}, {}, std::chrono::seconds(1800)};
};

TEST_F(NcclLauncherTest, TakesTheNodesOfTheAllocationThenThoseOfTheSetting) {
  EXPECT_EQ(place()->nodes, 1U);
  EXPECT_FALSE(place()->has_several_nodes());
  variables["SLURM_JOB_ID"] = "17";
  node.settings.nccl_nodes = 2;
  EXPECT_EQ(place()->nodes, 2U);
  variables["SLURM_NNODES"] = "3";
  EXPECT_EQ(place()->nodes, 3U);
  variables["SLURM_JOB_NUM_NODES"] = "4";
  EXPECT_EQ(place()->nodes, 4U);
  EXPECT_TRUE(place()->has_several_nodes());
  variables["SLURM_JOB_NUM_NODES"] = "1";
  EXPECT_FALSE(place()->has_several_nodes());
}

TEST_F(NcclLauncherTest, NamesAVariableOfSlurmThatIsNoNumber) {
  variables["SLURM_JOB_NUM_NODES"] = "2(x3)";
  ASSERT_FALSE(place().has_value());
  EXPECT_EQ(place().error().message, "SLURM_JOB_NUM_NODES is not a number of nodes: 2(x3)");
}

TEST_F(NcclLauncherTest, SaysSoIfNobodyCanStartTheOtherNodes) {
  node.settings.nccl_nodes = 2;
  ASSERT_FALSE(place().has_value());
  EXPECT_THAT(place().error().message, HasSubstr("no launcher"));
}

TEST_F(NcclLauncherTest, StartsAllReduceBySrunWithTheEnvironmentOfTheReplacedSuite) {
  node.use_profile("p5.48xlarge");
  variables["SLURM_JOB_NUM_NODES"] = "2";
  const ChildCommand srun = command(whole);
  EXPECT_EQ(srun.program, "srun");
  EXPECT_THAT(srun.arguments, ElementsAre("--ntasks-per-node=1", "all_reduce_perf", "-b", "8", "-e",
                                          "128M", "-f", "2", "-g", "8"));
  EXPECT_THAT(srun.environment,
              UnorderedElementsAre(Pair("FI_PROVIDER", "efa"), Pair("FI_EFA_USE_DEVICE_RDMA", "1"),
                                   Pair("NCCL_NET_GDR_LEVEL", "2"), Pair("NCCL_DEBUG", "INFO")));
  EXPECT_EQ(srun.timeout, whole.timeout);
}

TEST_F(NcclLauncherTest, StartsTheImageThatIsAskedFor) {
  variables["SLURM_JOB_NUM_NODES"] = "2";
  node.settings.nccl_container = "docker://example.org/nccl-tests:1";
  EXPECT_THAT(
      command(whole).arguments,
      ElementsAre("--ntasks-per-node=1", "--container-image=docker://example.org/nccl-tests:1",
                  "all_reduce_perf", "-b", "8", "-e", "128M", "-f", "2", "-g", "8"));
}

TEST_F(NcclLauncherTest, StartsMpirunWithAHostFile) {
  node.use_profile("p5.48xlarge");
  variables["SLURM_JOB_ID"] = "17";
  node.settings.nccl_nodes = 2;
  node.settings.nccl_hostfile = "/etc/nccl/hosts";
  const ChildCommand mpirun = command(whole);
  EXPECT_EQ(mpirun.program, "mpirun");
  EXPECT_THAT(mpirun.arguments,
              ElementsAre("--hostfile", "/etc/nccl/hosts", "--map-by", "ppr:1:node", "-np", "2",
                          "-x", "FI_EFA_USE_DEVICE_RDMA", "-x", "FI_PROVIDER", "-x", "NCCL_DEBUG",
                          "-x", "NCCL_NET_GDR_LEVEL", "all_reduce_perf", "-b", "8", "-e", "128M",
                          "-f", "2", "-g", "8"));
}

TEST_F(NcclLauncherTest, LeavesTheProviderOpenIfThereIsNoEfa) {
  variables["SLURM_JOB_NUM_NODES"] = "2";
  node.use_profile("g6.xlarge");
  EXPECT_THAT(command(whole).environment,
              UnorderedElementsAre(Pair("NCCL_NET_GDR_LEVEL", "2"), Pair("NCCL_DEBUG", "INFO")));
}

TEST_F(NcclLauncherTest, LeavesTheProviderOpenOnAMachineWithoutAProfile) {
  variables["SLURM_JOB_NUM_NODES"] = "2";
  EXPECT_THAT(command(whole).environment,
              UnorderedElementsAre(Pair("NCCL_NET_GDR_LEVEL", "2"), Pair("NCCL_DEBUG", "INFO")));
}

TEST_F(NcclLauncherTest, NamesTheProviderOnAMachineWithoutAProfileThatHasEfa) {
  node.host.with_efa(4);
  EXPECT_THAT(command(whole).environment,
              UnorderedElementsAre(Pair("FI_PROVIDER", "efa"), Pair("NCCL_DEBUG", "INFO")));
}

TEST_F(NcclLauncherTest, StartsTheProgramItselfOnOneNode) {
  node.use_profile("p5.48xlarge");
  const ChildCommand own = command({whole.sizes, {{"NCCL_NET", "Socket"}}, whole.timeout});
  EXPECT_EQ(own.program, "all_reduce_perf");
  EXPECT_THAT(own.arguments, ElementsAre("-b", "8", "-e", "128M", "-f", "2", "-g", "8"));
  EXPECT_THAT(own.environment,
              UnorderedElementsAre(Pair("NCCL_NET", "Socket"), Pair("FI_PROVIDER", "efa"),
                                   Pair("NCCL_DEBUG", "INFO")));
}

}  // namespace
}  // namespace gpuward::exporter
