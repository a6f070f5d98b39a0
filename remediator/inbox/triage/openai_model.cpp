#include "remediator/inbox/triage/openai_model.h"

#include <utility>

#include "core/http/client/authorized_client.h"
#include "core/http/client/stoppable.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

// Returns the text of the only choice.
std::string text_of_choices(const std::string& body) {
  const auto json = parse_json(body);
  const Json& choices = json ? member_at(*json, "choices") : Json();
  if (!choices.is_array() || choices.size() != 1) return {};
  return string_at(member_at(choices[0], "message"), "content");
}

class OpenAiModel final : public LanguageModel {
 public:
  OpenAiModel(TriageRules rules, std::unique_ptr<http::Client> client, Clock& clock)
      : rules_(std::move(rules)), client_(std::move(client)), clock_(clock) {}

  Result<std::string> ask(const Prompt& prompt, const std::stop_token& stop) override {
    const auto answer = http::send_until_stopped(*client_, request_of(prompt), clock_, stop);
    if (!answer) return std::unexpected(answer.error());
    if (answer->status / 100 != 2) {
      return fail(answer->status == 429 ? ErrorKind::kOverloaded : ErrorKind::kUnavailable,
                  "the model's server answered " + std::to_string(answer->status));
    }
    return text_of_choices(answer->body);
  }

 private:
  http::ClientRequest request_of(const Prompt& prompt) const {
    http::ClientRequest request;
    request.method = "POST";
    request.url = rules_.url + "/chat/completions";
    request.headers = {{"Content-Type", "application/json"}};
    request.timeout = rules_.timeout;
    request.max_response_bytes = kLargestModelAnswer;
    request.body = dump_json({{"model", rules_.model},
                              {"messages",
                               {{{"role", "system"}, {"content", prompt.instructions}},
                                {{"role", "user"}, {"content", prompt.data}}}},
                              {"max_tokens", kMostAnswerTokens},
                              {"response_format", {{"type", "json_object"}}}});
    return request;
  }

  const TriageRules rules_;
  const std::unique_ptr<http::Client> client_;
  Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<LanguageModel>> open_openai_model(const TriageRules& rules,
                                                         const ModelServices& services) {
  http::ClientFiles files;
  files.bearer_token_file = rules.api_key_file;
  files.ca_file = rules.ca_file;
  if (rules.credentials_over_http) files.plain_http = http::PlainHttp::kAllowed;
  auto client = http::AuthorizedClient::open(std::move(files), rules.url);
  if (!client) return std::unexpected(client.error());
  return std::make_unique<OpenAiModel>(rules, *std::move(client), services.clock);
}

}  // namespace gpuward::remediator
