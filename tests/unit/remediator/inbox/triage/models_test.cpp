// The requests to the models: a test server for OpenAI's API, a script for Bedrock's.
#include <gmock/gmock.h>

#include "core/aws/client.h"
#include "core/runtime/json.h"
#include "remediator/inbox/triage/advice.h"
#include "remediator/inbox/triage/language_model.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_model.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/kube/scripted_client.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kClaude = "anthropic.claude-3-haiku-20240307-v1:0";

class ModelsTest : public ::testing::Test {
 protected:
  Result<std::string> ask(const TriageRules& rules) {
    const auto model = open_model(rules, {.aws = aws_, .clock = clock_});
    if (!model) return std::unexpected(model.error());
    return (*model)->ask(prompt_of("a line", std::vector<std::string>{"GpuXid"}), {});
  }
  TriageRules openai() const {
    TriageRules rules;
    rules.kind = "openai";
    rules.url = server_.url();
    rules.model = "qwen";
    rules.timeout = std::chrono::seconds(20);
    return rules;
  }
  static TriageRules bedrock(const std::string& model = kClaude,
                             BedrockFormat format = BedrockFormat::kAnthropic) {
    TriageRules rules;
    rules.kind = "bedrock";
    rules.model = model;
    rules.region = "eu-west-1";
    rules.format = format;
    return rules;
  }
  Json sent_to_bedrock() const { return parse_json(script_.requests.at(0).body).value_or(Json()); }

  fakes::FakeModel server_{fakes::advice_text("HEALTHY")};
  const aws::AwsKeys keys_{.access_key_id = "AKIDEXAMPLE", .secret_access_key = "very-secret"};
  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  kube::ScriptedClient script_;
  aws::AwsClient aws_{script_,
                      {.variables = {{"AWS_ACCESS_KEY_ID", keys_.access_key_id},
                                     {"AWS_SECRET_ACCESS_KEY", keys_.secret_access_key}}},
                      clock_};
};

TEST_F(ModelsTest, OpenAiGetsInstructionsAndDataApart) {
  const auto said = ask(openai());

  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(*said, fakes::advice_text("HEALTHY"));
  const Json asked = parse_json(server_.requests().at(0).body).value_or(Json());
  EXPECT_EQ(asked["model"], "qwen");
  EXPECT_EQ(asked["messages"][0]["role"], "system");
  EXPECT_THAT(asked["messages"][0]["content"].get<std::string>(), Not(HasSubstr("GpuXid")));
  EXPECT_EQ(server_.data(), (Json{{"line", "a line"}, {"known", {"GpuXid"}}}));
  EXPECT_TRUE(asked["max_tokens"].is_number());
}

TEST_F(ModelsTest, OpenAisKeyComesFromAFileAndIsInNoError) {
  const support::TempDir folder;
  TriageRules rules = openai();
  rules.api_key_file = folder.write("key", "sk-hunter2\n");
  server_.answer(401);

  const auto said = ask(rules);

  EXPECT_EQ(server_.requests().at(0).header("Authorization"), "Bearer sk-hunter2");
  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message, AllOf(HasSubstr("401"), Not(HasSubstr("hunter2")),
                                          Not(HasSubstr("a secret of the model"))));
  rules.api_key_file = folder / "missing";
  EXPECT_FALSE(ask(rules));
}

TEST_F(ModelsTest, OpenAiThatIsNotThereIsAnError) {
  TriageRules rules = openai();
  rules.url = "http://127.0.0.1:1/v1";

  EXPECT_FALSE(ask(rules));
}

// botocore's vectors (signer_test) cover the double escape of a path in the signature.
TEST_F(ModelsTest, BedrockIsSignedForThePathOfTheModelWithItsColonEscapedTwice) {
  script_.then(kube::answer(200, "{}"));

  ASSERT_TRUE(ask(bedrock()));

  const auto& request = script_.requests.at(0);
  const std::string host = "bedrock-runtime.eu-west-1.amazonaws.com";
  const std::string path = "/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke";
  EXPECT_EQ(request.url, "https://" + host + path);
  const aws::HeaderFields headers = {
      {"Content-Type", "application/json"}, {"Accept", "application/json"}, {"Host", host}};
  const auto added = aws::sign(
      {.method = "POST", .path = path, .query = {}, .headers = headers, .body = request.body},
      keys_, {"eu-west-1", "bedrock"}, clock_.wall());
  EXPECT_EQ(script_.header(0, "Authorization"), added.back().second);
}

TEST_F(ModelsTest, ClaudeAnswersByCallingTheOneToolThatItHas) {
  script_.then(
      kube::answer(200, R"({"content":[{"type":"tool_use","id":"t","name":"class_line","input":)" +
                            fakes::advice_text("ECC_ERROR") + R"(}],"stop_reason":"tool_use"})"));

  const auto said = ask(bedrock());

  ASSERT_TRUE(said);
  EXPECT_EQ(read_advice(*said)->what.name, "ECC_ERROR");
  const Json asked = sent_to_bedrock();
  EXPECT_EQ(asked["anthropic_version"], "bedrock-2023-05-31");
  EXPECT_THAT(asked["system"].get<std::string>(), Not(HasSubstr("GpuXid")));
  EXPECT_EQ(asked["messages"].size(), 1U);
  EXPECT_EQ(*parse_json(asked["messages"][0]["content"].get<std::string>()),
            (Json{{"line", "a line"}, {"known", {"GpuXid"}}}));
  EXPECT_EQ(asked["tool_choice"]["name"], asked["tools"][0]["name"]);
  const Json& schema = asked["tools"][0]["input_schema"];
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["properties"]["class"]["enum"].size(), advised_classes().size());
}

TEST_F(ModelsTest, NovaAnswersWithText) {
  Json answer;
  answer["output"]["message"]["content"] =
      Json::array({{{"text", fakes::advice_text("XID_ERROR")}}});
  script_.then(kube::answer(200, dump_json(answer)));

  const auto said = ask(bedrock("eu.amazon.nova-micro-v1:0", BedrockFormat::kNova));

  ASSERT_TRUE(said);
  EXPECT_EQ(read_advice(*said)->what.name, "XID_ERROR");
  EXPECT_TRUE(sent_to_bedrock()["system"][0]["text"].is_string());
  EXPECT_TRUE(sent_to_bedrock()["inferenceConfig"]["maxTokens"].is_number());
}

TEST_F(ModelsTest, AnAnswerOfAnotherShapeIsNoAdvice) {
  for (const char* body :
       {"", "[]", "{}", R"({"content":"ECC_ERROR"})", R"({"content":[]})",
        R"({"content":[{"type":"text","text":"hello"}]})",
        R"({"content":[{"type":"tool_use","name":"terminate","input":{}}]})",
        R"({"content":[{"type":"tool_use","name":"class_line","input":"x"},{"type":"text"}]})"}) {
    script_.then(kube::answer(200, body));
    const auto said = ask(bedrock());
    ASSERT_TRUE(said);
    EXPECT_FALSE(read_advice(*said)) << body;
  }
}

TEST_F(ModelsTest, ARightThatIsMissingIsOneClearError) {
  script_.then(kube::answer(403, R"({"message":"not authorized to perform: bedrock:InvokeModel"})",
                            {{"x-amzn-ErrorType", "AccessDeniedException"}}));

  const auto said = ask(bedrock());

  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message,
              AllOf(HasSubstr("Bedrock InvokeModel"), HasSubstr("bedrock:InvokeModel"),
                    Not(HasSubstr("very-secret"))));
}

}  // namespace
}  // namespace gpuward::remediator
