#include "core/kube/api.h"

#include <utility>

#include "core/kube/impl.h"
#include "core/kube/pager.h"

namespace gpuward::kube {

Api::Api(ApiOptions options, http::Client& http, Credentials& credentials, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), http, credentials, clock)) {}

Api::~Api() = default;

Result<Api::Listing> Api::list(std::string_view collection, std::string_view label_selector) {
  const ListQuery query{
      std::string(collection), std::string(label_selector), {}, impl_->options.page_size};
  Listing listing;
  PageHandlers handlers;
  handlers.on_restart = [&] { listing.items.clear(); };
  handlers.on_item = [&](const Json& item) -> Status {
    listing.items.push_back(dump_json(item));
    return {};
  };
  auto version = list_pages(impl_->transport, query, handlers);
  if (!version) return std::unexpected(std::move(version.error()));
  listing.resource_version = std::move(*version);
  return listing;
}

Status Api::ready() {
  Call call;
  call.target = "/readyz";
  call.answers = Answers::kText;
  const auto answer = impl_->transport.send(call);
  if (!answer) return std::unexpected(answer.error());
  return {};
}

}  // namespace gpuward::kube
