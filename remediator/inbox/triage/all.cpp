#include <array>
#include <string_view>

#include "remediator/inbox/triage/bedrock_model.h"
#include "remediator/inbox/triage/language_model.h"
#include "remediator/inbox/triage/openai_model.h"

namespace gpuward::remediator {
namespace {

struct ModelEntry {
  std::string_view kind;
  Result<std::unique_ptr<LanguageModel>> (*open)(const TriageRules& rules,
                                                 const ModelServices& services);
};

constinit const std::array<ModelEntry, 2> kModels = {{
    {"bedrock", open_bedrock_model},
    {"openai", open_openai_model},
}};

}  // namespace

Result<std::unique_ptr<LanguageModel>> open_model(const TriageRules& rules,
                                                  const ModelServices& services) {
  for (const ModelEntry& entry : kModels) {
    if (entry.kind != rules.kind) continue;
    auto model = entry.open(rules, services);
    if (!model) return with_context("triage." + rules.kind, model.error());
    return model;
  }
  return fail(ErrorKind::kInvalid, "triage: unknown kind of model");
}

}  // namespace gpuward::remediator
