#include "core/runtime/json.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "core/runtime/text.h"

namespace gpuward {
namespace {

// The position of the parser and the length of its current token. Errors of the handler get their
// offset here. nlohmann copies a token twice before it calls the handler, so a token that is too
// long must be noticed before its end.
class Progress {
 public:
  Progress(const char* begin, std::size_t max_token_bytes)
      : read_up_to_(begin), max_token_bytes_(max_token_bytes) {}

  void pass(const char* at) {
    read_up_to_ = at + 1;
    if (in_string_) {
      pass_in_string(*at);
    } else if (*at == '"') {
      in_string_ = true;
      token_bytes_ = 0;
    } else if (is_between_tokens(*at)) {
      token_bytes_ = 0;
    } else {
      ++token_bytes_;
    }
  }
  [[nodiscard]] const char* read_up_to() const { return read_up_to_; }
  [[nodiscard]] bool is_over_limit() const { return token_bytes_ > max_token_bytes_; }

 private:
  static bool is_between_tokens(char byte) {
    return byte <= ' ' || byte == ',' || byte == ':' || byte == '[' || byte == ']' || byte == '{' ||
           byte == '}';
  }
  void pass_in_string(char byte) {
    ++token_bytes_;
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (byte == '\\') {
      is_escaped_ = true;
    } else if (byte == '"') {
      in_string_ = false;
      token_bytes_ = 0;
    }
  }

  const char* read_up_to_;
  std::size_t max_token_bytes_;
  std::size_t token_bytes_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

// Reads the text for nlohmann. Ends the text at a token that is too long.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, Progress& progress) : at_(at), progress_(&progress) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    progress_->pass(at_++);
    return *this;
  }
  bool operator==(const Cursor& other) const {
    return at_ == other.at_ || progress_->is_over_limit();
  }

