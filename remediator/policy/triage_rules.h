// Which language model is asked about lines that the catalogue does not know, how often, and how
// far its answer may go. Pure values; read from YAML by read_triage_rules(), used by triage/triage.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "core/model/severity.h"
#include "core/runtime/yaml.h"

namespace gpuward::remediator {

// What the answer of a model may amount to. There is no word for anything worse, so that no answer
// and no setting can ask for more; and as foreign evidence even this much ends at the cordon.
enum class AdvisedSeverity : std::uint8_t { kMonitor, kReset };
[[nodiscard]] Severity to_severity(AdvisedSeverity advised);

// How a model of Bedrock wants to be asked; each has a place of its own for the instructions.
enum class BedrockFormat : std::uint8_t { kAnthropic, kNova };

struct TriageRules {
  std::string kind;   // of the table in triage/all.cpp: bedrock, openai; empty: nobody is asked
  std::string model;  // its name there
  // Of openai.
  std::string url;                              // the base: `https://api.example.com/v1`
  std::filesystem::path api_key_file, ca_file;  // may be empty
  bool credentials_over_http = false;           // the key may go to http:// (plain_http.h)
  // Of bedrock.
  std::string region;  // empty: as AWS's own tools find it
  BedrockFormat format = BedrockFormat::kAnthropic;

  AdvisedSeverity max_severity = AdvisedSeverity::kMonitor;
  double min_confidence = 0.8;                // an answer that is less sure is none
  std::chrono::milliseconds timeout{10'000};  // of one question
  std::int64_t per_hour = 30;                 // questions
  std::int64_t characters_per_day = 200'000;  // of questions, and of answers at their longest
  std::int64_t line_characters = 500;         // of one line

  [[nodiscard]] bool is_on() const { return !kind.empty(); }
  friend bool operator==(const TriageRules&, const TriageRules&) = default;
};

// The section `triage`; docs/configuration.md has its keys. Faults are reported to the file.
[[nodiscard]] TriageRules read_triage_rules(const YamlMap& section);

}  // namespace gpuward::remediator
