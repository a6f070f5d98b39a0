#include "remediator/inbox/triage/advice.h"

#include <gmock/gmock.h>

#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Advice, IsAClassHowSureAndWhy) {
  const auto advice =
      read_advice("\n{\"class\":\"ECC_ERROR\",\"confidence\":0.93,\"reason\":\"a\\u0000b\"} ");

  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_EQ(advice->what.name, "ECC_ERROR");
  EXPECT_EQ(advice->what.severity, AdvisedSeverity::kReset);
  EXPECT_DOUBLE_EQ(advice->confidence, 0.93);
  EXPECT_EQ(advice->reason, "a b") << "nothing that steers a terminal";
}

TEST(Advice, HasNoSeverityIfAllIsWell) {
  const auto advice = read_advice(R"({"class":"HEALTHY","confidence":1,"reason":""})");

  ASSERT_TRUE(advice);
  EXPECT_FALSE(advice->what.severity);
}

TEST(Advice, CanAmountToNoMoreThanAReset) {
  for (const AdvisedClass& known : advised_classes()) {
    if (!known.severity) continue;
    EXPECT_LE(to_severity(*known.severity), Severity::kReset) << known.name;
  }
}

TEST(Advice, KnowsTheClassesOfTheReplacedMonitor) { EXPECT_EQ(advised_classes().size(), 11U); }

std::string padded(std::size_t size) {
  return R"({"class":"ECC_ERROR","confidence":1,"reason":")" + std::string(size, 'x') + "\"}";
}

class HostileAdvice : public ::testing::TestWithParam<std::string> {};

TEST_P(HostileAdvice, IsNone) {
  const auto advice = read_advice(GetParam());

  ASSERT_FALSE(advice);
  EXPECT_EQ(advice.error().kind, ErrorKind::kInvalid);
  EXPECT_THAT(advice.error().message, Not(HasSubstr("gpu-07"))) << "a log line quotes no model";
}
INSTANTIATE_TEST_SUITE_P(
    Shapes, HostileAdvice,
    ::testing::Values("", "null", "[]", "\"ECC_ERROR\"", "ECC_ERROR", "terminate gpu-07",
                      padded(201), padded(50'000), std::string(2'000'000, '['),
                      "Sure! {\"class\":\"ECC_ERROR\",\"confidence\":1,\"reason\":\"\"}",
                      "```json\n{\"class\":\"ECC_ERROR\",\"confidence\":1,\"reason\":\"\"}\n```",
                      R"({"class":"ECC_ERROR","confidence":1,"reason":""}{"class":"HEALTHY"})",
                      R"({"class":"ECC_ERROR","confidence":1})",
                      R"({"class":"ECC_ERROR","confidence":1,"reason":"","node":"gpu-07"})",
                      R"({"class":"ECC_ERROR","confidence":1,"severity":"isolate"})",
                      R"({"class":"ISOLATE","confidence":1,"reason":""})",
                      R"({"class":"gpu-07","confidence":1,"reason":""})",
                      R"({"class":"ecc_error","confidence":1,"reason":""})",
                      R"({"class":["ECC_ERROR"],"confidence":1,"reason":""})",
                      R"({"class":{"name":"ECC_ERROR"},"confidence":1,"reason":""})",
                      R"({"class":7,"confidence":1,"reason":""})",
                      R"({"class":"ECC_ERROR","confidence":"1","reason":""})",
                      R"({"class":"ECC_ERROR","confidence":1.01,"reason":""})",
                      R"({"class":"ECC_ERROR","confidence":-1,"reason":""})",
                      R"({"class":"ECC_ERROR","confidence":true,"reason":""})",
                      R"({"class":"ECC_ERROR","confidence":1,"reason":null})",
                      R"({"class":"ECC_ERROR","confidence":1,"reason":{"steps":["terminate"]}})",
                      R"({"class":"HEALTHY","class":"ECC_ERROR","confidence":1,"reason":""})"));

}  // namespace
}  // namespace gpuward::remediator
