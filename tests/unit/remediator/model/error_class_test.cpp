#include "remediator/model/error_class.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>

#include "remediator/model/evidence.h"
#include "tests/places.inc"

namespace gpuward::remediator {
namespace {

using Labels = std::map<std::string, std::string>;

struct ErrorCase {
  Labels labels;
  Severity severity;
  std::string wanted;
};

TEST(ErrorClass, IsThatOfTheMonitorThatIsReplaced) {
  const std::vector<ErrorCase> cases = {
      {{{"xid", "79"}}, Severity::kReboot, "XID_CRITICAL_79"},
      {{{"xid", "74"}}, Severity::kMonitor, "XID_CRITICAL_74"},
      {{{"xid", "999"}}, Severity::kMonitor, "XID_CRITICAL_999"},
      {{{"xid", "62"}}, Severity::kReset, "XID_WARNING_62"},
      {{{"xid", "43"}}, Severity::kMonitor, "XID_WARNING_43"},
      {{{"xid", "31"}}, Severity::kMonitor, "XID_WARNING_31"},
      {{{"xid", "48"}}, Severity::kReset, "XID_CRITICAL_48"},
      {{{"xid", "13"}}, Severity::kMonitor, "XID_WARNING_13"},
      {{{"err_code", "79"}}, Severity::kReboot, "XID_CRITICAL_79"},
      {{{"check", "xid"}, {"code", "119"}}, Severity::kReset, "XID_CRITICAL_119"},
      {{{"check", "sxid"}, {"code", "20034"}}, Severity::kReset, "XID_ERROR"},
      {{{"alertname", "DcgmXidErrors"}}, Severity::kReboot, "XID_ERROR"},
      {{{"alertname", "DcgmXidErrors"}, {"err_code", "0"}}, Severity::kReboot, "XID_ERROR"},
      {{{"xid", "79; rm"}}, Severity::kReboot, "GPU_HEALTH_ERROR"},
      {{{"alertname", "GpuDoubleBitECC"}}, Severity::kReset, "ECC_ERROR"},
      {{{"alertname", "GpuEccUncorrected"}}, Severity::kMonitor, "ECC_ERROR"},
      {{{"alertname", "GpuNodeNeedsReboot"}}, Severity::kReboot, "GPU_HEALTH_ERROR"},
      {{{"alertname", "GpuNodeNeedsReset"}}, Severity::kReset, "GPU_HEALTH_ERROR"},
      {{{"alertname", "GpuNodeNeedsAttention"}}, Severity::kMonitor, "GPU_HEALTH_WARNING"},
      {{}, Severity::kNone, "HEALTHY"},
  };
  for (const ErrorCase& one : cases) {
    EXPECT_EQ(error_class_of(one.labels, one.severity), one.wanted);
  }
}

// The labels `check` and `code` of gpuward_finding, as the exporter has them.
TEST(ErrorClass, OfAFindingComesFromItsCheckAndItsCode) {
  const std::vector<ErrorCase> cases = {
      {{{"check", "gpu"}, {"code", "ecc_uncorrected"}}, Severity::kReset, "ECC_ERROR"},
      {{{"check", "gpu"}, {"code", "ecc_corrected_flood"}}, Severity::kMonitor, "ECC_ERROR"},
      {{{"check", "amd_ras"}, {"code", "UE"}}, Severity::kReboot, "ECC_ERROR"},
      {{{"check", "1-dcgm-diag-l2"}, {"code", "memory/57"}}, Severity::kReset, "ECC_ERROR"},
      {{{"check", "4-dcgm-diag-l4"}, {"code", "software/84"}}, Severity::kIsolate, "ECC_ERROR"},
      {{{"check", "4-dcgm-diag-l4"}, {"code", "memory/58"}},
       Severity::kIsolate,
       "GPU_HEALTH_ERROR"},
      {{{"check", "1-dcgm-diag-l2"}, {"code", "software/101"}}, Severity::kReset, "XID_ERROR"},
      {{{"check", "1-dcgm-diag-l2"}, {"code", "memory"}}, Severity::kReset, "GPU_HEALTH_ERROR"},
      {{{"check", "my-program"}, {"code", "memory/57"}}, Severity::kReset, "GPU_HEALTH_ERROR"},
      {{{"check", "0-nvidia-smi"}, {"code", "xid_159_uvm"}}, Severity::kReset, "XID_CRITICAL_159"},
      {{{"check", "my-program"}, {"code", "xid_count"}}, Severity::kMonitor, "GPU_HEALTH_WARNING"},
      {{{"check", "gpu"}, {"code", "gpu_lost"}}, Severity::kReboot, "GPU_HEALTH_ERROR"},
      {{{"check", "gpu"}, {"code", "thermal_slowdown"}}, Severity::kMonitor, "GPU_HEALTH_WARNING"},
      {{{"check", "3-topology-check"}, {"code", "nvlink_absent"}},
       Severity::kIsolate,
       "GPU_HEALTH_ERROR"},
      // Settings of the memory.
      {{{"check", "gpu"}, {"code", "ecc_off"}}, Severity::kMonitor, "GPU_HEALTH_WARNING"},
      {{{"check", "gpu"}, {"code", "ecc_pending"}}, Severity::kMonitor, "GPU_HEALTH_WARNING"},
  };
  for (const ErrorCase& one : cases) {
    EXPECT_EQ(error_class_of(one.labels, one.severity), one.wanted)
        << one.labels.at("check") << " " << one.labels.at("code");
  }
}

// That page lists each code of the exporter, which the page's own tests check.
TEST(ErrorClass, IsEccErrorForEachErrorOfTheMemoryInThePageOfTheChecks) {
  std::ifstream page(std::string(GPUWARD_SOURCE_DIR) + "/docs/checks.md");
  const std::regex row(R"(\| `((ecc|retired_pages|row_remap|sram|ras|cper)_\w+)` \| (\w+) \|.*)");
  std::vector<std::string> codes;
  for (std::string line; std::getline(page, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string code = match[1];
    if (code == "ecc_off" || code == "ecc_pending") continue;
    codes.push_back(code);
    EXPECT_EQ(error_class_of({{"check", match[3]}, {"code", code}}, Severity::kReset), "ECC_ERROR")
        << code;
  }
  EXPECT_THAT(codes, ::testing::SizeIs(10));
}

TEST(ErrorClass, IsWeighedByWhatItSaysOfTheNode) {
  const std::vector<std::string> by_weight = {
      "",          "HEALTHY",          "GPU_HEALTH_WARNING", "XID_WARNING_31",
      "XID_ERROR", "GPU_HEALTH_ERROR", "ECC_ERROR",          "XID_CRITICAL_79"};
  for (std::size_t i = 0; i < by_weight.size(); ++i) {
    for (std::size_t j = 0; j < by_weight.size(); ++j) {
      EXPECT_EQ(is_milder_class(by_weight[i], by_weight[j]), i < j) << i << " and " << j;
    }
  }
  EXPECT_FALSE(is_milder_class("XID_CRITICAL_74", "XID_CRITICAL_79"));
}

TEST(ErrorClass, IsKeptWithTheEvidenceAndTheWorstThatFiresCounts) {
  Remediation remediation;
  AlertSignal signal{.node = "gpu-01",
                     .severity = Severity::kReboot,
                     .alertname = "A",
                     .fingerprint = "a",
                     .starts_at = {},
                     .ends_at = {},
                     .error_class = "GPU_HEALTH_ERROR"};
  fold(remediation, signal, {});
  EXPECT_EQ(error_class_of(remediation), "GPU_HEALTH_ERROR");
  signal.fingerprint = "b";
  signal.error_class = "XID_CRITICAL_79";
  fold(remediation, signal, {});
  EXPECT_EQ(remediation.alerts[1].error_class, "XID_CRITICAL_79");
  EXPECT_EQ(error_class_of(remediation), "XID_CRITICAL_79");

  signal.firing = false;
  fold(remediation, signal, {});

  EXPECT_EQ(error_class_of(remediation), "GPU_HEALTH_ERROR");
  signal.fingerprint = "a";
  fold(remediation, signal, {});
  EXPECT_EQ(error_class_of(remediation), "XID_CRITICAL_79") << "of what is over, the worst";
  remediation.status.error_class = "XID_CRITICAL_48";
  EXPECT_EQ(error_class_of(remediation), "XID_CRITICAL_48") << "the exporter's";
}

}  // namespace
}  // namespace gpuward::remediator
