#include "remediator/policy/triage_rules.h"

#include <gmock/gmock.h>

#include "tests/unit/remediator/policy/parse_policy.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string complaint_of(const std::string& yaml) {
  const auto policy = parse_policy(yaml);
  return policy ? std::string() : policy.error().message;
}

TEST(TriageRules, AskNobodyUnlessThePolicySaysWhom) {
  const auto policy = parse_policy("mode: observe\n");

  ASSERT_TRUE(policy);
  EXPECT_FALSE(policy->triage.is_on());
  EXPECT_EQ(policy->triage.max_severity, AdvisedSeverity::kMonitor);
}

TEST(TriageRules, AreReadFromTheFile) {
  const auto policy = parse_policy(
      "triage:\n"
      "  openai: {url: 'http://vllm.ml:8000/v1/', model: qwen, api_key_file: /etc/key,\n"
      "           credentials_over_http: true}\n"
      "  max_severity: reset\n  min_confidence: 0.5\n  timeout: 3s\n  per_hour: 7\n"
      "  characters_per_day: 6000\n  line_characters: 99\n");

  ASSERT_TRUE(policy) << policy.error().message;
  const TriageRules& rules = policy->triage;
  EXPECT_EQ(rules.kind, "openai");
  EXPECT_EQ(rules.url, "http://vllm.ml:8000/v1");
  EXPECT_EQ(rules.model, "qwen");
  EXPECT_EQ(rules.api_key_file, "/etc/key");
  EXPECT_TRUE(rules.credentials_over_http);
  EXPECT_EQ(rules.max_severity, AdvisedSeverity::kReset);
  EXPECT_DOUBLE_EQ(rules.min_confidence, 0.5);
  EXPECT_EQ(rules.timeout, std::chrono::seconds(3));
  EXPECT_EQ(rules.per_hour, 7);
  EXPECT_EQ(rules.characters_per_day, 6'000);
  EXPECT_EQ(rules.line_characters, 99);
}

TEST(TriageRules, TellFromTheIdHowAModelOfBedrockIsAsked) {
  const auto format_of = [](const std::string& model) {
    const auto policy = parse_policy("triage: {bedrock: {" + model + "}}\n");
    EXPECT_TRUE(policy) << policy.error().message;
    EXPECT_TRUE(policy && policy->triage.kind == "bedrock");
    return policy ? policy->triage.format : BedrockFormat::kAnthropic;
  };

  EXPECT_EQ(format_of("model: 'eu.anthropic.claude-sonnet-4-20250514-v1:0'"),
            BedrockFormat::kAnthropic);
  EXPECT_EQ(format_of("model: 'eu.amazon.nova-micro-v1:0'"), BedrockFormat::kNova);
  EXPECT_EQ(format_of("model: 'arn:x', format: nova"), BedrockFormat::kNova);
}

TEST(TriageRules, RefuseWhatIsWorseThanReset) {
  for (const char* severity : {"reboot", "isolate", "none", "terminate"}) {
    EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'http://a', model: b}\n  max_severity: " +
                             std::string(severity) + "\n"),
                HasSubstr("policy.yaml:3: triage.max_severity: must be one of monitor, reset"));
  }
}

TEST(TriageRules, SendNoKeyInTheClear) {
  EXPECT_THAT(
      complaint_of("triage:\n  openai: {url: 'http://vllm.ml/v1', model: b, api_key_file: /k}\n"),
      HasSubstr("policy.yaml:2: triage.openai.api_key_file: credentials would be sent unencrypted "
                "to vllm.ml: use https://, or set credentials_over_http"));
  EXPECT_EQ(complaint_of("triage:\n  openai: {url: 'http://vllm.ml/v1', model: b}\n"), "");
}

TEST(TriageRules, SayWhereWhichFaultIs) {
  EXPECT_THAT(complaint_of("triage:\n  per_hour: 5\n"),
              HasSubstr("triage.openai: set openai or bedrock"));
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'ftp://a', model: b}\n"),
              HasSubstr("policy.yaml:2: triage.openai.url"));
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'https://me:hunter2@a/v1', model: b}\n"),
              AllOf(HasSubstr("policy.yaml:2: triage.openai.url: must not contain a user"),
                    Not(HasSubstr("hunter2"))));
  EXPECT_EQ(complaint_of("triage:\n  openai: {url: 'https://a/v1/@me', model: b}\n"), "");
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'http://a'}\n"),
              HasSubstr("triage.openai.model"));
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'http://a', model: b, api_key_file: key}\n"),
              HasSubstr("must be an absolute path"));
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'http://a', model: b, api_key: x}\n"),
              HasSubstr("triage.openai.api_key"));
  EXPECT_THAT(complaint_of("triage:\n  bedrock: {model: 'meta.llama3-8b'}\n"),
              HasSubstr("triage.bedrock.format"));
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'http://a', model: b}\n"
                           "  bedrock: {model: 'anthropic.x'}\n"),
              HasSubstr("policy.yaml:3: triage.bedrock: set only one"));
  EXPECT_THAT(complaint_of("triage:\n  openai: {url: 'http://a', model: b}\n  per_hour: 0\n"),
              HasSubstr("policy.yaml:3: triage.per_hour"));
}

}  // namespace
}  // namespace gpuward::remediator
