#include "remediator/inbox/triage/advice.h"

#include <algorithm>
#include <array>

#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr auto kNothing = std::nullopt;
constexpr std::optional kWatch = AdvisedSeverity::kMonitor;
constexpr std::optional kAct = AdvisedSeverity::kReset;

constexpr std::array<AdvisedClass, 11> kClasses{{{"HEALTHY", kNothing},
                                                 {"GPU_HEALTH_WARNING", kWatch},
                                                 {"GPU_HEALTH_ERROR", kAct},
                                                 {"ECC_ERROR", kAct},
                                                 {"XID_ERROR", kWatch},
                                                 {"XID_WARNING_31", kWatch},
                                                 {"XID_WARNING_43", kWatch},
                                                 {"XID_WARNING_62", kWatch},
                                                 {"XID_CRITICAL_74", kAct},
                                                 {"XID_CRITICAL_79", kAct},
                                                 {"XID_CRITICAL_999", kAct}}};
constexpr JsonLimits kSmall{.max_bytes = kLongestAdvice, .max_depth = 2, .max_values = 8};

std::unexpected<Error> no_advice(const std::string& why) {
  return fail(ErrorKind::kInvalid, "the model's answer is invalid: " + why);
}

}  // namespace

std::span<const AdvisedClass> advised_classes() { return kClasses; }

Result<Advice> read_advice(std::string_view answer) {
  const auto json = parse_json(trim(answer), kSmall);
  if (!json) return no_advice(json.error().message);
  if (!json->is_object() || json->size() != 3)
    return no_advice("expected an object with class, confidence and reason");
  const Json& name = member_at(*json, "class");
  const Json& confidence = member_at(*json, "confidence");
  const Json& reason = member_at(*json, "reason");
  if (!name.is_string() || !confidence.is_number() || !reason.is_string())
    return no_advice("expected class and reason as strings and confidence as a number");
  const auto known =
      std::ranges::find(kClasses, name.get_ref<const std::string&>(), &AdvisedClass::name);
  if (known == kClasses.end()) return no_advice("the class is not on the list");
  Advice advice{.what = *known, .confidence = confidence.get<double>(), .reason = {}};
  if (advice.confidence < 0 || advice.confidence > 1)
    return no_advice("the confidence is not between 0 and 1");
  const auto& words = reason.get_ref<const std::string&>();
  if (words.size() > kLongestReason) return no_advice("the reason is too long");
  advice.reason = to_valid_utf8(words, kLongestReason);
  return advice;
}

}  // namespace gpuward::remediator
