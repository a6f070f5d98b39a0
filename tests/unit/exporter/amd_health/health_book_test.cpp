#include "exporter/amd_health/health_book.h"

#include <gtest/gtest.h>

namespace gpuward::exporter::amd_health {
namespace {

constexpr const char* kTwo =
    R"({"is_known":true,"thresholds":{"GPU_ECC_UNCORRECT_UMC":1,"GPU_ECC_UNCORRECT_SEM":0},)"
    R"("gpus":[{"id":"0","uuid":"GPU-1","health":"healthy","device":"0000:05:00.0",)"
    R"("workloads":["ml/train-0/main"]},)"
    R"({"id":"1","uuid":"","health":"unhealthy","device":"0000:26:00.0","workloads":[]}]})";

class HealthBookTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(book_.take(kTwo)); }
  std::string health_of(std::size_t gpu) { return (*book_.list())[gpu].health; }
  HealthBook book_;
};

TEST(HealthBook, HasNothingToSayBeforeTheFirstReading) {
  HealthBook book;
  ASSERT_FALSE(book.list());
  EXPECT_EQ(book.list().error().message, "health status not available");
  ASSERT_TRUE(book.take(R"({"gpus":[],"is_known":false,"thresholds":{}})"));
  EXPECT_FALSE(book.list());
  EXPECT_FALSE(book.find({"0"}));
  EXPECT_FALSE(book.pretend("0", {{"GPU_ECC_UNCORRECT_SEM", 1}}));
}

TEST_F(HealthBookTest, ListsWhatItWasTold) {
  const auto gpus = book_.list();
  ASSERT_TRUE(gpus);
  ASSERT_EQ(gpus->size(), 2U);
  EXPECT_EQ((*gpus)[0], (GpuState{"0", "GPU-1", "healthy", "0000:05:00.0", {"ml/train-0/main"}}));
  EXPECT_EQ((*gpus)[1].health, "unhealthy");
}

TEST_F(HealthBookTest, FindsIdsAndLeavesOutThoseThatNobodyHas) {
  const auto gpus = book_.find({"1", "7"});
  ASSERT_TRUE(gpus);
  ASSERT_EQ(gpus->size(), 1U);
  EXPECT_EQ((*gpus)[0].device, "0000:26:00.0");
}

TEST_F(HealthBookTest, KeepsWhatItKnowsIfALineIsBroken) {
  for (const char* const line : {"", "{", "[]", R"({"gpus":3,"is_known":true})"}) {
    EXPECT_FALSE(book_.take(line)) << line;
  }
  EXPECT_EQ(book_.list()->size(), 2U);
}

TEST_F(HealthBookTest, TakesAPretendedCountOverItsThresholdForSick) {
  ASSERT_TRUE(book_.pretend("0", {{"GPU_ECC_UNCORRECT_UMC", 1}}));
  EXPECT_EQ(health_of(0), "healthy");
  ASSERT_TRUE(book_.pretend("0", {{"GPU_ECC_UNCORRECT_UMC", 2}}));
  EXPECT_EQ(health_of(0), "unhealthy");
  ASSERT_TRUE(book_.take(kTwo));
  EXPECT_EQ(health_of(0), "unhealthy");
  ASSERT_TRUE(book_.pretend("0", {{"GPU_ECC_UNCORRECT_UMC", 0}}));
  EXPECT_EQ(health_of(0), "healthy");
}

TEST_F(HealthBookTest, NeverPretendsASickGpuWell) {
  ASSERT_TRUE(book_.pretend("1", {{"GPU_ECC_UNCORRECT_UMC", 0}}));
  EXPECT_EQ(health_of(1), "unhealthy");
}

TEST_F(HealthBookTest, PretendsNothingForUnknownGpusAndFields) {
  EXPECT_EQ(book_.pretend("9", {{"GPU_ECC_UNCORRECT_UMC", 9}}).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(book_.pretend("0", {{"GPU_ECC_UNCORRECT_SEM", 1}, {"GPU_FAN", 1}}).error().kind,
            ErrorKind::kInvalid);
  EXPECT_EQ(health_of(0), "healthy");
}

}  // namespace
}  // namespace gpuward::exporter::amd_health
