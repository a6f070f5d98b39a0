#include "remediator/act/actions/pair_record.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "remediator/model/text_map.h"

namespace gpuward::remediator {
namespace {

constexpr std::array<std::string_view, 4> kPairResults = {"running", "passed", "failed", "untold"};
constexpr std::array<std::string_view, 3> kPairFindings = {"good", "bad", "untold"};

Json encode_test(const PairTest& test) {
  Json json = {{"first", test.first},
               {"second", test.second},
               {"result", to_string(test.result)},
               {"since", to_rfc3339_ms(test.since)}};
  if (!test.token.empty()) json["token"] = test.token;
  if (test.is_made) json["made"] = "yes";
  if (!test.words.empty()) json["words"] = test.words;
  return json;
}

std::optional<PairTest> decode_test(const Json& json) {
  const auto result = enumerator_of<PairResult>(kPairResults, string_at(json, "result"));
  const auto since = parse_rfc3339(string_at(json, "since"));
  PairTest test{.first = string_at(json, "first"),
                .second = string_at(json, "second"),
                .result = result.value_or(PairResult::kUnknown),
                .since = since.value_or(WallTime()),
                .token = string_at(json, "token"),
                .is_made = string_at(json, "made") == "yes",
                .words = string_at(json, "words")};
  if (!result || !since || test.first.empty() || test.second.empty()) return std::nullopt;
  return test;
}

}  // namespace

std::string to_string(PairResult result) {
  return std::string(kPairResults[static_cast<std::size_t>(result)]);
}

std::string pair_tests_text(const std::vector<PairTest>& tests) {
  Json list = Json::array();
  for (const PairTest& test : tests) list.push_back(encode_test(test));
  return dump_json(list);
}

std::vector<PairTest> parse_pair_tests(std::string_view text) {
  std::vector<PairTest> tests;
  const auto list = parse_json(text);
  if (!list || !list->is_array()) return tests;
  for (const Json& one : *list) {
    if (auto test = decode_test(one)) tests.push_back(std::move(*test));
  }
  return tests;
}

std::string pair_findings_text(const PairFindings& verdicts) {
  std::string text;
  for (const auto& [node, verdict] : verdicts) {
    if (!text.empty()) text += ' ';
    text += node + "=" + std::string(kPairFindings[static_cast<std::size_t>(verdict)]);
  }
  return text;
}

PairFindings parse_pair_findings(std::string_view text) {
  PairFindings verdicts;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    if (const auto verdict = enumerator_of<PairFinding>(kPairFindings, word.substr(equals + 1)))
      verdicts[std::string(word.substr(0, equals))] = *verdict;
  }
  return verdicts;
}

std::vector<PairTest> pair_tests_in(const Facts& facts) {
  return parse_pair_tests(value_at(facts, kPairTestsFact));
}

PairFindings pair_findings_in(const Facts& facts) {
  return parse_pair_findings(value_at(facts, kPairFindingsFact));
}

}  // namespace gpuward::remediator
