// Which language model gets the lines that the catalogue does not know, how often, and the limits
// of its answer. Pure values; read from YAML by read_triage_rules(), used by triage/triage.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

// The severities that a model may report. Reset is the worst, so that no answer and no setting can
// request more. A model's answer is foreign evidence, which leads no further than the cordon.
enum class AdvisedSeverity : std::uint8_t { kMonitor, kReset };
[[nodiscard]] Severity to_severity(AdvisedSeverity advised);

// The request format of a Bedrock model; each has its own place for the instructions.
enum class BedrockFormat : std::uint8_t { kAnthropic, kNova };

struct TriageRules {
  std::string kind;   // of the table in triage/all.cpp: bedrock, openai; empty: off
  std::string model;  // its name at the provider
  // For openai.
  std::string url;                              // the base: `https://api.example.com/v1`
  std::filesystem::path api_key_file, ca_file;  // may be empty
  bool credentials_over_http = false;           // the key may be sent to http:// (plain_http.h)
  // For bedrock.
  std::string region;  // empty: found as AWS's own tools do
  BedrockFormat format = BedrockFormat::kAnthropic;

  AdvisedSeverity max_severity = AdvisedSeverity::kMonitor;
  double min_confidence = 0.8;                // a less confident answer is ignored
  std::chrono::milliseconds timeout{10'000};  // of one question
  std::int64_t per_hour = 30;                 // questions
  std::int64_t characters_per_day = 200'000;  // of questions, and of answers at their longest
  std::int64_t line_characters = 500;         // of one line

  [[nodiscard]] bool is_on() const { return !kind.empty(); }
  friend bool operator==(const TriageRules&, const TriageRules&) = default;
};

// Reads the section `triage`; docs/configuration.md has its keys. Faults are reported to the file.
[[nodiscard]] TriageRules read_triage_rules(const YamlMap& section);

}  // namespace gpuward::remediator
