// The model `bedrock`: InvokeModel of Amazon Bedrock, signed like every request to AWS, for models
// of Anthropic and Amazon's Nova. Needs the permission bedrock:InvokeModel.
#pragma once

#include <memory>

#include "remediator/inbox/triage/language_model.h"

namespace gpuward::remediator {

[[nodiscard]] Result<std::unique_ptr<LanguageModel>> open_bedrock_model(
    const TriageRules& rules, const ModelServices& services);

}  // namespace gpuward::remediator
