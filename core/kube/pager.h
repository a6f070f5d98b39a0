// Whole collections, page by page: a list token that has expired half-way (410) starts the list
// again in one piece, so that the answer is always one consistent list. Inside core/kube only.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/kube/transport.h"

namespace gpuward::kube {

struct ListQuery {
  Result<std::string> collection;  // an error is the answer
  std::string label_selector, field_selector;
  int page_size = 100;  // 0: in one piece
  // Where set, any list that is no older is good enough: the server takes it out of its cache.
  std::string not_older_than = {};
  Repeat repeat = Repeat::kAlways;
};

struct PageHandlers {
  std::function<void()> on_restart;  // what came so far does not count
  std::function<Status(const Json& item)> on_item;
};

// The list's resourceVersion.
[[nodiscard]] Result<std::string> list_pages(Transport& transport, const ListQuery& query,
                                             const PageHandlers& handlers);

// The same into a vector; the list's resourceVersion.
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
