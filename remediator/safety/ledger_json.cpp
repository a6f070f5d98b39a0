#include "remediator/safety/ledger_json.h"

#include <map>
#include <utility>

#include "core/runtime/clock.h"
#include "core/runtime/json.h"

namespace gpuward::remediator {
namespace {

constexpr int kVersion = 1;

// Hundreds of entries share few places: each is written once and named by its number.
class PlaceTable {
 public:
  std::size_t number_of(const Place& place) {
    const auto [found, is_new] = numbers_.try_emplace(place, numbers_.size());
    if (is_new) {
      list_.push_back({{"pool", place.pool}, {"zone", place.zone}, {"domains", place.domains}});
    }
    return found->second;
  }
  Json take_list() { return std::move(list_); }

 private:
  std::map<Place, std::size_t> numbers_;
  Json list_ = Json::array();
};

Json encode_slot(const Slot& slot, PlaceTable& places) {
  return {{"remediation", slot.remediation},   {"node", slot.node},
          {"nodeUID", slot.node_uid},          {"instanceID", slot.instance_id},
          {"harm", to_string(slot.harm)},      {"place", places.number_of(slot.place)},
          {"since", to_rfc3339_ms(slot.since)}};
}

Json encode_start(const Start& start, PlaceTable& places) {
  return {{"remediation", start.remediation},
          {"harm", to_string(start.harm)},
          {"place", places.number_of(start.place)},
          {"at", to_rfc3339_ms(start.at)}};
}

Json encode_arrival(const Arrival& arrival) {
  return {{"remediation", arrival.remediation},
          {"nodeUID", arrival.node_uid},
          {"at", to_rfc3339_ms(arrival.at)},
          {"seen", arrival.seen}};
}

Json encode_attempt(const Attempt& attempt) {
  return {{"remediation", attempt.remediation},
          {"instanceID", attempt.hardware.instance_id},
          {"serials", attempt.hardware.serials},
          {"treatment", to_string(attempt.treatment)},
          {"at", to_rfc3339_ms(attempt.at)}};
}

Json encode_breaker(const Breaker& breaker) {
  return {{"open", breaker.open},
          {"since", to_rfc3339_ms(breaker.since)},
          {"why", breaker.why},
          {"by", breaker.by}};
}

// Reads fields of one text and remembers the first that is not there or of another type: a reader
// that goes on with a default would forget what was spent.
class LedgerReader {
 public:
  [[nodiscard]] const std::string& fault() const { return fault_; }

  const Json& list(const Json& root, const char* key) {
    const Json& value = member_at(root, key);
    if (!value.is_array()) complain(std::string(key) + " is not a list");
    return value;
  }

  std::string text(const Json& object, const char* key) {
    const Json& value = member_at(object, key);
    if (value.is_string()) return value.get<std::string>();
    complain(std::string(key) + " is missing");
    return {};
  }

  WallTime time(const Json& object, const char* key) {
    if (const auto parsed = parse_rfc3339(text(object, key))) return *parsed;
    complain(std::string(key) + " is no time");
    return {};
  }

  Harm harm(const Json& object) {
    if (const auto parsed = parse_harm(text(object, "harm"))) return *parsed;
    complain("harm is unknown");
    return Harm::kTerminate;
  }

  Treatment treatment(const Json& object) {
    if (const auto parsed = parse_treatment(text(object, "treatment"))) return *parsed;
    complain("treatment is unknown");
    return Treatment::kTerminate;
  }

  bool flag(const Json& object, const char* key) {
    const Json& value = member_at(object, key);
    if (!value.is_boolean()) complain(std::string(key) + " is neither true nor false");
    return value.is_boolean() && value.get<bool>();
  }

  std::vector<std::string> texts(const Json& object, const char* key) {
    std::vector<std::string> read;
    for (const Json& value : list(object, key)) {
      if (!value.is_string()) complain(std::string(key) + " holds what is no text");
      if (value.is_string()) read.push_back(value.get<std::string>());
    }
    return read;
  }

  void read_places(const Json& root) {
    for (const Json& entry : list(root, "places")) {
      Place place{text(entry, "pool"), text(entry, "zone"), {}};
      const Json& domains = member_at(entry, "domains");
      if (!domains.is_object()) complain("domains is no mapping");
      if (!domains.is_object()) continue;
      for (const auto& [key, value] : domains.items())
        place.domains.emplace(key, text(domains, key.c_str()));
      places_.push_back(std::move(place));
    }
  }

