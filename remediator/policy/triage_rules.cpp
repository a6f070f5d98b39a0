#include "remediator/policy/triage_rules.h"

#include <optional>

#include "core/http/syntax/plain_http.h"

namespace gpuward::remediator {
namespace {

constexpr YamlWord<BedrockFormat> kFormats[] = {{"anthropic", BedrockFormat::kAnthropic},
                                                {"nova", BedrockFormat::kNova}};
constexpr YamlWord<AdvisedSeverity> kAdvised[] = {{"monitor", AdvisedSeverity::kMonitor},
                                                  {"reset", AdvisedSeverity::kReset}};

void read_openai(const YamlMap& map, TriageRules& rules) {
  map.require("url", rules.url, "the base URL; `/chat/completions` is added to it");
  map.require("model", rules.model, "the name of the model on that server");
  if (!rules.url.empty() && !rules.url.starts_with("http://") &&
      !rules.url.starts_with("https://")) {
    map.reject("url", "must begin with http:// or https://");
  }
  // The URL is shown to people.
  if (http::has_user(rules.url))
    map.reject(
        "url",
        "must not contain a user name or a password: put the key into a file and set api_key_file");
  while (rules.url.ends_with('/')) rules.url.pop_back();
  map.read_absolute("api_key_file", rules.api_key_file,
                    "absolute path of the file with the API key");
  map.read("credentials_over_http", rules.credentials_over_http,
           "send the API key to another machine over plain HTTP too");
  const auto plain =
      rules.credentials_over_http ? http::PlainHttp::kAllowed : http::PlainHttp::kRefused;
  const auto checked = http::check_credentials_for(rules.url, plain, "credentials_over_http");
  if (!rules.api_key_file.empty() && !checked) map.reject("api_key_file", checked.error().message);
  map.read_absolute("ca_file", rules.ca_file,
                    "absolute path of a PEM file with the CA certificates to trust");
}

std::optional<BedrockFormat> format_of(const std::string& model) {
  if (model.contains("anthropic.")) return BedrockFormat::kAnthropic;
  if (model.contains("amazon.nova")) return BedrockFormat::kNova;
  return std::nullopt;
}

void read_bedrock(const YamlMap& map, TriageRules& rules) {
  map.require("model", rules.model, "the ID of the model");
  map.read("region", rules.region, "AWS region; default: found as the AWS CLI finds it");
  std::optional<BedrockFormat> format = format_of(rules.model);
  map.read_word("format", format, kFormats, "format of the requests; default: from the model's ID");
  if (!format)
    map.reject("format", "is required: the format cannot be derived from the model's ID");
  rules.format = format.value_or(BedrockFormat::kAnthropic);
}

void read_endpoint(const YamlMap& section, TriageRules& rules) {
  if (section.has("openai")) {
    rules.kind = "openai";
    read_openai(section.map("openai", "any server with `/chat/completions`"), rules);
  }
  if (!section.has("bedrock")) return;
  if (rules.is_on()) section.reject("bedrock", "set only one of openai and bedrock");
  rules.kind = "bedrock";
  read_bedrock(section.map("bedrock", "Amazon Bedrock, instead of `openai`"), rules);
}

}  // namespace

Severity to_severity(AdvisedSeverity advised) {
  return advised == AdvisedSeverity::kReset ? Severity::kReset : Severity::kMonitor;
}

TriageRules read_triage_rules(const YamlMap& section) {
  using std::chrono::seconds;
  TriageRules rules;
  read_endpoint(section, rules);
  section.read_word(
      "max_severity", rules.max_severity, kAdvised,
      "the highest severity that an answer can have; steps never go beyond the cordon");
  section.read("min_confidence", rules.min_confidence, 0, 1,
               "an answer with less confidence does not count");
  section.read("timeout", rules.timeout, seconds(1), seconds(60), "time limit of one question");
  section.read("per_hour", rules.per_hour, 1, 1'000, "maximum number of questions an hour");
  section.read("characters_per_day", rules.characters_per_day, 5'000, 100'000'000,
               "maximum number of characters a day; each request counts its question and the "
               "longest answer that it allows");
  section.read("line_characters", rules.line_characters, 50, 2'000,
               "maximum number of characters of a line that are sent");
  const bool has_limits = section.has("max_severity") || section.has("min_confidence") ||
                          section.has("timeout") || section.has("per_hour") ||
                          section.has("characters_per_day") || section.has("line_characters");
  if (has_limits && !rules.is_on())
    section.reject("openai", "set openai or bedrock: triage needs a model");
  return rules;
}

}  // namespace gpuward::remediator
