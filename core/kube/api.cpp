#include "core/kube/api.h"

#include <utility>

#include "core/kube/impl.h"
#include "core/kube/pager.h"
#include "core/runtime/json.h"

namespace gpuward::kube {

Api::Api(ApiOptions options, http::Client& http, Credentials& credentials, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), http, credentials, clock)) {}

Api::~Api() = default;

Result<std::string> Api::visit(std::string_view collection, std::string_view label_selector,
                               const Visitor& visitor) {
  const ListQuery query{
      std::string(collection), std::string(label_selector), {}, impl_->options.page_size};
  PageHandlers handlers;
  handlers.on_restart = [&] {
    if (visitor.on_restart) visitor.on_restart();
  };
  handlers.on_item = [&](const Json& item) -> Status {
    if (visitor.on_object) visitor.on_object(item);
    return {};
  };
  return list_pages(impl_->transport, query, handlers);
}

Result<std::string> Api::version_of(std::string_view collection) {
  const auto page = impl_->transport.send({.target = std::string(collection) + "?limit=1"});
  if (!page) return std::unexpected(page.error());
  return string_at(member_at(page->json, "metadata"), "resourceVersion");
}

Status Api::answers() {
  const auto answer =
      impl_->transport.send({.target = "/version", .answers = Answers::kKubernetes});
  if (!answer) return std::unexpected(answer.error());
  if (!string_at(answer->json, "gitVersion").empty()) return {};
  return fail(ErrorKind::kInternal, "GET /version: the response contains no Kubernetes version");
}

Status Api::ready() {
  return impl_->transport.send_only({.target = "/readyz", .answers = Answers::kText});
}

}  // namespace gpuward::kube
