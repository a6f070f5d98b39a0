#include "core/kube/parse.h"

#include <string>

#include "core/kube/decode.h"

namespace gpuward::kube {

Result<Node> parse_node(std::string_view json) {
  const auto object = parse_json(json);
  if (!object) return std::unexpected(object.error());
  return decode_node(*object);
}

Result<CustomObject> parse_custom(std::string_view json) {
  const auto object = parse_json(json);
  if (!object) return std::unexpected(object.error());
  return decode_custom(*object, std::string(json));
}

}  // namespace gpuward::kube
