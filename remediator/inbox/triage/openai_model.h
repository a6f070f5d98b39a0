// The model `openai`: any server that has OpenAI's /chat/completions, in the cluster or outside.
// One question is one POST; a key, if there is one, comes from a file.
#pragma once

#include <memory>

#include "remediator/inbox/triage/language_model.h"

namespace gpuward::remediator {

[[nodiscard]] Result<std::unique_ptr<LanguageModel>> open_openai_model(
    const TriageRules& rules, const ModelServices& services);

}  // namespace gpuward::remediator
