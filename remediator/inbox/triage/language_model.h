// A language model: the seam between inbox/triage/triage, which asks and judges, and the files that
// reach a model, one each. A new kind is one file and one line in inbox/triage/all.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/inbox/triage/prompt.h"
#include "remediator/policy/triage_rules.h"

namespace gpuward::aws {
class AwsClient;
}

namespace gpuward::remediator {

// What models share; must outlive them.
struct ModelServices {
  aws::AwsClient& aws;
  Clock& clock;
};

inline constexpr std::size_t kLargestModelAnswer = 64U << 10U;

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;
  // One thread. Returns the text of the answer, which may be anything; empty if the answer did not
  // have the requested form. Errors contain neither a key nor a part of the answer's text.
  [[nodiscard]] virtual Result<std::string> ask(const Prompt& prompt,
                                                const std::stop_token& stop) = 0;
};

// Fails if a file cannot be read; kInvalid if the kind is not in the table.
[[nodiscard]] Result<std::unique_ptr<LanguageModel>> open_model(const TriageRules& rules,
                                                                const ModelServices& services);

}  // namespace gpuward::remediator
