#include "remediator/inbox/sources/log_cursor.h"

#include <utility>

#include "core/runtime/text.h"

namespace gpuward::remediator {

Result<LogPositions> LogCursor::load() {
  auto map = api_.get_config_map(ns_, kLogCursorName);
  if (!map && map.error().kind == ErrorKind::kNotFound) {
    stored_ = {};
    return LogPositions();
  }
  if (!map) return with_context("reading the log cursor", map.error());
  stored_ = std::move(*map);
  LogPositions positions;
  for (const auto& [name, text] : stored_.data) {
    const auto at = parse_integer<std::int64_t>(text);
    if (at && *at >= 0) positions[name] = *at;
  }
  return positions;
}

Status LogCursor::save(const LogPositions& positions) {
  kube::ConfigMap next = stored_;
  next.meta.name = kLogCursorName;
  next.meta.ns = ns_;
  for (const auto& [name, at] : positions) next.data[name] = std::to_string(at);
  const bool is_new = next.meta.resource_version.empty();
  auto written = is_new ? api_.create_config_map(next) : api_.update_config_map(next);
  if (!written) return with_context("writing the log cursor", written.error());
  stored_ = std::move(*written);
  return {};
}

}  // namespace gpuward::remediator
