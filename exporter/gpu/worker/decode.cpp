#include <limits>
#include <type_traits>
#include <utility>

#include "core/runtime/json.h"
#include "exporter/gpu/worker/message_fields.h"
#include "exporter/gpu/worker/protocol.h"

namespace gpuward::exporter {
namespace {

// The deepest value is report.vendors[].gpus[].ecc.corrected_volatile. A message of that size with
// more values would be a list of digits.
constexpr JsonLimits kLimits{
    .max_bytes = kMostMessageBytes, .max_depth = 12, .max_values = 300'000};
constexpr std::int64_t kLatestTimeMs = 9'000'000'000'000;  // in the year 2255: beyond any clock

class Decoder {
 public:
  [[nodiscard]] const std::string& fault() const { return fault_; }

  template <typename T>
  void read(const Json& json, T& out) {
    if constexpr (std::is_same_v<T, std::string>) {
      read_text(json, out);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!json.is_boolean()) return refuse("not a boolean");
      out = json.get<bool>();
    } else if constexpr (std::is_integral_v<T>) {
      read_integer(json, out, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!json.is_number()) return refuse("not a number");
      out = json.get<T>();
    } else if constexpr (std::is_enum_v<T>) {
      read_enum(json, out);
    } else if constexpr (std::is_same_v<T, PciAddress>) {
      read_address(json, out);
    } else if constexpr (std::is_same_v<T, WallClock>) {
      read_time(json, out);
    } else if constexpr (kIsList<T>) {
      read_list(json, out);
    } else {
      read_object(json, out);
    }
  }

 private:
  void refuse(std::string_view what) {
    if (fault_.empty()) fault_.append(field_).append(": ").append(what);
  }

  void read_text(const Json& json, std::string& out) {
    if (!json.is_string()) return refuse("not a string");
    const auto& text = json.get_ref<const std::string&>();
    if (text.size() > kMostTextBytes) return refuse("string is too long");
    out = text;
  }

  template <typename T>
  void read_integer(const Json& json, T& out, T least, T most) {
    if (!json.is_number_integer()) return refuse("not a whole number");
    const bool is_unsigned = json.is_number_unsigned();
    const auto positive = is_unsigned ? json.get<std::uint64_t>() : 0;
    const auto negative = is_unsigned ? 0 : json.get<std::int64_t>();
    const bool fits = is_unsigned ? std::in_range<T>(positive) : std::in_range<T>(negative);
    if (!fits) return refuse("number is out of range");
    const T value = is_unsigned ? static_cast<T>(positive) : static_cast<T>(negative);
    if (value < least || value > most) return refuse("number is out of range");
    out = value;
  }

  template <typename T>
  void read_enum(const Json& json, T& out) {
    int number = 0;
    read_integer(json, number, 0, static_cast<int>(kLast<T>));
    out = static_cast<T>(number);
  }

  void read_address(const Json& json, PciAddress& out) {
    std::string text;
    read_text(json, text);
    const auto address = parse_pci_address(text);
    if (!address) return refuse("not a PCI address");
    out = *address;
  }

  void read_time(const Json& json, WallClock& out) {
    std::int64_t since_epoch = 0;
    read_integer(json, since_epoch, std::int64_t{0}, kLatestTimeMs);
    out = WallClock(std::chrono::milliseconds(since_epoch));
  }

  template <typename T>
  void read_list(const Json& json, std::vector<T>& out) {
    if (!json.is_array()) return refuse("not a list");
    if (json.size() > kMostListItems) return refuse("list is too long");
    out.reserve(json.size());
    for (const Json& item : json) read(item, out.emplace_back());
  }

  template <typename T>
  void read_object(const Json& json, T& out) {
    if (!json.is_object()) return refuse("not an object");
    std::size_t known = 0;
    auto read_field = [&]<typename Field>(std::string_view name, Field& field) {
      const auto member = json.find(name);
      field_ = name;
      if (member != json.end()) {
        ++known;
        read_value(*member, field);
      } else if constexpr (!kIsMaybe<Field>) {
        refuse("missing");
      }
    };
    visit_fields(out, read_field);
    if (known != json.size()) refuse("there is an unknown field next to it");
  }

  template <typename Field>
  void read_value(const Json& json, Field& field) {
    if constexpr (kIsMaybe<Field>) {
      read(json, field.emplace());
    } else {
      read(json, field);
    }
  }

  std::string_view field_ = "message";  // the one that is being read
  std::string fault_;                   // the first
};

}  // namespace

Result<WorkerMessage> decode_message(std::string_view line) {
  const auto json = parse_json(line, kLimits);
  if (!json) return std::unexpected(json.error());
  WorkerMessage message;
  Decoder decoder;
  decoder.read(*json, message);
  if (!decoder.fault().empty()) return fail(ErrorKind::kInvalid, decoder.fault());
  if (json->size() != 1)
    return fail(ErrorKind::kInvalid, "the line must contain exactly one message");
  return message;
}

}  // namespace gpuward::exporter
