#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/text.h"
#include "tests/fakes/kube/reading.h"

namespace gpuward::fakes {
namespace {

using http::query_value;

// The longest time until it notices a stop or a disconnected client.
constexpr std::chrono::milliseconds kProbeInterval{50};

std::string event_line(std::string_view type, const Json& object) {
  return "{\"type\":\"" + std::string(type) + "\",\"object\":" + dump_json(object) + "}\n";
}

Json bookmark_object(const Resource& resource, Revision revision) {
  return {{"kind", resource.kind},
          {"apiVersion", resource.api_version()},
          {"metadata",
           {{"resourceVersion", std::to_string(revision)}, {"creationTimestamp", nullptr}}}};
}

std::string bookmark(const Resource& resource, Revision revision) {
  return event_line("BOOKMARK", bookmark_object(resource, revision));
}

// Ends the objects of a watch with sendInitialEvents; kubectl lists with such a watch before it
// waits.
std::string end_of_present(const Resource& resource, Revision revision) {
  Json object = bookmark_object(resource, revision);
  object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  return event_line("BOOKMARK", object);
}

// The type of a change for this watch: an object that leaves the selection is deleted, one that
// enters it is added.
std::string_view type_for(const WatchPlan& plan, const Change& change) {
  const bool is = change.kind != ChangeKind::kDeleted && plan.selector.selects(*change.now);
  const bool was = change.before && plan.selector.selects(*change.before);
  if (is) return was ? "MODIFIED" : "ADDED";
  return was ? "DELETED" : "";
}

std::string line_for(const WatchPlan& plan, const Change& change) {
  const std::string& ns = plan.target.ns;
  if (!ns.empty() && change.id.ns != ns) return {};
  const std::string_view type = type_for(plan, change);
  return type.empty() ? std::string{} : event_line(type, plan.render(*change.now));
}

bool send_present(const World& world, const WatchPlan& plan, http::BodyWriter& writer,
                  Revision& since) {
  const auto snapshot = world.store.list(plan.target.resource->collection(), plan.target.ns);
  since = snapshot.revision;
  for (const Object& object : snapshot.objects) {
    if (!plan.selector.selects(*object)) continue;
    if (!writer.write(event_line("ADDED", plan.render(*object)))) return false;
  }
  return !plan.ends_present || writer.write(end_of_present(*plan.target.resource, since));
}

bool send_changes(const WatchPlan& plan, const Store::News& news, http::BodyWriter& writer) {
  for (const ChangePtr& change : news.changes) {
    const std::string line = line_for(plan, *change);
    if (!line.empty() && !writer.write(line)) return false;
  }
  return true;
}

}  // namespace

std::string error_event(const Failure& failure) { return event_line("ERROR", to_status(failure)); }

Outcome<WatchPlan> plan_watch(const Target& target, const http::Query& query) {
  auto selector = selector_of(target, query);
  if (!selector) return std::unexpected(selector.error());
  WatchPlan plan;
  plan.target = target;
  plan.selector = *std::move(selector);
  const std::string version = query_value(query, "resourceVersion");
  const bool is_list = query_value(query, "sendInitialEvents") == "true";
  if (is_list && query_value(query, "resourceVersionMatch") != "NotOlderThan")
    return bad_request("resourceVersionMatch: Forbidden: sendInitialEvents requires NotOlderThan");
  plan.sends_present = is_list || version.empty() || version == "0";
  if (!plan.sends_present) {
    const auto since = parse_integer<Revision>(version);
    if (!since) return bad_request("resourceVersion: Invalid value: \"" + version + "\"");
    plan.since = *since;
  }
  const std::string bookmarks = query_value(query, "allowWatchBookmarks");
  plan.bookmarks = bookmarks == "true" || bookmarks == "1";
  plan.ends_present = is_list && plan.bookmarks;
  plan.timeout = std::chrono::seconds(
      parse_integer<std::int64_t>(query_value(query, "timeoutSeconds")).value_or(0));
  plan.render = [](const Json& object) { return object; };
  return plan;
}

void run_watch(const World& world, const WatchPlan& plan, http::BodyWriter& writer) {
  const auto begin = world.clock.steady();
  auto last_bookmark = begin;
  Revision since = plan.since;
  if (plan.sends_present && !send_present(world, plan, writer, since)) return;
  while (!world.store.closed()) {
    const auto news =
        world.store.wait_for_news(plan.target.resource->collection(), since, kProbeInterval);
    if (news.forgotten) {
      (void)writer.write(error_event(expired("too old resource version: " + std::to_string(since) +
                                             " (" + std::to_string(news.seen) + ")")));
      return;
    }
    if (!send_changes(plan, news, writer) || !writer.write("")) return;
    since = news.seen;
    const auto now = world.clock.steady();
    if (plan.timeout.count() > 0 && now - begin >= plan.timeout) return;
    if (plan.bookmarks && now - last_bookmark >= plan.bookmark_interval) {
      last_bookmark = now;
      if (!writer.write(bookmark(*plan.target.resource, since))) return;
    }
  }
}

}  // namespace gpuward::fakes
