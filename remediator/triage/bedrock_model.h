// The model `bedrock`: InvokeModel of Amazon Bedrock, signed as every request to AWS is, for models
// of Anthropic and Amazon's Nova. Needs the right bedrock:InvokeModel.
#pragma once

#include <memory>

#include "remediator/triage/language_model.h"

namespace gpuward::remediator {

[[nodiscard]] Result<std::unique_ptr<LanguageModel>> open_bedrock_model(
    const TriageRules& rules, const ModelServices& services);

}  // namespace gpuward::remediator
