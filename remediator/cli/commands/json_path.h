// The path of a field in kubectl's form for --sort-by: `.metadata.name`, `{.spec.nodeName}`,
// `status.steps[0].step`. Pure; used by `gpuwardctl list`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/json_fwd.h"

namespace gpuward::remediator {

class JsonPath {
 public:
  // A dot in a name is written `\.`. kInvalid for filters, wildcards and ranges, which are not
  // supported.
  [[nodiscard]] static Result<JsonPath> parse(std::string_view text);
  // Returns null if the object has no such field. The object must outlive it.
  [[nodiscard]] const Json& in(const Json& object) const;

 private:
  std::vector<std::string> keys_;  // for a list, a number
};

// Sorts like kubectl: null first, numbers by value, and texts so that gpu-2 comes before gpu-10.
[[nodiscard]] bool is_less(const Json& left, const Json& right);

}  // namespace gpuward::remediator
