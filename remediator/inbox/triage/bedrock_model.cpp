#include "remediator/inbox/triage/bedrock_model.h"

#include <utility>

#include "core/aws/client.h"
#include "core/http/syntax/url.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr const char* kTool = "class_line";

// The answer is the input of a tool call, so that it cannot be prose.
Json anthropic_body(const Prompt& prompt) {
  const Json tool = {{"name", kTool},
                     {"description", "Takes the class of the line."},
                     {"input_schema", parse_json(answer_schema()).value_or(Json::object())}};
  return {{"anthropic_version", "bedrock-2023-05-31"},
          {"max_tokens", kMostAnswerTokens},
          {"system", prompt.instructions},
          {"messages", {{{"role", "user"}, {"content", prompt.data}}}},
          {"tools", Json::array({tool})},
          {"tool_choice", {{"type", "tool"}, {"name", kTool}}}};
}

Json nova_body(const Prompt& prompt) {
  const Json content = Json::array({{{"text", prompt.data}}});
  return {{"system", Json::array({{{"text", prompt.instructions}}})},
          {"messages", Json::array({{{"role", "user"}, {"content", content}}})},
          {"inferenceConfig", {{"maxTokens", kMostAnswerTokens}}}};
}

// Returns the only part of `content`, or null.
const Json& only_part(const Json& content) {
  static const Json kNone;
  return content.is_array() && content.size() == 1 ? content[0] : kNone;
}

std::string text_of(BedrockFormat format, const std::string& body) {
  const auto json = parse_json(body);
  if (!json) return {};
  if (format == BedrockFormat::kNova) {
    const Json& message = member_at(member_at(*json, "output"), "message");
    return string_at(only_part(member_at(message, "content")), "text");
  }
  const Json& part = only_part(member_at(*json, "content"));
  const bool is_call = string_at(part, "type") == "tool_use" && string_at(part, "name") == kTool;
  return is_call ? dump_json(member_at(part, "input")) : std::string();
}

class BedrockModel final : public LanguageModel {
 public:
  BedrockModel(TriageRules rules, aws::AwsClient& aws) : rules_(std::move(rules)), aws_(aws) {}

  Result<std::string> ask(const Prompt& prompt, const std::stop_token& stop) override {
    const bool is_nova = rules_.format == BedrockFormat::kNova;
    const auto answer = aws_.call(
        {.service = aws::kBedrockRuntime,
         .what = "InvokeModel",
         .path = "/model/" + http::encode_path_segment(rules_.model) + "/invoke",
         .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}},
         .body = dump_json(is_nova ? nova_body(prompt) : anthropic_body(prompt)),
         .region = rules_.region,
         .timeout = rules_.timeout,
         .stop = stop});
    if (!answer) return std::unexpected(answer.error());
    return text_of(rules_.format, answer->body);
  }

 private:
  const TriageRules rules_;
  aws::AwsClient& aws_;
};

}  // namespace

Result<std::unique_ptr<LanguageModel>> open_bedrock_model(const TriageRules& rules,
                                                          const ModelServices& services) {
  return std::make_unique<BedrockModel>(rules, services.aws);
}

}  // namespace gpuward::remediator
