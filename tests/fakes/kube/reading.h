// Lists in pages and watches from a revision.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "core/http/server/server.h"
#include "core/http/syntax/url.h"
#include "core/runtime/json.h"
#include "tests/fakes/kube/failure.h"
#include "tests/fakes/kube/selectors.h"
#include "tests/fakes/kube/target.h"
#include "tests/fakes/kube/world.h"

namespace gpuward::fakes {

// Combines `labelSelector`, `fieldSelector` and the name in the path.
[[nodiscard]] Outcome<Selector> selector_of(const Target& target, const http::Query& query);

[[nodiscard]] Outcome<Json> list_objects(const World& world, const Target& target,
                                         const http::Query& query);

struct WatchPlan {
  Target target;
  Selector selector;
  Revision since = 0;
  bool sends_present = false;  // first sends the present objects, as ADDED
  bool ends_present = false;   // then a BOOKMARK says that these were all
  bool bookmarks = false;
  std::chrono::seconds timeout{0};  // zero: until the client disconnects
  std::chrono::milliseconds bookmark_interval{0};
  // Renders an object: as itself, or as a Table with one row.
  std::function<Json(const Json&)> render;
};

// 400 for a bad revision or selector.
[[nodiscard]] Outcome<WatchPlan> plan_watch(const Target& target, const http::Query& query);

// Writes events until the client disconnects, the time is up, the server stops or the history is
// forgotten (then the last event is an ERROR with code 410).
void run_watch(const World& world, const WatchPlan& plan, http::BodyWriter& writer);

// An ERROR event as the real server writes it.
[[nodiscard]] std::string error_event(const Failure& failure);

}  // namespace gpuward::fakes
