#include "exporter/store/clear_request.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using std::chrono::seconds;

constexpr WallTime kDiagnosticBegan{seconds(1'800'000'000)};

// Returns the request as the exporter reads it from the folder in which an operator left it.
ClearRequest as_taken(const ClearRequest& left) {
  const support::TempDir folder;
  EXPECT_TRUE(ClearRequests(folder.path()).leave(left, kDiagnosticBegan));
  const auto taken = ClearRequests(folder.path()).take();
  EXPECT_EQ(taken.fault, "");
  EXPECT_EQ(taken.requests.size(), 1U);
  return taken.requests.empty() ? ClearRequest{} : taken.requests.front();
}

Finding finding_cleared(ClearedBy by, WallTime last_seen = kDiagnosticBegan) {
  Finding finding;
  finding.cleared_by = by;
  finding.last_seen = last_seen;
  return finding;
}

TEST(ClearRequest, OfAPassedDiagnosticMeansWhatDiagnosticsClearAlone) {
  ClearRequest left;
  left.passed_diagnostic = kDiagnosticBegan;
  const ClearRequest request = as_taken(left);
  EXPECT_TRUE(request.matches(finding_cleared(ClearedBy::kDiagnostics)));
  for (const ClearedBy other : {ClearedBy::kReboot, ClearedBy::kGpuReset, ClearedBy::kOperator,
                                ClearedBy::kAge, ClearedBy::kCheck}) {
    EXPECT_FALSE(request.matches(finding_cleared(other))) << to_string(other);
  }
}

TEST(ClearRequest, OfAPassedDiagnosticSparesWhatCameAfterItBegan) {
  ClearRequest left;
  left.passed_diagnostic = kDiagnosticBegan;
  EXPECT_FALSE(as_taken(left).matches(
      finding_cleared(ClearedBy::kDiagnostics, kDiagnosticBegan + seconds(1))));
}

// For example a finding of a GPU that fails again while the driver initialises it.
TEST(ClearRequest, AfterAResetTakesNoFindingThatWasSeenAfterIt) {
  ClearRequest left;
  left.after_gpu_reset = true;
  left.reset_ended = kDiagnosticBegan;
  const ClearRequest request = as_taken(left);
  Finding finding = finding_cleared(ClearedBy::kGpuReset, kDiagnosticBegan - seconds(1));
  EXPECT_TRUE(request.matches(finding));
  finding.last_seen = kDiagnosticBegan + seconds(1);
  EXPECT_FALSE(request.matches(finding));
}

TEST(ClearRequest, AfterAResetOfOneGpuTakesNoFindingWithoutAnAddressButOfItsDriver) {
  ClearRequest left;
  left.after_gpu_reset = true;
  left.pci_bus_id = "0000:4e:00";
  const ClearRequest request = as_taken(left);
  Finding finding = finding_cleared(ClearedBy::kGpuReset);
  for (const char* check : {"sxid", "amd_hang", "5-nccl-allreduce"}) {
    finding.check = check;
    EXPECT_FALSE(request.matches(finding)) << check;
  }
  finding.check = "nvrm";
  EXPECT_TRUE(request.matches(finding));
  finding.check = "xid";
  finding.pci_bus_id = "0000:4e:00";
  EXPECT_TRUE(request.matches(finding));
}

TEST(ClearRequest, WithATimeThatIsNoneIsRefused) {
  const support::TempDir folder;
  std::filesystem::create_directory(folder / "clear.d");
  static_cast<void>(folder.write("clear.d/a.json", R"({"passed_diagnostic": "yesterday"})"));
  const auto taken = ClearRequests(folder.path()).take();
  EXPECT_TRUE(taken.requests.empty());
  EXPECT_NE(taken.fault.find("passed_diagnostic"), std::string::npos);
}

}  // namespace
}  // namespace gpuward::exporter
