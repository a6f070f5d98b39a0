#include "remediator/decide/budgets/ledger_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/clock.h"
#include "core/runtime/encoding.h"
#include "core/runtime/text.h"

namespace gpuward::remediator {
namespace {

constexpr int kVersion = 2;
constexpr std::string_view kTitle = "gpuward-ledger";
constexpr int kTaintsVersion = 1;
constexpr std::string_view kTaintsTitle = "gpuward-taints";
constexpr std::string_view kNothing = "-";

// False for the bytes that would end a word or a pair; the rest of UTF-8 is written unchanged.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7F && c != '%' && c != '=';
}

std::string escaped(std::string_view word) {
  if (word.empty()) return std::string(kNothing);
  if (word == kNothing) return "%2d";
  const bool is_text = is_valid_utf8(word);  // the API server accepts only valid UTF-8
  std::string text;
  for (const char c : word) {
    if (is_plain(c) && (is_text || static_cast<unsigned char>(c) < 0x80)) {
      text += c;
    } else {
      text += "%" + to_hex({&c, 1});
    }
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  if (text == kNothing) return std::string();
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      word += text[i];
      continue;
    }
    const auto byte = from_hex(text.substr(i + 1, 2));
    if (!byte || byte->size() != 1) return std::nullopt;
    word += *byte;
    i += 2;
  }
  return word;
}

class LedgerWriter {
 public:
  template <typename... Words>
  void line(std::string_view kind, const Words&... words) {
    text_ += kind;
    (put(words), ...);
    text_ += '\n';
    ++lines_;
  }
  // Places come before the lines that refer to them, so they are gathered first.
  void place(const Place& place) {
    const auto [found, is_new] = numbers_.try_emplace(place, numbers_.size());
    if (is_new) line("place", found->second, place.pool, place.zone, place.domains);
  }
  [[nodiscard]] std::size_t number_of(const Place& place) const { return numbers_.at(place); }
  std::string take() {
    text_ += "end " + std::to_string(lines_) + "\n";
    return std::move(text_);
  }

 private:
  void put(std::string_view word) { (text_ += ' ') += escaped(word); }
  void put(std::size_t number) { (text_ += ' ') += std::to_string(number); }
  void put(WallTime time) { (text_ += ' ') += to_rfc3339_ms(time); }
  void put(const std::vector<std::string>& words) {
    for (const std::string& word : words) put(std::string_view(word));
  }
  void put(const std::map<std::string, std::string>& pairs) {
    for (const auto& [key, value] : pairs) text_ += " " + escaped(key) + "=" + escaped(value);
  }

  std::string text_;
  std::size_t lines_ = 0;
  std::map<Place, std::size_t> numbers_;
};

// Reads the words of one line after the other and keeps the first fault: a missing word or one of
// another kind. A reader that continued with a default would forget part of the use.
class LedgerReader {
 public:
  explicit LedgerReader(std::string_view text) : rest_(text) {}

  // "" for none.
  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] std::size_t line_number() const { return number_; }

  // The next line's first word; "" at the end of the text.
  std::string_view begin_line() {
    if (rest_.empty()) return {};
    const auto end = rest_.find('\n');
    if (end == std::string_view::npos) complain("the line has no newline at the end");
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end, rest_.size() - 1) + 1);
    ++number_;
    return word();
  }
  void end_line() {
    if (!line_.empty()) complain("more words than expected");
  }
  [[nodiscard]] bool has_more() const { return !line_.empty(); }

  std::string_view word() {
    if (line_.starts_with(' ')) line_.remove_prefix(1);  // in front of all but the first
    const std::string_view found = line_.substr(0, line_.find(' '));
    if (found.empty()) complain("a word is missing");
    line_.remove_prefix(found.size());
    return found;
  }
  std::string text() { return text_of(word()); }
  std::size_t number() { return need(parse_integer<std::size_t>(word()), "no number"); }
  WallTime time() { return need(parse_rfc3339(word()), "no time"); }
  // A word that `parse` knows.
  template <typename Value>
  Value known(std::optional<Value> (*parse)(std::string_view), const char* fault) {
    return need(parse(word()), fault);
  }
  // Returns whether the word is the first of the two; it must be one of them.
  bool is_first(std::string_view first, std::string_view second) {
    const std::string_view found = word();
    if (found != first && found != second) complain("an unknown word");
    return found == first;
  }
  std::pair<std::string, std::string> pair() {
    const std::string_view both = word();
    const auto equals = both.find('=');
    if (equals == std::string_view::npos) {
      complain("no key=value");
      return {};
    }
    return {text_of(both.substr(0, equals)), text_of(both.substr(equals + 1))};
  }
  void complain(const std::string& what) {
    if (fault_.empty()) fault_ = "line " + std::to_string(number_) + ": " + what;
  }

 private:
  std::string text_of(std::string_view word) {
    return need(unescaped(word), "an invalid escape sequence");
  }
  template <typename Value>
  Value need(std::optional<Value> value, const char* fault) {
    if (!value) complain(fault);
    return std::move(value).value_or(Value());
  }

  std::string_view rest_, line_;
  std::size_t number_ = 0;
  std::string fault_;
};

