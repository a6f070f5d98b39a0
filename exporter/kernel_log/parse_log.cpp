#include "exporter/kernel_log/parse_log.h"

#include <cstdint>
#include <istream>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/json.h"
#include "core/runtime/text.h"
#include "core/xid/joiner.h"
#include "core/xid/parser.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMaxLine = 64U << 10U;
constexpr std::size_t kMaxText = 256;

// Writes the members of an object in the order in which they are added, which is part of the
// format.
class OrderedObject {
 public:
  void add(std::string_view key, std::string_view text) {
    add_raw(key, dump_json(Json(to_valid_utf8(text, kMaxText))));
  }
  void add(std::string_view key, std::int64_t number) { add_raw(key, std::to_string(number)); }
  void add_null(std::string_view key) { add_raw(key, "null"); }

  template <typename T>
  void add_or_null(std::string_view key, const std::optional<T>& value) {
    value ? add(key, *value) : add_null(key);
  }
  template <typename T>
  void add_if(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, *value);
  }

  [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }

 private:
  void add_raw(std::string_view key, std::string_view json) {
    if (!members_.empty()) members_ += ',';
    members_ += '"';
    members_ += key;
    members_ += "\":";
    members_ += json;
  }

  std::string members_;
};

std::string_view to_word(xid::Fatality fatality) {
  switch (fatality) {
    case xid::Fatality::kUnknown:
      return {};
    case xid::Fatality::kCorrectable:
      return "correctable";
    case xid::Fatality::kNonFatal:
      return "non-fatal";
    case xid::Fatality::kFatal:
      return "fatal";
  }
  return {};
}

void add_code(const xid::Event& event, OrderedObject& object) {
  if (event.kind == xid::Kind::kXid || event.kind == xid::Kind::kSxid) {
    object.add("code", static_cast<std::int64_t>(event.code));
  } else {
    object.add("code", event.label);
  }
}

// The details of some events follow the members of all events.
void add_details(const xid::Event& event, OrderedObject& object) {
  object.add_if("gpu_instance", event.gpu_instance);
  object.add_if("compute_instance", event.compute_instance);
  object.add_if("link", event.link);
  if (event.fatality != xid::Fatality::kUnknown) object.add("fatality", to_word(event.fatality));
  object.add_if("recovery_to", event.recovery_to);
  object.add_if("caused_by_xid", event.caused_by_xid);
  if (!event.switch_name.empty()) object.add("switch", event.switch_name);
  if (event.count != 1) object.add("count", static_cast<std::int64_t>(event.count));
}

std::string render(std::uint64_t line, const xid::Event& event, const xid::Assessment& verdict) {
  OrderedObject object;
  object.add("line", static_cast<std::int64_t>(line));
  object.add("kind", xid::to_string(event.kind));
  add_code(event, object);
  object.add_or_null("pci_bus_id", event.pci ? std::optional{event.pci->full()} : std::nullopt);
  object.add_or_null("pid", event.pid);
  object.add_or_null("process", event.process);
  object.add("severity", to_string(verdict.severity));
  object.add("action", verdict.action);
  add_details(event, object);
  return object.text();
}

// Reads the next line without its end; false at the end of the input. Drops the part of a line
// beyond the cap.
bool read_line(std::istream& in, std::vector<char>& buffer, std::string_view& line) {
  in.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  auto size = static_cast<std::size_t>(in.gcount());
  if (in.bad() || (size == 0 && in.fail())) return false;
  if (in.fail()) {
    in.clear();
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  } else if (!in.eof()) {
    --size;  // the line break, which is counted but not stored
  }
  line = {buffer.data(), size};
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

}  // namespace

int run_parse_log(std::istream& in, std::ostream& out, const xid::Catalogue& catalogue,
                  const LineRules& rules) {
  std::vector<char> buffer(kMaxLine + 1);
  xid::RecordJoiner joiner;
  std::string_view line;
  while (out && read_line(in, buffer, line)) {
    const auto record = joiner.push(xid::find_record(line));
    if (!rules.all().empty() && !xid::is_of_another_program(record.text)) {
      for (const LineRule& rule : rules.match(xid::strip_prefixes(record.text))) {
        const auto match = xid::labelled(xid::Kind::kRule, rule.code);
        out << render(record.line, match, verdict_of(rule)) << '\n';
      }
    }
    const auto event = xid::parse_record(record.text);
    if (event) out << render(record.line, *event, catalogue.judge(*event)) << '\n';
  }
  out.flush();
  return out ? 0 : 1;
}

}  // namespace gpuward::exporter
