// A language model that can be asked: the seam between triage/triage, which asks and judges, and
// the one file of each way to reach one. A new way is one file and one line in triage/all.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/policy/triage_rules.h"
#include "remediator/triage/prompt.h"

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
  // One thread. The text that it answers with, which may be anything; empty where it answered in
  // another way than it was asked to. No error holds a key or a part of the answer's text.
  [[nodiscard]] virtual Result<std::string> ask(const Prompt& prompt,
                                                const std::stop_token& stop) = 0;
};

// The error of a file that cannot be read; kInvalid where the kind is not in the table.
[[nodiscard]] Result<std::unique_ptr<LanguageModel>> open_model(const TriageRules& rules,
                                                                const ModelServices& services);

}  // namespace gpuward::remediator
