#include "exporter/checks/nccl/nccl_measurements.h"

#include <gmock/gmock.h>

#include "exporter/checks/nccl/nccl_limits.h"
#include "tests/unit/exporter/checks/dcgm_samples.h"

namespace gpuward::exporter {
namespace {

using samples::recorded;
using testing::HasSubstr;

TEST(NcclMeasurements, ReadsTheTableOfToday) {
  const NcclMeasurements report = parse_nccl_output(recorded("nccl/v2.13-h100-two-nodes.txt"));
  EXPECT_EQ(report.rows, 5U);
  EXPECT_DOUBLE_EQ(report.best_bus_bandwidth, 466.73);
  EXPECT_EQ(report.best_size, 8589934592U);
  EXPECT_EQ(report.wrong_values, 0U);
  EXPECT_TRUE(report.is_complete());
}

TEST(NcclMeasurements, ReadsTheTableWithoutARoot) {
  const NcclMeasurements report = parse_nccl_output(recorded("nccl/v2.0-without-root.txt"));
  EXPECT_EQ(report.rows, 3U);
  EXPECT_DOUBLE_EQ(report.best_bus_bandwidth, 2.56);
  EXPECT_TRUE(report.is_complete());
}

TEST(NcclMeasurements, TakesATableWithoutItsEndForIncomplete) {
  const NcclMeasurements report = parse_nccl_output(recorded("nccl/v2.18.2-without-end.txt"));
  EXPECT_EQ(report.rows, 4U);
  EXPECT_DOUBLE_EQ(report.best_bus_bandwidth, 45.70);
  EXPECT_FALSE(report.is_complete());
}

TEST(NcclMeasurements, CountsWrongValues) {
  const NcclMeasurements report = parse_nccl_output(recorded("nccl/v2.17.8-wrong-values.txt"));
  EXPECT_EQ(report.wrong_values, 4U);
  EXPECT_THAT(report.complaint, HasSubstr("Test failure"));
  EXPECT_FALSE(report.is_hardware_complaint);
}

TEST(NcclMeasurements, KnowsACudaErrorThatIsNoHardware) {
  const NcclMeasurements report = parse_nccl_output(recorded("nccl/v2.17.8-busy.txt"));
  EXPECT_THAT(report.complaint, HasSubstr("busy or unavailable"));
  EXPECT_FALSE(report.is_hardware_complaint);
  EXPECT_FALSE(report.is_complete());
}

TEST(NcclMeasurements, KnowsACudaErrorThatIsHardware) {
  const NcclMeasurements report = parse_nccl_output(
      "x: Test NCCL failure common.cu:958 'unhandled cuda error'\n"
      "x:1:2 [3] enqueue.cc:1 NCCL WARN Cuda failure 'uncorrectable ECC error encountered'\n");
  EXPECT_TRUE(report.is_hardware_complaint);
  EXPECT_THAT(report.complaint, HasSubstr("uncorrectable ECC"));
}

TEST(NcclMeasurements, KnowsWhichHostComplainsOfItsHardware) {
  const std::string other = "node-b: Test CUDA failure common.cu:1 'uncorrectable ECC error'\n";
  EXPECT_EQ(parse_nccl_output(other, "node-a").own_hardware_complaint, "");
  EXPECT_EQ(parse_nccl_output(other, "node").own_hardware_complaint, "");
  EXPECT_EQ(parse_nccl_output(other).own_hardware_complaint, "");
  for (const std::string line :
       {"node-a: Test CUDA failure common.cu:1 'uncorrectable ECC error'",
        "node-a.example: Test CUDA failure common.cu:1 'uncorrectable ECC error'",
        "node-a:12:34 [3] enqueue.cc:1 NCCL WARN Cuda failure 'uncorrectable NVLink error'",
        "[2025-02-19 10:00:00] node-a:12:34 [3] NCCL WARN Cuda failure 'hardware stack error'"}) {
    EXPECT_EQ(parse_nccl_output(other + line + "\n", "node-a").own_hardware_complaint, line);
  }
}

TEST(NcclMeasurements, TakesALineWithoutAHostForNobodys) {
  for (const std::string line : {"uncorrectable ECC error", "[ uncorrectable ECC error",
                                 ": uncorrectable ECC error", "[]: uncorrectable ECC error"}) {
    const NcclMeasurements report = parse_nccl_output(line, "node-a");
    EXPECT_TRUE(report.is_hardware_complaint);
    EXPECT_EQ(report.own_hardware_complaint, "");
  }
}

TEST(NcclMeasurements, CountsTheTablesAndTakesTheWorst) {
  const NcclMeasurements report = parse_nccl_output(recorded("nccl/v2.17.8-wrong-values.txt") +
                                                    recorded("nccl/v2.13-h100-two-nodes.txt"));
  EXPECT_EQ(report.summaries, 2U);
  EXPECT_EQ(report.wrong_values, 4U);
}

// The messages of aws-ofi-nccl and NCCL under NCCL_DEBUG=INFO.
TEST(NcclMeasurements, NamesTheNetwork) {
  EXPECT_EQ(parse_nccl_output("a:1:2 [0] NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)")
                .network,
            "efa");
  EXPECT_EQ(parse_nccl_output("a:1:2 [0] NCCL INFO Using network AWS Libfabric\n").network,
            "AWS Libfabric");
  EXPECT_EQ(parse_nccl_output("a:1:2 [0] NCCL INFO Using network Socket\n").network, "Socket");
}

TEST(NcclMeasurements, FindsNothingInGarbage) {
  for (const std::string output : {"", "# size count", "1 2 3 4 5 6 7 8 9", "\xff\xfe#\n#\n"}) {
    const NcclMeasurements report = parse_nccl_output(output);
    EXPECT_EQ(report.rows, 0U);
    EXPECT_FALSE(report.is_complete());
  }
}

// CONTRACTS A, check 5; p4de was missing from the replaced tables.
TEST(NcclLimits, AreThoseOfTheInstanceType) {
  EXPECT_EQ(nccl_limits("p4d.24xlarge").nvlink, 200);
  EXPECT_EQ(nccl_limits("p4de.24xlarge").nvlink, 200);
  EXPECT_EQ(nccl_limits("p4d.24xlarge").all, 300);
  for (const std::string type : {"p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge"}) {
    EXPECT_EQ(nccl_limits(type).nvlink, 500) << type;
    EXPECT_EQ(nccl_limits(type).all, 800) << type;
  }
  EXPECT_EQ(nccl_limits("ml.p6-b200.48xlarge").nvlink, 600);
  EXPECT_EQ(nccl_limits("ml.p6-b200.48xlarge").all, 900);
  EXPECT_EQ(nccl_limits("g6.48xlarge").nvlink, 0);
  EXPECT_EQ(nccl_limits("").nvlink, 0);
}

}  // namespace
}  // namespace gpuward::exporter
