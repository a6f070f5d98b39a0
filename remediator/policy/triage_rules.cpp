// The YAML of the rules. Without `openai` or `bedrock` nobody is asked; the rest are the defaults:
//
//   triage:
//     openai:                          # anything that has /chat/completions
//       url: http://vllm.ml:8000/v1
//       model: qwen3-8b
//       api_key_file: /etc/gpuward-triage/key
//       ca_file: /etc/gpuward-triage/ca.pem
//     bedrock:                         # instead of openai
//       model: anthropic.claude-3-haiku-20240307-v1:0
//       region: eu-west-1              # default: as AWS's own tools find it
//       format: anthropic              # anthropic | nova, where the model's id does not say so
//     max_severity: monitor            # reset: to the taint and the cordon, never beyond them
//     min_confidence: 0.8
//     timeout: 10s
//     per_hour: 30
//     characters_per_day: 200000
//     line_characters: 500
#include "remediator/policy/triage_rules.h"

#include <optional>

namespace gpuward::remediator {
namespace {

std::filesystem::path read_file_name(const YamlMap& map, std::string_view key) {
  std::string path;
  map.read(key, path);
  if (!path.empty() && path.front() != '/') map.reject(key, "must be an absolute path");
  return path;
}

bool has_user(std::string_view url) {
  const auto host = url.find("://");
  return host != std::string_view::npos &&
         url.substr(host + 3, url.find_first_of("/?#", host + 3) - host - 3).contains('@');
}

void read_openai(const YamlMap& map, TriageRules& rules) {
  map.require("model", rules.model);
  map.require("url", rules.url);
  if (!rules.url.empty() && !rules.url.starts_with("http://") &&
      !rules.url.starts_with("https://")) {
    map.reject("url", "must begin with http:// or https://");
  }
  // It is shown to people.
  if (has_user(rules.url))
    map.reject("url", "must have no user and no password: the key is named in api_key_file");
  while (rules.url.ends_with('/')) rules.url.pop_back();
  rules.api_key_file = read_file_name(map, "api_key_file");
  rules.ca_file = read_file_name(map, "ca_file");
}

std::optional<BedrockFormat> format_of(const std::string& model, const std::string& word) {
  if (word == "anthropic") return BedrockFormat::kAnthropic;
  if (word == "nova") return BedrockFormat::kNova;
  if (!word.empty()) return std::nullopt;
  if (model.contains("anthropic.")) return BedrockFormat::kAnthropic;
  if (model.contains("amazon.nova")) return BedrockFormat::kNova;
  return std::nullopt;
}

void read_bedrock(const YamlMap& map, TriageRules& rules) {
  map.require("model", rules.model);
  map.read("region", rules.region);
  std::string word;
  map.read("format", word);
  const auto format = format_of(rules.model, word);
  if (!format) map.reject("format", "must be anthropic or nova: the model's id does not say which");
  rules.format = format.value_or(BedrockFormat::kAnthropic);
}

void read_endpoint(const YamlMap& section, TriageRules& rules) {
  if (section.has("openai")) {
    rules.kind = "openai";
    read_openai(section.map("openai"), rules);
  }
  if (!section.has("bedrock")) return;
  if (rules.is_on()) section.reject("bedrock", "only one of openai and bedrock is asked");
  rules.kind = "bedrock";
  read_bedrock(section.map("bedrock"), rules);
}

void read_most(const YamlMap& section, TriageRules& rules) {
  std::string word = "monitor";
  section.read("max_severity", word);
  if (word == "reset") {
    rules.max_severity = AdvisedSeverity::kReset;
  } else if (word != "monitor") {
    section.reject("max_severity", "must be monitor or reset: no model decides on more than those");
  }
}

}  // namespace

Severity to_severity(AdvisedSeverity advised) {
  return advised == AdvisedSeverity::kReset ? Severity::kReset : Severity::kMonitor;
}

TriageRules read_triage_rules(const YamlMap& section) {
  using std::chrono::seconds;
  TriageRules rules;
  read_endpoint(section, rules);
  read_most(section, rules);
  section.read("min_confidence", rules.min_confidence, 0, 1);
  section.read("timeout", rules.timeout, seconds(1), seconds(60));
  section.read("per_hour", rules.per_hour, 1, 1'000);
  section.read("characters_per_day", rules.characters_per_day, 5'000, 100'000'000);
  section.read("line_characters", rules.line_characters, 50, 2'000);
  const bool has_limits = section.has("max_severity") || section.has("min_confidence") ||
                          section.has("timeout") || section.has("per_hour") ||
                          section.has("characters_per_day") || section.has("line_characters");
  if (has_limits && !rules.is_on())
    section.reject("openai", "is required, or bedrock: nobody is asked without one");
  return rules;
}

}  // namespace gpuward::remediator
