#include "tests/fakes/kube/table.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace gpuward::fakes {
namespace {

struct Column {
  std::string name, type;
  int priority = 0;
};

const Json& at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* here = &object;
  for (const std::string_view key : path) here = &member_at(*here, key);
  return *here;
}

std::string text_at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json& value = at(object, path);
  return value.is_string() ? value.get<std::string>() : "";
}

std::string age_of(const std::string& stamp, Clock::Wall now) {
  std::tm fields{};
  if (::strptime(stamp.c_str(), "%Y-%m-%dT%H:%M:%SZ", &fields) == nullptr) return "<unknown>";
  const auto begin = std::chrono::system_clock::from_time_t(::timegm(&fields));
  return human_duration(std::chrono::duration_cast<std::chrono::seconds>(now - begin));
}

std::string age(const Json& object, Clock::Wall now) {
  return age_of(text_at(object, {"metadata", "creationTimestamp"}), now);
}

using Cells = std::vector<Json>;

std::string node_status(const Json& node) {
  std::string status = "Unknown";
  for (const Json& condition : at(node, {"status", "conditions"})) {
    if (string_at(condition, "type") != "Ready") continue;
    status = string_at(condition, "status") == "True" ? "Ready" : "NotReady";
  }
  return at(node, {"spec", "unschedulable"}) == true ? status + ",SchedulingDisabled" : status;
}

std::string node_roles(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::string roles;
  for (const auto& [key, value] : at(node, {"metadata", "labels"}).items()) {
    if (key.starts_with(kPrefix)) roles += (roles.empty() ? "" : ",") + key.substr(kPrefix.size());
  }
  return roles.empty() ? "<none>" : roles;
}

Cells node_cells(const Json& node, Clock::Wall now) {
  return {text_at(node, {"metadata", "name"}), node_status(node), node_roles(node), age(node, now),
          text_at(node, {"status", "nodeInfo", "kubeletVersion"})};
}

std::string pod_status(const Json& pod) {
  if (at(pod, {"metadata"}).contains("deletionTimestamp")) return "Terminating";
  return text_at(pod, {"status", "phase"});
}

