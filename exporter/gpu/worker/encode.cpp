#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "exporter/gpu/worker/message_fields.h"
#include "exporter/gpu/worker/protocol.h"

namespace gpuward::exporter {
namespace {

template <typename T>
Json encode(const T& value);

template <typename T>
bool is_there(const std::optional<T>& value) {
  if constexpr (std::is_floating_point_v<T>) return value && std::isfinite(*value);
  return value.has_value();
}

struct FieldWriter {
  Json::object_t& object;

  template <typename T>
  void operator()(std::string_view name, const T& field) {
    if constexpr (kIsMaybe<T>) {
      if (is_there(field)) object.emplace(name, encode(*field));
    } else {
      object.emplace(name, encode(field));
    }
  }
};

template <typename T>
Json encode_list(const std::vector<T>& values) {
  Json::array_t list;
  list.reserve(std::min(values.size(), kMostListItems));
  for (const T& value : values) {
    if (list.size() == kMostListItems) break;
    list.push_back(encode(value));
  }
  return list;
}

template <typename T>
Json encode(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return to_valid_utf8(value, kMostTextBytes);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int>(value);
  } else if constexpr (std::is_same_v<T, PciAddress>) {
    return value.full();
  } else if constexpr (std::is_same_v<T, WallClock>) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(value.time_since_epoch()).count();
  } else if constexpr (kIsList<T>) {
    return encode_list(value);
  } else {
    Json::object_t object;
    FieldWriter writer{object};
    visit_fields(value, writer);
    return object;
  }
}

std::string to_line(const WorkerMessage& message) { return dump_json(encode(message)) + '\n'; }

}  // namespace

std::string encode_message(const WorkerMessage& message) {
  std::string line = to_line(message);
  if (line.size() <= kMostMessageBytes || !message.report) return line;
  WorkerMessage shorter = message;
  for (VendorReading& vendor : shorter.report->vendors) {
    vendor.peers.clear();
    for (GpuReading& reading : vendor.gpus) {
      reading.processes.reset();
      reading.links.clear();
    }
  }
  return to_line(shorter);
}

}  // namespace gpuward::exporter
