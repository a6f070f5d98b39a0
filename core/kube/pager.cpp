#include "core/kube/pager.h"

#include "core/kube/names.h"

namespace gpuward::kube {
namespace {

// A whole list in one response can be large: 5,000 nodes are about 100 MB.
constexpr std::size_t kLargestList = 512U << 20U;

std::string target_of(const ListQuery& query, const std::string& token, bool in_pages) {
  std::string target = *query.collection;
  char separator = '?';
  const auto add = [&](std::string_view key, std::string_view value) {
    if (value.empty()) return;
    target += separator + std::string(key) + "=" + percent_encode(value);
    separator = '&';
  };
  add("labelSelector", query.label_selector);
  add("fieldSelector", query.field_selector);
  if (in_pages) add("limit", std::to_string(query.page_size));
  add("continue", token);
  add("resourceVersion", query.not_older_than);
  if (!query.not_older_than.empty()) add("resourceVersionMatch", "NotOlderThan");
  return target;
}

Status hand_out(const Json& page, const PageHandlers& handlers) {
  const Json& items = member_at(page, "items");
  if (!items.is_array() && !items.is_null())
    return fail(ErrorKind::kInternal, "items of the list is not an array");
  for (const Json& item : items) {
    if (auto taken = handlers.on_item(item); !taken) return taken;
  }
  return {};
}

}  // namespace

Result<std::string> list_pages(Transport& transport, const ListQuery& query,
                               const PageHandlers& handlers) {
  if (!query.collection) return query.collection;
  std::string token;
  bool in_pages = query.page_size > 0;
  while (true) {
    const auto page = transport.send({.target = target_of(query, token, in_pages),
                                      .repeat = query.repeat,
                                      .max_response_bytes = kLargestList});
    if (!page && page.error().kind == ErrorKind::kGone && !token.empty()) {
      token.clear();
      in_pages = false;
      handlers.on_restart();
      continue;
    }
    if (!page) return std::unexpected(page.error());
    if (auto taken = hand_out(page->json, handlers); !taken) return std::unexpected(taken.error());
    const Json& meta = member_at(page->json, "metadata");
    token = string_at(meta, "continue");
    if (token.empty()) return string_at(meta, "resourceVersion");
  }
}

}  // namespace gpuward::kube
