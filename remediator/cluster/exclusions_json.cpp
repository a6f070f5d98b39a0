#include "remediator/cluster/exclusions_json.h"

#include <cmath>
#include <optional>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

using Time = std::chrono::system_clock::time_point;

constexpr JsonLimits kFileLimits{.max_bytes = 1U << 20U, .max_depth = 8, .max_values = 100'000};
constexpr double kDefaultTimeout = 1800;
constexpr double kLongestTimeout = std::chrono::duration<double>(kLongestExclusion).count();
constexpr double kLatestStart = 4e9;  // in the year 2096
constexpr std::size_t kLongestReason = 256;

Exclusion decode_exclusion(const std::string& text) {
  const auto json = parse_json(text, kFileLimits);
  const Json entry = json && json->is_object() ? *json : Json::object();
  const auto until = parse_rfc3339(string_at(entry, "until"));
  if (!until) {
    return {.since = {},
            .until = Time::max(),
            .reason = "its entry in the ConfigMap gpuward-exclusions is invalid",
            .by = {}};
  }
  return {.since = parse_rfc3339(string_at(entry, "since")).value_or(Time()),
          .until = *until,
          .reason = string_at(entry, "reason"),
          .by = string_at(entry, "by")};
}

// Returns the fallback if the key is absent; nullopt if the value is not a number in 0..most.
std::optional<double> seconds_at(const Json& entry, std::string_view key, double fallback,
                                 double most) {
  const Json& value = member_at(entry, key);
  if (value.is_null()) return fallback;
  if (!value.is_number()) return std::nullopt;
  const auto given = value.get<double>();
  if (!std::isfinite(given) || given < 0 || given > most) return std::nullopt;
  return given;
}

Result<Exclusion> parse_file_entry(const std::string& subject, const Json& entry,
                                   const std::string& by) {
  if (!is_exclusion_subject(subject)) return fail(ErrorKind::kInvalid, "not an instance ID");
  if (!entry.is_object()) return fail(ErrorKind::kInvalid, "expected an object");
  const auto start = seconds_at(entry, "start_time", -1, kLatestStart);
  if (!start || *start < 0) {
    return fail(ErrorKind::kInvalid, "start_time: expected a Unix timestamp in seconds");
  }
  const auto timeout = seconds_at(entry, "timeout", kDefaultTimeout, kLongestTimeout);
  if (!timeout) return fail(ErrorKind::kInvalid, "timeout: expected seconds, at most one year");
  const auto at = [](double time) {
    return Time(std::chrono::duration_cast<Time::duration>(std::chrono::duration<double>(time)));
  };
  const std::string node = string_at(entry, "node_name");
  const std::string type = string_at(entry, "error_type");
  return Exclusion{.since = at(*start),
                   .until = at(*start + *timeout),
                   .reason = to_valid_utf8(
                       type + (node.empty() ? "" : " on " + node) + ", imported", kLongestReason),
                   .by = by};
}

}  // namespace

ExclusionList decode_exclusions(const ConfigMapData& data) {
  ExclusionList list;
  for (const auto& [subject, text] : data) list[subject] = decode_exclusion(text);
  return list;
}

ConfigMapData encode_exclusions(const ExclusionList& list) {
  ConfigMapData data;
  for (const auto& [subject, about] : list) {
    const bool is_unreadable = about.until == Time::max();
    data[subject] = is_unreadable ? about.reason
                                  : dump_json({{"since", to_rfc3339(about.since)},
                                               {"until", to_rfc3339(about.until)},
                                               {"reason", about.reason},
                                               {"by", about.by}});
  }
  return data;
}

Result<ExclusionList> parse_exclusion_file(std::string_view json, const std::string& by) {
  const auto root = parse_json(json, kFileLimits);
  if (!root) return std::unexpected(root.error());
  if (!root->is_object())
    return fail(ErrorKind::kInvalid, "expected an object with instance IDs as keys");
  ExclusionList list;
  std::string faults;
  for (const auto& [subject, entry] : root->items()) {
    auto exclusion = parse_file_entry(subject, entry, by);
    if (exclusion) {
      list[subject] = std::move(*exclusion);
    } else {
      faults += (faults.empty() ? "" : "\n") + to_valid_utf8(subject, kLongestReason) + ": " +
                exclusion.error().message;
    }
  }
  if (!faults.empty()) return fail(ErrorKind::kInvalid, faults);
  return list;
}

}  // namespace gpuward::remediator