 private:
  const char* at_;
  Progress* progress_;
};

// The tokens that nlohmann may list as expected. Any other text after "; expected" is input.
bool is_name_of_token(std::string_view text) {
  constexpr std::array<std::string_view, 12> kNames{"string literal",
                                                    "number literal",
                                                    "true literal",
                                                    "false literal",
                                                    "null literal",
                                                    "end of input",
                                                    "'['",
                                                    "'{'",
                                                    "']'",
                                                    "'}'",
                                                    "':'",
                                                    "'[', '{', or a literal"};
  return std::ranges::find(kNames, text) != kNames.end();
}

// Returns nlohmann's message without the "last read" part, which quotes the input: it may be a
// secret.
std::string reason_without_input(std::string_view what) {
  const auto begin = what.find("syntax error");
  if (begin == std::string_view::npos) return "number out of range";
  const auto quoted = what.find("; last read", begin);
  std::string reason(
      what.substr(begin, quoted == std::string_view::npos ? quoted : quoted - begin));
  constexpr std::string_view kExpected = "; expected ";
  const auto expected = what.rfind(kExpected);
  const bool is_behind =
      quoted != std::string_view::npos && expected != std::string_view::npos && expected > quoted;
  if (is_behind && is_name_of_token(what.substr(expected + kExpected.size())))
    reason += what.substr(expected);
  return reason;
}

// The levels of objects that are kept: below a root whose list is read by elements, and below an
// element.
constexpr int kLevelsOfRoot = 1;
constexpr int kLevelsOfElement = 2;

// Builds the document or, with a list, the kept part of it. Returns false, which ends the parse, at
// the first fault in untrusted input.
class StrictBuilder final : public nlohmann::json_sax<Json> {
 public:
  // Keeps the whole document if `list` is null.
  StrictBuilder(const JsonLimits& limits, const JsonList* list) : limits_(limits), list_(list) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    // nlohmann silently turns an integer that does not fit into a double.
    if (text.find_first_of(".eE") == string_t::npos) {
      return refuse(ErrorKind::kInvalid, "an integer that does not fit into 64 bits");
    }
    return add(value);
  }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return refuse(ErrorKind::kInvalid, "binary data"); }

  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Open& object = open_.back();
    is_key_of_list_ = list_ != nullptr && open_.size() == 1 && name == list_->key;
    const bool is_new = object.kept != nullptr ? add_member(*object.kept, std::move(name))
                                               : object.names.insert(std::move(name)).second;
    if (!is_new) return refuse(ErrorKind::kInvalid, "duplicate key in an object");
    const bool is_in_element = list_ != nullptr && object.kept != nullptr && open_.size() > 1;
    if (is_in_element && ++kept_ > list_->max_kept) {
      return refuse(ErrorKind::kTooLarge,
                    "more than " + std::to_string(list_->max_kept) + " members in one element");
    }
    if (++object.members <= limits_.max_members) return true;
    return refuse(ErrorKind::kTooLarge,
                  "more than " + std::to_string(limits_.max_members) + " members in one object");
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& error) override {
    position_ = position;
    return refuse(ErrorKind::kInvalid, reason_without_input(error.what()));
  }

  [[nodiscard]] Error error_at(std::size_t read_so_far) const {
    const std::size_t at = position_ != 0 ? position_ : read_so_far;
    return {kind_, "JSON rejected at byte " + std::to_string(at) + ": " + reason_, {}};
  }
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  // A container that has not ended yet.
  struct Open {
    Json* kept = nullptr;         // null: its content is only checked
    bool is_list = false;         // its elements go to on_element
    int levels = 0;               // of kept objects, this one included
    std::size_t members = 0;      // of an object
    std::set<std::string> names;  // of an object that is only checked
  };

  bool refuse(ErrorKind kind, std::string reason) {
    kind_ = kind;
    reason_ = std::move(reason);
    return false;
  }

  bool count() {
    if (++values_ <= limits_.max_values) return true;
    return refuse(ErrorKind::kTooLarge,
                  "more than " + std::to_string(limits_.max_values) + " values");
  }

  bool add_member(Json& object, string_t name) {
    const auto [member, added] =
        object.get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
    slot_ = &member->second;
    return added;
  }

  // Null if the value is not kept.
  Json* place(Json value) {
    if (open_.empty()) return &(root_ = std::move(value));
    const Open& parent = open_.back();
    if (parent.is_list) return &(element_ = std::move(value));
    if (parent.kept == nullptr) return nullptr;
    if (parent.kept->is_object()) return &(*slot_ = std::move(value));
    return &parent.kept->get_ref<Json::array_t&>().emplace_back(std::move(value));
  }

  bool add(Json scalar) {
    if (!count()) return false;
    place(std::move(scalar));
    hand_over_element();
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= limits_.max_depth) {
      return refuse(ErrorKind::kTooLarge,
                    "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
    }
    if (!count()) return false;
    Open opened;
    opened.is_list = container.is_array() && is_place_of_list();
    opened.levels = levels_here();
    const bool is_kept = list_ == nullptr || (container.is_object() && opened.levels > 0);
    Json* const placed = place(std::move(container));
    if (is_kept) opened.kept = placed;
    open_.push_back(std::move(opened));
    return true;
  }

  bool close() {
    open_.pop_back();
    hand_over_element();
    return true;
  }

  [[nodiscard]] bool is_place_of_list() const {
    if (list_ == nullptr) return false;
    return list_->key.empty() ? open_.empty() : open_.size() == 1 && is_key_of_list_;
  }

  [[nodiscard]] int levels_here() const {
    if (open_.empty()) return kLevelsOfRoot;
    return open_.back().is_list ? kLevelsOfElement : open_.back().levels - 1;
  }

  void hand_over_element() {
    if (open_.empty() || !open_.back().is_list) return;
    list_->on_element(element_);
    element_ = nullptr;
    kept_ = 0;
  }

  const JsonLimits& limits_;
  const JsonList* list_;
  Json root_;
  Json element_;                 // of the list, being built
  Json* slot_ = nullptr;         // the place of the next value in the innermost kept object
  std::vector<Open> open_;       // containers around the next value, outermost first
  bool is_key_of_list_ = false;  // the last member of the root
  std::size_t values_ = 0;
  std::size_t kept_ = 0;      // members of the element
  std::size_t position_ = 0;  // as nlohmann reports it; 0 for an error of this handler
  ErrorKind kind_ = ErrorKind::kInvalid;
  std::string reason_;
};

Result<Json> parse(std::string_view text, const JsonLimits& limits, const JsonList* list) {
  if (text.size() > limits.max_bytes) {
    return fail(ErrorKind::kTooLarge, "JSON rejected: " + std::to_string(text.size()) +
                                          " bytes, at most " + std::to_string(limits.max_bytes) +
                                          " are allowed");
  }
  // nlohmann ends the text at a NUL byte and would not read the rest.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(ErrorKind::kInvalid,
                "JSON rejected at byte " + std::to_string(nul + 1) + ": a NUL byte");
  }
  const char* const begin = text.data();
  Progress progress(begin, limits.max_token_bytes);
  StrictBuilder builder(limits, list);
  const bool parsed =
      Json::sax_parse(Cursor(begin, progress), Cursor(begin + text.size(), progress), &builder);
  const auto read_so_far = static_cast<std::size_t>(progress.read_up_to() - begin);
  if (progress.is_over_limit()) {
    return fail(ErrorKind::kTooLarge, "JSON rejected at byte " + std::to_string(read_so_far) +
                                          ": a string or number longer than " +
                                          std::to_string(limits.max_token_bytes) + " bytes");
  }
  if (!parsed) return std::unexpected(builder.error_at(read_so_far));
  return builder.take();
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  return parse(text, limits, nullptr);
}

Result<Json> parse_json_list(std::string_view text, const JsonLimits& limits,
                             const JsonList& list) {
  return parse(text, limits, &list);
}

std::string dump_json(const Json& value) {
  // Outside strings JSON has nothing to escape; inside, these escapes are JSON's own.
  return escaped_line(value.dump(-1, ' ', false, Json::error_handler_t::replace));
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
