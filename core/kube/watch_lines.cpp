#include "core/kube/watch_lines.h"

#include <optional>
#include <utility>

#include "core/kube/errors.h"
#include "core/runtime/json.h"

namespace gpuward::kube {
namespace {

std::optional<WatchEvent::Type> type_of(std::string_view text) {
  if (text == "ADDED") return WatchEvent::Type::kAdded;
  if (text == "MODIFIED") return WatchEvent::Type::kModified;
  if (text == "DELETED") return WatchEvent::Type::kDeleted;
  if (text == "BOOKMARK") return WatchEvent::Type::kBookmark;
  return std::nullopt;
}

}  // namespace

Status LineSplitter::feed(std::string_view bytes,
                          const std::function<Status(std::string_view)>& on_line) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    if (begun_.size() + piece.size() > longest_line_) {
      return fail(ErrorKind::kTooLarge,
                  "a watch event is longer than " + std::to_string(longest_line_) + " bytes");
    }
    if (end == std::string_view::npos) {
      begun_ += piece;
      return {};
    }
    bytes.remove_prefix(end + 1);
    const std::string line = std::exchange(begun_, {}).append(piece);
    if (line.empty()) continue;
    if (auto taken = on_line(line); !taken) return taken;
  }
  return {};
}

Result<WatchEvent> read_watch_line(std::string_view line) {
  auto event = parse_json(line);
  if (!event)
    return with_context("a watch event", Error{ErrorKind::kInternal, event.error().message, {}});
  const std::string type = string_at(*event, "type");
  const Json& object = member_at(*event, "object");
  if (type == "ERROR") return std::unexpected(classify_status(object));
  const auto known = type_of(type);
  if (!known || !object.is_object())
    return fail(ErrorKind::kInternal, "a watch event has an unknown type");
  WatchEvent read;
  read.type = *known;
  read.resource_version = string_at(member_at(object, "metadata"), "resourceVersion");
  if (*known != WatchEvent::Type::kBookmark)
    read.object = std::make_shared<const Json>(std::move((*event)["object"]));
  return read;
}

}  // namespace gpuward::kube
