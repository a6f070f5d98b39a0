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
  // A dot in a name is written `\.`. kInvalid: filters, wildcards and ranges are not known.
  [[nodiscard]] static Result<JsonPath> parse(std::string_view text);
  // Null where the object has no such field. The object must outlive it.
  [[nodiscard]] const Json& in(const Json& object) const;

 private:
  std::vector<std::string> keys_;  // of lists a number
};

// As kubectl sorts: null first, numbers by their value, and texts so that gpu-2 is before gpu-10.
[[nodiscard]] bool is_less(const Json& left, const Json& right);

}  // namespace gpuward::remediator
