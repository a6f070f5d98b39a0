#include "core/model/finding.h"

#include <gtest/gtest.h>

namespace gpuward {
namespace {

TEST(Finding, SaysWhatClearsItByNameOfTheContract) {
  EXPECT_EQ(to_string(ClearedBy::kReboot), "reboot");
  EXPECT_EQ(to_string(ClearedBy::kGpuReset), "gpu_reset");
  EXPECT_EQ(to_string(ClearedBy::kDiagnostics), "diagnostics");
  EXPECT_EQ(to_string(ClearedBy::kOperator), "operator");
  EXPECT_EQ(to_string(ClearedBy::kAge), "age");
}

}  // namespace
}  // namespace gpuward
