#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/paths.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

std::string config_map_body(const ConfigMap& config_map) {
  const ObjectMeta& from = config_map.meta;
  Json meta = {{"name", from.name}, {"namespace", from.ns}};
  if (!from.resource_version.empty()) meta["resourceVersion"] = from.resource_version;
  if (!from.uid.empty()) meta["uid"] = from.uid;
  if (!from.labels.empty()) meta["labels"] = from.labels;
  if (!from.annotations.empty()) meta["annotations"] = from.annotations;
  return dump_json({{"apiVersion", "v1"},
                    {"kind", "ConfigMap"},
                    {"metadata", std::move(meta)},
                    {"data", config_map.data}});
}

}  // namespace

// No resourceVersion in the query: with "0" the server may answer from a cache that lags behind.
Result<ConfigMap> Api::get_config_map(std::string_view ns, std::string_view name) {
  return impl_->transport.send({.target = config_map_path(ns, name)}, decode_config_map);
}

Result<ConfigMap> Api::create_config_map(const ConfigMap& config_map) {
  return impl_->transport.send({.method = "POST",
                                .target = config_map_collection(config_map.meta.ns),
                                .body = config_map_body(config_map)},
                               decode_config_map);
}

Result<ConfigMap> Api::update_config_map(const ConfigMap& config_map) {
  if (config_map.meta.resource_version.empty()) {
    return fail(ErrorKind::kInvalid, "configmap " + config_map.meta.name +
                                         " cannot be updated without its resourceVersion");
  }
  // Requests the metadata only: the data is known here and may be long.
  auto written =
      impl_->transport.send({.method = "PUT",
                             .target = config_map_path(config_map.meta.ns, config_map.meta.name),
                             .body = config_map_body(config_map),
                             .accepts = kMetadataAlone},
                            decode_config_map);
  if (written) written->data = config_map.data;
  return written;
}

}  // namespace gpuward::kube
