// labelSelector and fieldSelector of lists and watches, and the label selectors of
// PodDisruptionBudgets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/resource.h"

namespace gpuward::fakes {

// One requirement: a key, and the values that the label must (or must not) have.
struct Requirement {
  enum class Kind { kIn, kNotIn, kExists, kAbsent };
  Kind kind = Kind::kIn;
  std::string key;
  std::vector<std::string> values;
};

class Selector {
 public:
  // All of these must match; without any, every object is selected.
  explicit Selector(std::vector<Requirement> labels = {}, std::vector<Requirement> fields = {});
  [[nodiscard]] bool selects(const Json& object) const;
  [[nodiscard]] bool empty() const { return labels_.empty() && fields_.empty(); }

 private:
  std::vector<Requirement> labels_, fields_;
};

// 400 for text that does not parse, and for fields that the kind cannot be selected by.
[[nodiscard]] Outcome<std::vector<Requirement>> parse_label_selector(std::string_view text);
[[nodiscard]] Outcome<std::vector<Requirement>> parse_field_selector(std::string_view text,
                                                                     const Resource& resource);

// A metav1.LabelSelector as in spec.selector; null selects nothing, {} everything.
[[nodiscard]] bool matches_label_selector(const Json& selector, const Json& labels);

}  // namespace gpuward::fakes
