// Reads whole collections page by page. If a list token expires half-way (410), it lists again in
// one piece, so that the result is always one consistent list. Inside core/kube only.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/transport.h"

namespace gpuward::kube {

struct ListQuery {
  Result<std::string> collection;  // an error here is returned
  std::string label_selector, field_selector;
  int page_size = 100;  // 0: all in one page
  // If set, any list of this version or later will do: the server takes it from its cache.
  std::string not_older_than = {};
  Repeat repeat = Repeat::kAlways;
};

struct PageHandlers {
  std::function<void()> on_restart;  // discard the items so far
  std::function<Status(const Json& item)> on_item;
};

// Returns the list's resourceVersion.
[[nodiscard]] Result<std::string> list_pages(Transport& transport, const ListQuery& query,
                                             const PageHandlers& handlers);

// The same into a vector; returns the list's resourceVersion.
template <typename T>
[[nodiscard]] Result<std::string> list_into(std::vector<T>& values, Transport& transport,
                                            const ListQuery& query,
                                            Result<T> (*decode)(const Json&)) {
  PageHandlers handlers;
  handlers.on_restart = [&] { values.clear(); };
  handlers.on_item = [&](const Json& item) -> Status {
    auto value = decode(item);
    if (!value) return std::unexpected(std::move(value.error()));
    values.push_back(std::move(*value));
    return {};
  };
  return list_pages(transport, query, handlers);
}

template <typename T>
[[nodiscard]] Result<std::vector<T>> list_all(Transport& transport, const ListQuery& query,
                                              Result<T> (*decode)(const Json&)) {
  std::vector<T> values;
  const auto version = list_into(values, transport, query, decode);
  if (!version) return std::unexpected(version.error());
  return values;
}

}  // namespace gpuward::kube
