#include "core/kube/parse.h"

#include "core/kube/decode.h"

namespace gpuward::kube {

Result<ObjectMeta> read_meta(const Json& object) { return decode_meta(object); }
Result<Node> read_node(const Json& object) { return decode_node(object); }

Result<Node> parse_node(std::string_view json) {
  const auto object = parse_json(json);
  if (!object) return std::unexpected(object.error());
  return decode_node(*object);
}

}  // namespace gpuward::kube
