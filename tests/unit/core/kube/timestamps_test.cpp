#include <gtest/gtest.h>

#include "core/kube/names.h"

namespace gpuward::kube {
namespace {

TEST(MicroTime, AlwaysHasSixDigits) {
  const WallTime whole(std::chrono::sys_days(std::chrono::year(2026) / 11 / 21));
  EXPECT_EQ(to_micro_time(whole), "2026-11-21T00:00:00.000000Z");
  EXPECT_EQ(to_micro_time(whole + std::chrono::microseconds(42)), "2026-11-21T00:00:00.000042Z");
  EXPECT_EQ(to_micro_time(whole + std::chrono::nanoseconds(999'999'999)),
            "2026-11-21T00:00:00.999999Z");
}

}  // namespace
}  // namespace gpuward::kube