std::unexpected<Error> broken(const std::string& why) {
  return fail(ErrorKind::kInvalid, "the ledger cannot be read: " + why);
}

// Reads the first line; nullopt if it has that title and version.
std::optional<std::unexpected<Error>> read_title(LedgerReader& reader, std::string_view title,
                                                 int version) {
  const bool is_ledger = reader.begin_line() == title;
  const std::size_t found = is_ledger ? reader.number() : 0;
  reader.end_line();
  if (!is_ledger || !reader.fault().empty()) return broken("it is not a ledger");
  if (found == static_cast<std::size_t>(version)) return std::nullopt;
  return broken("it has version " + std::to_string(found) +
                "; this gpuward-remediator reads version " + std::to_string(version));
}

void read_end(LedgerReader& reader) {
  if (reader.number() + 1 != reader.line_number()) reader.complain("lines are missing");
  if (!reader.begin_line().empty()) reader.complain("lines after the end");
}

// The places, which slots and starts refer to by number.
class PlaceTable {
 public:
  explicit PlaceTable(LedgerReader& reader) : reader_(reader) {}

  void read_line() {
    if (reader_.number() != places_.size()) reader_.complain("a place is missing");
    Place place{reader_.text(), reader_.text(), {}};
    while (reader_.has_more()) {
      if (!place.domains.insert(reader_.pair()).second) reader_.complain("a duplicate key");
    }
    places_.push_back(std::move(place));
  }
  Place place() {
    const std::size_t number = reader_.number();
    if (number < places_.size()) return places_[number];
    reader_.complain("an unknown place number");
    return {};
  }

 private:
  LedgerReader& reader_;
  std::vector<Place> places_;
};

Result<std::vector<Slot>> read_taints(std::string_view text) {
  LedgerReader reader(text);
  PlaceTable places(reader);
  if (auto fault = read_title(reader, kTaintsTitle, kTaintsVersion)) return *fault;
  std::vector<Slot> taints;
  for (bool is_at_end = false; !is_at_end && reader.fault().empty(); reader.end_line()) {
    const std::string_view kind = reader.begin_line();
    if (kind == "place") {
      places.read_line();
    } else if (kind == "taint") {
      Slot& slot = taints.emplace_back();
      slot.impact = Impact::kTaint;
      slot.remediation = reader.text();
      slot.node_uid = reader.text();
      slot.place = places.place();
      slot.since = reader.time();
    } else if (kind == "end") {
      is_at_end = true;
      read_end(reader);
    } else {
      reader.complain(kind.empty() ? "the end is missing" : "an unknown kind of line");
    }
  }
  if (!reader.fault().empty()) return broken("its taints: " + reader.fault());
  return taints;
}

class LedgerDecoder {
 public:
  explicit LedgerDecoder(std::string_view text) : reader_(text) {}

  Result<Ledger> run() {
    if (auto fault = read_title(reader_, kTitle, kVersion)) return *fault;
    while (!is_at_end_ && reader_.fault().empty()) read_entry();
    if (!has_breaker_) reader_.complain("there is no line for the circuit breaker");
    if (!reader_.fault().empty()) return broken(reader_.fault());
    return std::move(ledger_);
  }

 private:
  void read_entry() {
    const std::string_view kind = reader_.begin_line();
    if (kind == "breaker") {
      read_breaker();
    } else if (kind == "place") {
      places_.read_line();
    } else if (kind == "slot") {
      read_slot();
    } else if (kind == "start") {
      ledger_.starts.push_back({reader_.text(), reader_.known(parse_impact, "an unknown impact"),
                                places_.place(), reader_.time()});
    } else if (kind == "arrival") {
      ledger_.arrivals.push_back(
          {reader_.text(), reader_.text(), reader_.time(), reader_.is_first("seen", "new")});
    } else if (kind == "attempt") {
      read_attempt();
    } else if (kind == "end") {
      is_at_end_ = true;
      read_end(reader_);
    } else {
      reader_.complain(kind.empty() ? "the end is missing" : "an unknown kind of line");
    }
    reader_.end_line();
  }

