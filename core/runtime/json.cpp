#include "core/runtime/json.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace gpuward {
namespace {

// Walks the text and tells the handler how far the parser has read: the handler's own refusals then
// carry an offset too.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** read_up_to) : at_(at), read_up_to_(read_up_to) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *read_up_to_ = ++at_;
    return *this;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** read_up_to_;
};

// What nlohmann says, without the "last read" part: that quotes the input, and the input may be a
// secret.
std::string reason_without_input(std::string_view what) {
  const auto begin = what.find("syntax error");
  if (begin == std::string_view::npos) return "number out of range";
  const auto quoted = what.find("; last read", begin);
  std::string reason(
      what.substr(begin, quoted == std::string_view::npos ? quoted : quoted - begin));
  const auto expected = what.rfind("; expected");
  if (quoted != std::string_view::npos && expected != std::string_view::npos && expected > quoted) {
    reason += what.substr(expected);
  }
  return reason;
}

// Builds the document; returns false (which ends the parse) at the first thing that untrusted input
// may not send.
class StrictBuilder final : public nlohmann::json_sax<Json> {
 public:
  explicit StrictBuilder(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return place(nullptr) != nullptr; }
  bool boolean(bool value) override { return place(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return place(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override { return place(value) != nullptr; }
  bool number_float(number_float_t value, const string_t& text) override {
    // nlohmann turns an integer that does not fit into a double without a word.
    if (text.find_first_of(".eE") == string_t::npos) {
      return refuse(ErrorKind::kInvalid, "an integer beyond 64 bits");
    }
    return place(value) != nullptr;
  }
  bool string(string_t& value) override { return place(std::move(value)) != nullptr; }
  bool binary(binary_t& /*value*/) override { return refuse(ErrorKind::kInvalid, "binary data"); }

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    const auto [member, added] =
        open_.back()->get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
    if (!added) return refuse(ErrorKind::kInvalid, "a key that stands twice in one object");
    slot_ = &member->second;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& error) override {
    position_ = position;
    return refuse(ErrorKind::kInvalid, reason_without_input(error.what()));
  }

  [[nodiscard]] Error error_at(std::size_t read_so_far) const {
    const std::size_t at = position_ != 0 ? position_ : read_so_far;
    return {kind_, "JSON refused at byte " + std::to_string(at) + ": " + reason_, {}};
  }
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  bool refuse(ErrorKind kind, std::string reason) {
    kind_ = kind;
    reason_ = std::move(reason);
    return false;
  }

  Json* place(Json value) {
    if (++values_ > limits_.max_values) {
      refuse(ErrorKind::kTooLarge, "more than " + std::to_string(limits_.max_values) + " values");
      return nullptr;
    }
    if (slot_ == nullptr) {  // the next element of the open array
      auto& elements = open_.back()->get_ref<Json::array_t&>();
      return &elements.emplace_back(std::move(value));
    }
    *slot_ = std::move(value);
    return std::exchange(slot_, nullptr);
  }

  bool open(Json container) {
    if (open_.size() >= limits_.max_depth) {
      return refuse(ErrorKind::kTooLarge,
                    "nested deeper than " + std::to_string(limits_.max_depth));
    }
    Json* const placed = place(std::move(container));
    if (placed == nullptr) return false;
    open_.push_back(placed);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  Json* slot_ = &root_;      // where the next value belongs; null: at the end of the open array
  std::vector<Json*> open_;  // containers around the next value, outermost first
  std::size_t values_ = 0;
  std::size_t position_ = 0;  // as nlohmann reports it; 0 where the refusal is ours
  ErrorKind kind_ = ErrorKind::kInvalid;
  std::string reason_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorKind::kTooLarge, "JSON refused: " + std::to_string(text.size()) +
                                          " bytes, at most " + std::to_string(limits.max_bytes) +
                                          " are allowed");
  }
  // nlohmann takes a NUL byte for the end of the text, and would not see what stands behind it.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(ErrorKind::kInvalid,
                "JSON refused at byte " + std::to_string(nul + 1) + ": a NUL byte");
  }
  const char* const begin = text.data();
  const char* read_up_to = begin;
  StrictBuilder builder(limits);
  const bool parsed = Json::sax_parse(Cursor(begin, &read_up_to),
                                      Cursor(begin + text.size(), &read_up_to), &builder);
  if (!parsed)
    return std::unexpected(builder.error_at(static_cast<std::size_t>(read_up_to - begin)));
  return builder.take();
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& member_at(const Json& object, std::string_view key) {
  static const Json kAbsent;
  if (!object.is_object()) return kAbsent;
  const auto found = object.find(key);
  return found == object.end() ? kAbsent : *found;
}

std::string string_at(const Json& object, std::string_view key, std::string_view fallback) {
  const Json& member = member_at(object, key);
  return member.is_string() ? member.get_ref<const std::string&>() : std::string(fallback);
}

}  // namespace gpuward
