#include "remediator/inbox/triage/question.h"

#include <gmock/gmock.h>

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string ask(std::string_view line) { return question_of(line, 500); }

TEST(TriageQuestion, IsTheSameForTheSameErrorOfAnotherMachineAndProcess) {
  const std::string one =
      ask("[  812.331] NVRM: Xid (PCI:0000:4e:00): 4711, pid=2871, name=python3, Ch 0x00000008");

  EXPECT_EQ(one, ask("NVRM: Xid (PCI:0001:9b:00): 4711, pid=9, name=evil, Ch 0x00000010"));
  EXPECT_EQ(one, "NVRM: Xid (PCI#): 4711, pid=#, name=#, Ch #");
  EXPECT_NE(one, ask("NVRM: Xid (PCI:0000:4e:00): 4712, pid=2871, name=python3, Ch 00000008"));
}

TEST(TriageQuestion, HoldsNothingThatCannotBeSeen) {
  EXPECT_EQ(ask("NVRM: a\x1b[31m\tb\n\nc \xe2\x80\xae\xf3\xa0\x81\x81 d\x7f"),
            "NVRM: a [31m b c d");
  EXPECT_EQ(ask(std::string_view("NVRM: \0x", 8)), "NVRM: x");
}

TEST(TriageQuestion, IsShort) {
  std::string many = "NVRM:";
  for (int i = 0; i < 5'000; ++i) many += " word";

  EXPECT_EQ(question_of(many, 60).size(), 60U);
  EXPECT_LE(question_of(many, 9'000).size(), kLongestLine);
}

class TriageSecrets : public ::testing::TestWithParam<std::string_view> {};

TEST_P(TriageSecrets, DoNotLeaveTheCluster) {
  const std::string asked = ask("NVRM: before " + std::string(GetParam()) + " after");

  EXPECT_THAT(asked,
              AllOf(HasSubstr("NVRM: before "), HasSubstr(" after"), Not(HasSubstr("hunter2")),
                    Not(HasSubstr("Zm9v")), Not(HasSubstr("AKIA")), Not(HasSubstr("10.1.2.3")),
                    Not(HasSubstr("bob")), Not(HasSubstr("1f1b"))));
}
INSTANTIATE_TEST_SUITE_P(
    Looks, TriageSecrets,
    ::testing::Values("password=hunter2", "password: hunter2", "Password = hunter2",
                      "--api-key=hunter2", "\"token\":\"hunter2\"",
                      "Authorization: Basic Zm9vOmJhcg", "Authorization: Bearer hunter2",
                      "aws_secret_access_key=hunter2", "key AKIAIOSFODNN7EXAMPLE",
                      "https://bob:hunter2@example.com/x", "bob@example.com", "from 10.1.2.3:8080",
                      "GPU-1f1b2c3d-aaaa-bbbb-cccc-123456789012",
                      "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJib2I1MjM0NSJ9.hunter2hunter2hunter2x",
                      "1f1b5b3c9d8e7f6a5b4c3d2e1f0a9b8c", "mac 00:1f:1b:aa:bb:cc",
                      "fe80::1f1b:22ff:fe33:4455", "serial 1652123000111", "name=bob,",
                      "comm=bob"));

TEST(TriageQuestion, KeepsTheWordsThatMeanSomething) {
  EXPECT_EQ(
      ask("NVRM: GPU0 nvAssertFailedNoLog: Assertion failed: status == NV_OK @ gpu.c:1234"),
      "NVRM: GPU0 nvAssertFailedNoLog: Assertion failed: status == NV_OK [address] gpu.c:1234");
}

}  // namespace
}  // namespace gpuward::remediator
