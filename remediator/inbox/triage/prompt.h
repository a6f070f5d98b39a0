// The prompt about a line. The instructions are gpuward's and always the same; the line and the
// known names are data, separate from them and inside a JSON text, so that no character in them can
// end it. Pure; used by inbox/triage/triage and the models.
#pragma once

#include <span>
#include <string>

namespace gpuward::remediator {

struct Prompt {
  std::string instructions;
  std::string data;  // JSON
};

// `question` is the line from question_of(); `known` are the names of firing alerts of its node.
[[nodiscard]] Prompt prompt_of(const std::string& question, std::span<const std::string> known);

// The schema of the answer, as JSON Schema.
[[nodiscard]] std::string answer_schema();

// The longest answer, in tokens of the model.
inline constexpr int kMostAnswerTokens = 200;

}  // namespace gpuward::remediator