Cells pod_cells(const Json& pod, Clock::Wall now) {
  std::size_t ready = 0;
  for (const Json& status : at(pod, {"status", "containerStatuses"})) {
    ready += member_at(status, "ready") == true ? 1 : 0;
  }
  const std::string total = std::to_string(at(pod, {"spec", "containers"}).size());
  const std::string node = text_at(pod, {"spec", "nodeName"});
  return {text_at(pod, {"metadata", "name"}),
          std::to_string(ready) + "/" + total,
          pod_status(pod),
          "0",
          age(pod, now),
          node.empty() ? "<none>" : node};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

Cells event_cells(const Json& event, Clock::Wall now) {
  std::string stamp = text_at(event, {"lastTimestamp"});
  if (stamp.empty()) stamp = text_at(event, {"metadata", "creationTimestamp"});
  return {age_of(stamp, now), text_at(event, {"type"}), text_at(event, {"reason"}),
          lower(text_at(event, {"involvedObject", "kind"})) + "/" +
              text_at(event, {"involvedObject", "name"}),
          text_at(event, {"message"})};
}

Cells lease_cells(const Json& lease, Clock::Wall now) {
  return {text_at(lease, {"metadata", "name"}), text_at(lease, {"spec", "holderIdentity"}),
          age(lease, now)};
}

std::vector<Column> built_in_columns(const Resource& resource) {
  const Column name{"Name", "string"};
  const Column since{"Age", "string"};
  if (resource.plural == "nodes") {
    return {name, {"Status", "string"}, {"Roles", "string"}, since, {"Version", "string"}};
  }
  if (resource.plural == "pods") {
    return {name,  {"Ready", "string"},  {"Status", "string"}, {"Restarts", "string"},
            since, {"Node", "string", 1}};
  }
  if (resource.plural == "events") {
    return {{"Last Seen", "string"},
            {"Type", "string"},
            {"Reason", "string"},
            {"Object", "string"},
            {"Message", "string"}};
  }
  if (resource.plural == "leases") return {name, {"Holder", "string"}, since};
  return {name, since};
}

Cells built_in_cells(const Resource& resource, const Json& object, Clock::Wall now) {
  if (resource.plural == "nodes") return node_cells(object, now);
  if (resource.plural == "pods") return pod_cells(object, now);
  if (resource.plural == "events") return event_cells(object, now);
  if (resource.plural == "leases") return lease_cells(object, now);
  return {text_at(object, {"metadata", "name"}), age(object, now)};
}

// ".spec.node" and the names in brackets that are in use: ".metadata.labels['a.b/c']".
const Json& json_path(const Json& object, std::string_view path) {
  const Json* here = &object;
  while (!path.empty()) {
    const bool bracket = path.starts_with("['");
    path.remove_prefix(bracket ? 2 : 1);
    const auto end = std::min(bracket ? path.find("']") : path.find_first_of(".["), path.size());
    here = &member_at(*here, path.substr(0, end));
    path.remove_prefix(std::min(bracket ? end + 2 : end, path.size()));
  }
  return *here;
}

Cells custom_cells(const Resource& resource, const Json& object, Clock::Wall now) {
  Cells cells{text_at(object, {"metadata", "name"})};
  for (const Json& column : resource.columns) {
    const Json& value = json_path(object, string_at(column, "jsonPath"));
    if (string_at(column, "type") == "date" && value.is_string()) {
      cells.emplace_back(age_of(value.get<std::string>(), now));
    } else {
      cells.push_back(value);
    }
  }
  return cells;
}

std::vector<Column> columns_of(const Resource& resource) {
  if (!resource.columns.is_array()) return built_in_columns(resource);
  std::vector<Column> columns{{"Name", "string"}};
  for (const Json& column : resource.columns) {
    const Json& priority = member_at(column, "priority");
    columns.push_back({string_at(column, "name"), string_at(column, "type"),
                       priority.is_number_integer() ? priority.get<int>() : 0});
  }
  return columns;
}

Json row_of(const Resource& resource, const Json& object, Clock::Wall now) {
  const Cells cells = resource.columns.is_array() ? custom_cells(resource, object, now)
                                                  : built_in_cells(resource, object, now);
  return {{"cells", cells},
          {"object",
           {{"kind", "PartialObjectMetadata"},
            {"apiVersion", "meta.k8s.io/v1"},
            {"metadata", member_at(object, "metadata")}}}};
}

}  // namespace

Json to_table(const Resource& resource, const std::vector<Json>& objects, const Json& metadata,
              Clock::Wall now) {
  Json columns = Json::array();
  for (const Column& column : columns_of(resource)) {
    columns.push_back({{"name", column.name},
                       {"type", column.type == "date" ? "date" : column.type},
                       {"format", column.name == "Name" ? "name" : ""},
                       {"description", ""},
                       {"priority", column.priority}});
  }
  Json rows = Json::array();
  for (const Json& object : objects) rows.push_back(row_of(resource, object, now));
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/v1"},
          {"metadata", metadata.is_null() ? Json::object() : metadata},
          {"columnDefinitions", std::move(columns)},
          {"rows", std::move(rows)}};
}

std::string human_duration(std::chrono::seconds duration) {
  const auto text = [](std::int64_t number, const char* unit) {
    return std::to_string(number) + unit;
  };
  const auto pair = [&](std::int64_t large, const char* one, std::int64_t small,
                        const char* other) {
    return small == 0 ? text(large, one) : text(large, one) + text(small, other);
  };
  const std::int64_t seconds = std::max<std::int64_t>(duration.count(), 0);
  const std::int64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (seconds < 120) return text(seconds, "s");
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (hours < 3) return text(minutes, "m");
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return text(hours, "h");
  if (days < 8) return pair(days, "d", hours % 24, "h");
  if (days < 730) return text(days, "d");
  return pair(days / 365, "y", days % 365, "d");
}

}  // namespace gpuward::fakes
