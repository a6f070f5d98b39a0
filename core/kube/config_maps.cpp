#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/paths.h"

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

Result<ConfigMap> send_config_map(Transport& transport, const Call& call) {
  const auto answer = transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return decode_config_map(answer->json);
}

}  // namespace

// No resourceVersion in the query: with "0" the server may answer from a cache that lags behind.
Result<ConfigMap> Api::get_config_map(std::string_view ns, std::string_view name) {
  auto path = config_map_path(ns, name);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.target = std::move(*path);
  return send_config_map(impl_->transport, call);
}

Result<ConfigMap> Api::create_config_map(const ConfigMap& config_map) {
  auto path = config_map_collection(config_map.meta.ns);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.method = "POST";
  call.target = std::move(*path);
  call.body = config_map_body(config_map);
  return send_config_map(impl_->transport, call);
}

Result<ConfigMap> Api::update_config_map(const ConfigMap& config_map) {
  auto path = config_map_path(config_map.meta.ns, config_map.meta.name);
  if (!path) return std::unexpected(std::move(path.error()));
  if (config_map.meta.resource_version.empty()) {
    return fail(ErrorKind::kInvalid, "configmap " + config_map.meta.name +
                                         " cannot be updated without its resourceVersion");
  }
  Call call;
  call.method = "PUT";
  call.target = std::move(*path);
  call.body = config_map_body(config_map);
  call.accepts = kMetadataAlone;  // what it holds is known here, and may be long
  auto written = send_config_map(impl_->transport, call);
  if (written) written->data = config_map.data;
  return written;
}

}  // namespace gpuward::kube