  Place place(const Json& object) {
    const Json& number = member_at(object, "place");
    if (number.is_number_unsigned() && number.get<std::size_t>() < places_.size())
      return places_[number.get<std::size_t>()];
    complain("place is not one of the places");
    return {};
  }

 private:
  void complain(const std::string& what) {
    if (fault_.empty()) fault_ = what;
  }
  std::string fault_;
  std::vector<Place> places_;
};

Hardware read_hardware(const Json& json, LedgerReader& reader) {
  return {reader.text(json, "instanceID"), reader.texts(json, "serials")};
}

Slot read_slot(const Json& json, LedgerReader& reader) {
  Slot slot;
  slot.remediation = reader.text(json, "remediation");
  slot.node = reader.text(json, "node");
  slot.node_uid = reader.text(json, "nodeUID");
  slot.instance_id = reader.text(json, "instanceID");
  slot.place = reader.place(json);
  slot.harm = reader.harm(json);
  slot.since = reader.time(json, "since");
  return slot;
}

Ledger read_ledger(const Json& root, LedgerReader& reader) {
  Ledger ledger;
  reader.read_places(root);
  for (const Json& json : reader.list(root, "slots"))
    ledger.slots.push_back(read_slot(json, reader));
  for (const Json& json : reader.list(root, "starts"))
    ledger.starts.push_back({reader.text(json, "remediation"), reader.harm(json),
                             reader.place(json), reader.time(json, "at")});
  for (const Json& json : reader.list(root, "arrivals"))
    ledger.arrivals.push_back({reader.text(json, "remediation"), reader.text(json, "nodeUID"),
                               reader.time(json, "at"), reader.flag(json, "seen")});
  for (const Json& json : reader.list(root, "attempts"))
    ledger.attempts.push_back({reader.text(json, "remediation"), read_hardware(json, reader),
                               reader.treatment(json), reader.time(json, "at")});
  const Json& breaker = member_at(root, "breaker");
  ledger.breaker = {reader.flag(breaker, "open"), reader.time(breaker, "since"),
                    reader.text(breaker, "why"), reader.text(breaker, "by")};
  return ledger;
}

}  // namespace

Result<std::string> encode_ledger(const Ledger& ledger) {
  PlaceTable places;
  Json root = {{"version", kVersion}, {"breaker", encode_breaker(ledger.breaker)}};
  for (const char* key : {"slots", "starts", "arrivals", "attempts"}) root[key] = Json::array();
  for (const Slot& slot : ledger.slots) root["slots"].push_back(encode_slot(slot, places));
  for (const Start& start : ledger.starts) root["starts"].push_back(encode_start(start, places));
  for (const Arrival& arrival : ledger.arrivals)
    root["arrivals"].push_back(encode_arrival(arrival));
  for (const Attempt& attempt : ledger.attempts)
    root["attempts"].push_back(encode_attempt(attempt));
  root["places"] = places.take_list();
  std::string text = dump_json(root);
  if (text.size() > kMaxLedgerBytes) {
    return fail(ErrorKind::kTooLarge, "the ledger would take " + std::to_string(text.size()) +
                                          " bytes, " + std::to_string(kMaxLedgerBytes) +
                                          " are allowed");
  }
  return text;
}

Result<Ledger> decode_ledger(std::string_view text) {
  const auto root = parse_json(text, {.max_bytes = 2U << 20U, .max_depth = 8});
  if (!root) return with_context("the ledger cannot be read", root.error());
  const Json& version = member_at(*root, "version");
  if (!version.is_number_integer() || version.get<std::int64_t>() != kVersion) {
    return fail(ErrorKind::kInvalid, "the ledger is of version " + dump_json(version) +
                                         ", this gpuward-remediator reads version " +
                                         std::to_string(kVersion));
  }
  LedgerReader reader;
  Ledger ledger = read_ledger(*root, reader);
  if (!reader.fault().empty())
    return fail(ErrorKind::kInvalid, "the ledger cannot be read: " + reader.fault());
  return ledger;
}

}  // namespace gpuward::remediator
