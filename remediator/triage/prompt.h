// What a language model is told and shown about a line. Instructions are ours and the same each
// time; the line and what is known are data, apart from them and inside of a JSON text, so that no
// mark in them can end it. Pure; used by triage/triage and the models.
#pragma once

#include <span>
#include <string>

namespace gpuward::remediator {

struct Prompt {
  std::string instructions;
  std::string data;  // JSON
};

// `question` is the line as question_of() made it; `known` are names of what fires on its node.
[[nodiscard]] Prompt prompt_of(const std::string& question, std::span<const std::string> known);

// The schema of the answer, as JSON Schema.
[[nodiscard]] std::string answer_schema();

// The longest answer that is asked for, in tokens of the model.
inline constexpr int kMostAnswerTokens = 200;

}  // namespace gpuward::remediator
