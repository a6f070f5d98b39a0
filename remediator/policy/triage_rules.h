// The language model for lines that the catalogue does not know, the limits for questions, and the
// limits of its answers. Pure values; read from YAML by read_triage_rules(), used by
// inbox/triage/triage.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

// The severities that a model may report. Reset is the worst, so that no answer and no setting can
// request more. A model's answer is foreign evidence, which justifies at most the cordon.
enum class AdvisedSeverity : std::uint8_t { kMonitor, kReset };
[[nodiscard]] Severity to_severity(AdvisedSeverity advised);

// The request format of a Bedrock model; each has its own place for the instructions.
enum class BedrockFormat : std::uint8_t { kAnthropic, kNova };

struct TriageRules {
  std::string kind;   // A kind in the table of inbox/triage/all.cpp: bedrock, openai; empty: off.
  std::string model;  // Name of the model at the provider.
  // For openai.
  std::string url;                              // Base URL: `https://api.example.com/v1`.
  std::filesystem::path api_key_file, ca_file;  // Files; may be empty.
  // True: the key may be sent over http:// (plain_http.h).
  bool credentials_over_http = false;
  // For bedrock.
  std::string region;  // Empty: found as AWS's own tools find it.
  BedrockFormat format = BedrockFormat::kAnthropic;

  AdvisedSeverity max_severity = AdvisedSeverity::kMonitor;
  double min_confidence = 0.8;                // Answers with less confidence are ignored.
  std::chrono::milliseconds timeout{10'000};  // Limit for one question.
  std::int64_t per_hour = 30;                 // Limit for questions.
  // Limit for questions plus the longest possible answers.
  std::int64_t characters_per_day = 200'000;
  std::int64_t line_characters = 500;  // Limit for one line.

  [[nodiscard]] bool is_on() const { return !kind.empty(); }
  friend bool operator==(const TriageRules&, const TriageRules&) = default;
};

// Reads the section `triage`; docs/configuration.md has its keys. Faults are reported to the file.
[[nodiscard]] TriageRules read_triage_rules(const YamlMap& section);

}  // namespace gpuward::remediator
