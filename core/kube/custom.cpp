#include <string>
#include <utility>

#include "core/kube/api.h"
#include "core/kube/decode.h"
#include "core/kube/impl.h"
#include "core/kube/pager.h"
#include "core/kube/paths.h"

namespace gpuward::kube {
namespace {

Result<CustomObject> send(Transport& transport, const Call& call) {
  auto answer = transport.send(call);
  if (!answer) return std::unexpected(std::move(answer.error()));
  return decode_custom(std::move(answer->json));
}

Result<CustomObject> decode_item(const Json& item) { return decode_custom(item); }

Result<CustomObject> patch(Transport& transport, std::string target, std::string_view json) {
  Call call;
  call.method = "PATCH";
  call.target = std::move(target);
  call.body = json;
  call.content_type = kMergePatch;
  return send(transport, call);
}

}  // namespace

Result<CustomObject> Api::get_custom(const ResourceType& type, std::string_view name) {
  auto path = custom_path(type, name);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.target = std::move(*path);
  return send(impl_->transport, call);
}

Result<std::vector<CustomObject>> Api::list_custom(const ResourceType& type,
                                                   std::string_view label_selector) {
  const auto path = custom_collection(type);
  if (!path) return std::unexpected(path.error());
  const ListQuery query{*path, std::string(label_selector), {}, impl_->options.page_size};
  return list_all<CustomObject>(impl_->transport, query, decode_item);
}

Result<CustomObject> Api::create_custom(const ResourceType& type, std::string_view json) {
  auto path = custom_collection(type);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.method = "POST";
  call.target = std::move(*path);
  call.body = json;
  return send(impl_->transport, call);
}

Status Api::try_create_custom(const ResourceType& type, std::string_view json) {
  auto path = custom_collection(type);
  if (!path) return std::unexpected(std::move(path.error()));
  Call call;
  call.method = "POST";
  call.target = std::move(*path) + "?dryRun=All";
  call.body = json;
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

Result<CustomObject> Api::patch_custom(const ResourceType& type, std::string_view name,
                                       std::string_view json) {
  auto path = custom_path(type, name);
  if (!path) return std::unexpected(std::move(path.error()));
  return patch(impl_->transport, std::move(*path), json);
}

Result<ObjectMeta> Api::update_custom_status(const ResourceType& type, std::string_view name,
                                             std::string_view json) {
  const auto path = custom_path(type, name);
  if (!path) return std::unexpected(path.error());
  Call call;
  call.method = "PUT";
  call.target = *path + "/status";
  call.body = json;
  call.accepts = kMetadataAlone;  // the rest is what was read under that version
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return decode_meta(answer->json);
}

Status Api::delete_custom(const ResourceType& type, std::string_view name,
                          std::string_view uid_precondition, const Permit& permit) {
  auto path = custom_path(type, name);
  if (!path) return std::unexpected(std::move(path.error()));
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!uid_precondition.empty())
    options["preconditions"] = {{"uid", std::string(uid_precondition)}};
  Call call;
  call.method = "DELETE";
  call.target = std::move(*path);
  call.body = dump_json(options);
  call.repeat = uid_precondition.empty() ? Repeat::kIfNotTaken : Repeat::kAlways;
  call.permit = permit;
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

}  // namespace gpuward::kube
