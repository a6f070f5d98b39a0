#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

Result<CustomObject> decode_item(const Json& item) { return decode_custom(item); }

}  // namespace

Result<CustomObject> Api::get_custom(const ResourceType& type, std::string_view name) {
  return impl_->transport.send({.target = custom_path(type, name)}, decode_custom);
}

Result<std::vector<CustomObject>> Api::list_custom(const ResourceType& type,
                                                   std::string_view label_selector) {
  const ListQuery query{
      custom_collection(type), std::string(label_selector), {}, impl_->options.page_size};
  return list_all<CustomObject>(impl_->transport, query, decode_item);
}

Result<CustomObject> Api::create_custom(const ResourceType& type, std::string_view json) {
  return impl_->transport.send(
      {.method = "POST", .target = custom_collection(type), .body = std::string(json)},
      decode_custom);
}

Status Api::create_custom_once(const ResourceType& type, std::string_view json,
                               const Permit& permit) {
  return impl_->transport.send_only({.method = "POST",
                                     .target = custom_collection(type),
                                     .body = std::string(json),
                                     .repeat = Repeat::kIfNotTaken,
                                     .permit = permit});
}

Status Api::try_create_custom(const ResourceType& type, std::string_view json) {
  auto target = custom_collection(type);
  if (target) *target += "?dryRun=All";
  return impl_->transport.send_only(
      {.method = "POST", .target = std::move(target), .body = std::string(json)});
}

Result<CustomObject> Api::patch_custom(const ResourceType& type, std::string_view name,
                                       std::string_view json, const Permit& permit) {
  return impl_->transport.send({.method = "PATCH",
                                .target = custom_path(type, name),
                                .body = std::string(json),
                                .content_type = kMergePatch,
                                .permit = permit},
                               decode_custom);
}

Result<ObjectMeta> Api::update_custom_status(const ResourceType& type, std::string_view name,
                                             std::string_view json) {
  // Requests the metadata only: the caller already has the rest of that version.
  return impl_->transport.send({.method = "PUT",
                                .target = below(custom_path(type, name), "status"),
                                .body = std::string(json),
                                .accepts = kMetadataAlone},
                               decode_meta);
}

Status Api::delete_custom(const ResourceType& type, std::string_view name,
                          std::string_view uid_precondition, const Permit& permit) {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!uid_precondition.empty())
    options["preconditions"] = {{"uid", std::string(uid_precondition)}};
  return impl_->transport.send_only(
      {.method = "DELETE",
       .target = custom_path(type, name),
       .body = dump_json(options),
       .repeat = uid_precondition.empty() ? Repeat::kIfNotTaken : Repeat::kAlways,
       .permit = permit});
}

}  // namespace gpuward::kube