  void read_breaker() {
    if (std::exchange(has_breaker_, true))
      reader_.complain("a second line for the circuit breaker");
    ledger_.breaker.open = reader_.is_first("open", "closed");
    ledger_.breaker.since = reader_.time();
    ledger_.breaker.by = reader_.text();
    ledger_.breaker.why = reader_.text();
  }

  void read_slot() {
    ledger_.slots.push_back({.remediation = reader_.text(),
                             .node_uid = reader_.text(),
                             .place = {},
                             .impact = reader_.known(parse_impact, "an unknown impact"),
                             .since = {}});
    if (ledger_.slots.back().impact == Impact::kTaint) reader_.complain("a slot cannot be a taint");
    ledger_.slots.back().place = places_.place();
    ledger_.slots.back().since = reader_.time();
  }

  void read_attempt() {
    Attempt attempt;
    attempt.remediation = reader_.text();
    attempt.hardware.instance_id = reader_.text();
    attempt.treatment = reader_.known(parse_treatment, "an unknown treatment");
    attempt.at = reader_.time();
    while (reader_.has_more()) attempt.hardware.serials.push_back(reader_.text());
    ledger_.attempts.push_back(std::move(attempt));
  }

  LedgerReader reader_;
  PlaceTable places_{reader_};
  Ledger ledger_;
  bool has_breaker_ = false;
  bool is_at_end_ = false;
};

}  // namespace

Result<std::string> encode_ledger(const Ledger& ledger) {
  LedgerWriter writer;
  writer.line(kTitle, std::size_t{kVersion});
  const Breaker& breaker = ledger.breaker;
  writer.line("breaker", breaker.open ? "open" : "closed", breaker.since, breaker.by, breaker.why);
  for (const Slot& slot : ledger.slots) writer.place(slot.place);
  for (const Start& start : ledger.starts) writer.place(start.place);
  for (const Slot& slot : ledger.slots) {
    writer.line("slot", slot.remediation, slot.node_uid, to_string(slot.impact),
                writer.number_of(slot.place), slot.since);
  }
  for (const Start& start : ledger.starts) {
    writer.line("start", start.remediation, to_string(start.impact), writer.number_of(start.place),
                start.at);
  }
  for (const Arrival& arrival : ledger.arrivals) {
    writer.line("arrival", arrival.remediation, arrival.node_uid, arrival.at,
                arrival.seen ? "seen" : "new");
  }
  for (const Attempt& attempt : ledger.attempts) {
    writer.line("attempt", attempt.remediation, attempt.hardware.instance_id,
                to_string(attempt.treatment), attempt.at, attempt.hardware.serials);
  }
  std::string text = writer.take();
  if (text.size() > kMaxLedgerBytes) {
    return fail(ErrorKind::kTooLarge, "the ledger would take " + std::to_string(text.size()) +
                                          " bytes; the limit is " +
                                          std::to_string(kMaxLedgerBytes));
  }
  return text;
}

Result<Ledger> decode_ledger(std::string_view text) {
  auto ledger = LedgerDecoder(text).run();
  // One blank too many, or an escape that gpuward does not write: another writer has changed it.
  if (ledger && encode_ledger(*ledger) != text)
    return fail(ErrorKind::kInvalid, "the ledger cannot be read: its text was changed");
  return ledger;
}

std::string encode_taints(const Ledger& ledger) {
  LedgerWriter writer;
  writer.line(kTaintsTitle, std::size_t{kTaintsVersion});
  for (const Slot& slot : ledger.taints) writer.place(slot.place);
  for (const Slot& slot : ledger.taints) {
    writer.line("taint", slot.remediation, slot.node_uid, writer.number_of(slot.place), slot.since);
  }
  return writer.take();
}

Result<std::vector<Slot>> decode_taints(std::string_view text) {
  auto taints = read_taints(text);
  if (!taints) return taints;
  Ledger ledger;
  ledger.taints = *std::move(taints);
  if (encode_taints(ledger) != text) return broken("its taints were changed");
  return std::move(ledger.taints);
}

}  // namespace gpuward::remediator
