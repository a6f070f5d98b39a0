#include "exporter/store/state_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "core/model/pci_address.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"

namespace gpuward::exporter {
namespace {

constexpr std::int64_t kSchemaVersion = 2;
constexpr std::int64_t kOldestSchemaVersion = 1;  // without boards, checks and first_boot_id
constexpr std::size_t kMostBytes = 32U << 20U;

// ---- writing

std::int64_t to_ms(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

Json position_json(const LogPosition& position) {
  Json json = {{"path", position.path},
               {"boot_id", position.boot_id},
               {"inode", position.inode},
               {"offset", position.offset},
               {"fingerprint", position.fingerprint}};
  if (position.sequence) json["sequence"] = *position.sequence;
  return json;
}

Json counter_json(const CounterKey& key, const Counter& counter) {
  return {{"kind", std::string(xid::to_string(key.kind))},
          {"code", key.code},
          {"label", key.label},
          {"pci_bus_id", key.pci_bus_id},
          {"switch", key.switch_name},
          {"count", counter.count},
          {"last_seen_ms", to_ms(counter.last_seen)}};
}

Json finding_json(const Finding& finding) {
  Json json = {{"check", finding.check},
               {"code", finding.code},
               {"pci_bus_id", finding.pci_bus_id},
               {"severity", std::string(to_string(finding.severity))},
               {"cleared_by", std::string(to_string(finding.cleared_by))},
               {"evidence", std::string(to_string(finding.evidence))},
               {"line", finding.line},
               {"why", finding.why},
               {"first_seen_ms", to_ms(finding.first_seen)},
               {"last_seen_ms", to_ms(finding.last_seen)},
               {"count", finding.count},
               {"first_boot_id", finding.first_boot_id},
               {"last_boot_id", finding.last_boot_id},
               {"workload", finding.workload}};
  if (!finding.event.empty()) json["event"] = finding.event;
  if (finding.is_by_library_alone) json["is_by_library_alone"] = true;
  if (finding.is_too_soon) json["is_too_soon"] = true;
  if (finding.history != Severity::kNone) json["history"] = std::string(to_string(finding.history));
  if (finding.is_of_earlier_boot) json["is_of_earlier_boot"] = true;
  if (!finding.witness.empty()) {
    json["witness"] = finding.witness;
    json["witnessed"] = std::string(to_string(finding.witnessed));
  }
  return json;
}

Json settled_json(const FindingKey& key, const std::string& event) {
  return {{"check", key.check},
          {"code", key.code},
          {"pci_bus_id", key.pci_bus_id},
          {"evidence", std::string(to_string(key.evidence))},
          {"event", event}};
}

Json check_json(const CheckResult& result) {
  return {{"check", result.check},
          {"status", std::string(to_string(result.status))},
          {"severity", std::string(to_string(result.severity))},
          {"details", result.details},
          {"started_ms", to_ms(result.started)},
          {"duration_ms", static_cast<std::uint64_t>(result.duration.count())}};
}

Json counts_json(const GpuCounts& counts) {
  Json json = Json::object();
  for (const auto& [vendor, count] : counts) json[std::string(to_string(vendor))] = count;
  return json;
}

Json links_json(const std::map<std::string, KnownLinks>& links) {
  Json json = Json::object();
  for (const auto& [uuid, of_gpu] : links)
    json[uuid] = {{"boot_id", of_gpu.boot_id}, {"active", of_gpu.active}};
  return json;
}

Json machine_json(const KnownMachine& known) {
  return {
      {"system_uuid", known.machine.system_uuid}, {"product_name", known.machine.product_name},
      {"instance_type", known.instance_type},     {"instance_type_boot_id", known.type_boot_id},
      {"most_gpus", counts_json(known.most)},     {"labelled_gpus", counts_json(known.labelled)},
      {"efa_devices", known.efa_devices},         {"links", links_json(known.links)}};
}

// ---- reading: a wrong field makes the whole file invalid. A counter or a finding with a name of a
// later release is left out, because it is not wrong.

// Reads members of one object, and keeps the first invalid one for the message.
class Fields {
 public:
  Fields(const Json& object, std::string& fault) : object_(object), fault_(fault) {}

  [[nodiscard]] std::string text(const char* key) const {
    const Json& value = member_at(object_, key);
    if (!value.is_string()) return reject(key), std::string();
    return value.get<std::string>();
  }
  [[nodiscard]] std::uint64_t count(const char* key) const {
    const Json& value = member_at(object_, key);
    if (!value.is_number_unsigned()) return reject(key), 0;
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] WallTime time(const char* key) const {
    const Json& value = member_at(object_, key);
    if (!value.is_number_integer()) return reject(key), WallTime{};
    return WallTime(std::chrono::milliseconds(value.get<std::int64_t>()));
  }
  // Returns the enumerator up to `last` whose to_string() is this text.
  template <typename Enum>
  [[nodiscard]] Enum name(const char* key, Enum last) const {
    const auto named = find(text(key), last);
    if (!named) reject(key);
    return named.value_or(Enum{});
  }
  // Returns whether the member is a text that name() would not know.
  template <typename Enum>
  [[nodiscard]] bool is_of_later_release(const char* key, Enum last) const {
    const Json& value = member_at(object_, key);
    return value.is_string() && !find(value.get<std::string>(), last);
  }
  // For members that an older version does not write.
  [[nodiscard]] bool has(const char* key) const { return !member_at(object_, key).is_null(); }
  void reject(const char* key) const {
    if (fault_.empty()) fault_ = std::string(key) + " is missing or invalid";
  }

 private:
  template <typename Enum>
  static std::optional<Enum> find(std::string_view text, Enum last) {
    for (int i = 0; i <= static_cast<int>(last); ++i) {
      if (to_string(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }

  const Json& object_;
  std::string& fault_;
};

LogPosition read_position(const Json& json, std::string& fault) {
  const Fields fields(json, fault);
  LogPosition position;
  position.path = fields.text("path");
  position.boot_id = fields.text("boot_id");
  position.inode = fields.count("inode");
  position.offset = fields.count("offset");
  position.fingerprint = fields.count("fingerprint");
  if (!member_at(json, "sequence").is_null()) position.sequence = fields.count("sequence");
  return position;
}

void read_counter(const Json& json, State& state, std::string& fault) {
  const Fields fields(json, fault);
  if (fields.is_of_later_release("kind", xid::Kind::kRule)) return;
  CounterKey key;
  key.kind = fields.name("kind", xid::Kind::kRule);
  const std::uint64_t code = fields.count("code");
  if (code > std::numeric_limits<std::uint32_t>::max()) fields.reject("code");
  key.code = static_cast<std::uint32_t>(code);
  key.label = fields.text("label");
  key.pci_bus_id = fields.text("pci_bus_id");
  key.switch_name = fields.text("switch");
  state.counters[key] = {fields.count("count"), fields.time("last_seen_ms")};
}

void read_finding(const Json& json, State& state, std::string& fault) {
  const Fields fields(json, fault);
  if (fields.is_of_later_release("cleared_by", ClearedBy::kCheck) ||
      fields.is_of_later_release("evidence", Evidence::kMeasured))
    return;
  Finding finding;
  finding.check = fields.text("check");
  finding.code = fields.text("code");
  finding.pci_bus_id = fields.text("pci_bus_id");
  finding.severity = fields.name("severity", Severity::kIsolate);
  finding.cleared_by = fields.name("cleared_by", ClearedBy::kCheck);
  finding.evidence = fields.name("evidence", Evidence::kMeasured);
  finding.line = fields.text("line");
  finding.why = fields.text("why");
  finding.first_seen = fields.time("first_seen_ms");
  finding.last_seen = fields.time("last_seen_ms");
  finding.count = fields.count("count");
  if (fields.has("first_boot_id")) finding.first_boot_id = fields.text("first_boot_id");
  if (fields.has("last_boot_id")) finding.last_boot_id = fields.text("last_boot_id");
  if (fields.has("workload")) finding.workload = fields.text("workload");
  if (fields.has("event")) finding.event = fields.text("event");
  finding.is_by_library_alone = fields.has("is_by_library_alone");
  finding.is_too_soon = fields.has("is_too_soon");
  if (fields.has("history")) finding.history = fields.name("history", Severity::kIsolate);
  finding.is_of_earlier_boot = fields.has("is_of_earlier_boot");
  if (fields.has("witness")) {
    finding.witness = fields.text("witness");
    finding.witnessed = fields.name("witnessed", Severity::kIsolate);
  }
  FindingKey key{finding.check, finding.code, finding.pci_bus_id, finding.evidence};
  state.findings[std::move(key)] = std::move(finding);
}

void read_settled(const Json& json, State& state, std::string& fault) {
  const Fields fields(json, fault);
  if (fields.is_of_later_release("evidence", Evidence::kMeasured)) return;
  FindingKey key;
  key.check = fields.text("check");
  key.code = fields.text("code");
  key.pci_bus_id = fields.text("pci_bus_id");
  key.evidence = fields.name("evidence", Evidence::kMeasured);
  state.settled[std::move(key)] = fields.text("event");
}

void read_check(const Json& json, State& state, std::string& fault) {
  const Fields fields(json, fault);
  CheckResult result;
  result.check = fields.text("check");
  result.status = fields.name("status", CheckStatus::kError);
  result.severity = fields.name("severity", Severity::kIsolate);
  result.details = fields.text("details");
  result.started = fields.time("started_ms");
  const std::uint64_t duration = fields.count("duration_ms");
  constexpr std::uint64_t kMostMs = 1'000'000'000'000;
  if (duration > kMostMs) fields.reject("duration_ms");
  result.duration = std::chrono::milliseconds(std::min(duration, kMostMs));
  std::string name = result.check;
  state.checks[std::move(name)] = std::move(result);
}

GpuCounts read_counts(const Json& json, std::string& fault) {
  const Fields fields(json, fault);
  GpuCounts counts;
  for (const Vendor vendor : {Vendor::kNvidia, Vendor::kAmd}) {
    const std::string name(to_string(vendor));
    if (fields.has(name.c_str())) {
      constexpr std::uint64_t kMostGpus = 1'000'000;
      counts[vendor] = static_cast<unsigned>(std::min(fields.count(name.c_str()), kMostGpus));
    }
  }
  return counts;
}

std::map<std::string, KnownLinks> read_links(const Json& json, std::string& fault) {
  std::map<std::string, KnownLinks> links;
  for (const auto& [uuid, item] : json.items()) {
    const Fields fields(item, fault);
    links[uuid] = {fields.text("boot_id"), fields.count("active")};
  }
  return links;
}

KnownMachine read_machine_known(const Json& json, std::string& fault) {
  const Fields fields(json, fault);
  KnownMachine known;
  known.machine.system_uuid = fields.text("system_uuid");
  known.machine.product_name = fields.text("product_name");
  known.instance_type = fields.text("instance_type");
  if (fields.has("instance_type_boot_id"))
    known.type_boot_id = fields.text("instance_type_boot_id");
  known.most = read_counts(member_at(json, "most_gpus"), fault);
  known.labelled = read_counts(member_at(json, "labelled_gpus"), fault);
  if (fields.has("efa_devices")) {
    constexpr std::uint64_t kMostDevices = 1024;
    known.efa_devices = static_cast<unsigned>(std::min(fields.count("efa_devices"), kMostDevices));
  }
  if (fields.has("links")) known.links = read_links(member_at(json, "links"), fault);
  return known;
}

void read_names(const Json& json, const char* key, std::map<std::string, std::string>& names,
                std::string& fault) {
  const Fields fields(json, fault);
  for (const auto& [bus_id, name] : member_at(json, key).items()) {
    if (!name.is_string()) fields.reject(key);
    if (name.is_string()) names[bus_id] = name.get<std::string>();
  }
}

}  // namespace

std::string to_state_json(const State& state) {
  Json counters = Json::array();
  for (const auto& [key, counter] : state.counters) counters.push_back(counter_json(key, counter));
  Json findings = Json::array();
  for (const auto& [key, finding] : state.findings) findings.push_back(finding_json(finding));
  Json settled = Json::array();
  for (const auto& [key, event] : state.settled) settled.push_back(settled_json(key, event));
  Json checks = Json::array();
  for (const auto& [name, result] : state.checks) checks.push_back(check_json(result));
  const Json json = {{"schema_version", kSchemaVersion},
                     {"boot_id", state.boot_id},
                     {"position", position_json(state.position)},
                     {"counters", std::move(counters)},
                     {"findings", std::move(findings)},
                     {"settled", std::move(settled)},
                     {"uuids", state.uuids},
                     {"boards", state.boards},
                     {"boards_boot_id", state.boards_boot_id},
                     {"checks", std::move(checks)},
                     {"machine", machine_json(state.machine)},
                     {"dropped_events", state.dropped_events},
                     {"findings_updated_ms", to_ms(state.findings_updated)}};
  return dump_json(json);
}

Result<State> parse_state_json(std::string_view text) {
  const auto json =
      parse_json(text, {.max_bytes = kMostBytes, .max_depth = 8, .max_values = 1'000'000});
  if (!json) return std::unexpected(json.error());
  const Json& version = member_at(*json, "schema_version");
  if (!version.is_number_integer() || version < kOldestSchemaVersion || version > kSchemaVersion) {
    return fail(ErrorKind::kInvalid, "schema_version is " + dump_json(version) +
                                         "; this program writes version " +
                                         std::to_string(kSchemaVersion));
  }
  std::string fault;
  const Fields fields(*json, fault);
  State state;
  state.boot_id = fields.text("boot_id");
  state.dropped_events = fields.count("dropped_events");
  state.findings_updated = fields.time("findings_updated_ms");
  state.position = read_position(member_at(*json, "position"), fault);
  for (const Json& item : member_at(*json, "counters")) read_counter(item, state, fault);
  for (const Json& item : member_at(*json, "findings")) read_finding(item, state, fault);
  for (const Json& item : member_at(*json, "settled")) read_settled(item, state, fault);
  for (const Json& item : member_at(*json, "checks")) read_check(item, state, fault);
  read_names(*json, "uuids", state.uuids, fault);
  read_names(*json, "boards", state.boards, fault);
  if (fields.has("boards_boot_id")) state.boards_boot_id = fields.text("boards_boot_id");
  if (fields.has("machine")) {
    state.machine = read_machine_known(member_at(*json, "machine"), fault);
  }
  if (!fault.empty()) return fail(ErrorKind::kInvalid, fault);
  return state;
}

StateFile::StateFile(const std::filesystem::path& folder)
    : path_(folder / "state.json"), previous_(folder / "state.json.previous") {}

Result<State> StateFile::read(const std::filesystem::path& path) {
  const auto text = read_file(path, kMostBytes);
  if (!text) return std::unexpected(text.error());
  auto state = parse_state_json(*text);
  if (state) return state;
  return fail(ErrorKind::kInvalid, path.string() + ": " + state.error().message);
}

Result<State> StateFile::read() const { return read(path_); }

StateFile::Loaded StateFile::load() const {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);  // save() reports the error
  auto state = read();
  if (state) return {.state = *std::move(state), .fault = {}};
  std::filesystem::path aside = path_;
  aside += ".broken";
  if (state.error().kind == ErrorKind::kNotFound) {
    auto previous = read(previous_);
    // An earlier run set the file aside and ended before its first save.
    if (!std::filesystem::exists(aside, error) || !previous) return {};
    return {
        .state = *std::move(previous),
        .fault = path_.string() + " is missing; an earlier start set it aside as " + aside.string(),
        .is_previous = true};
  }
  std::filesystem::rename(path_, aside, error);
  Loaded loaded;
  loaded.fault = state.error().message + (error ? "; it could not be set aside: " + error.message()
                                                : "; set aside as " + aside.string());
  auto previous = read(previous_);
  if (!previous) return loaded;
  loaded.state = *std::move(previous);
  loaded.is_previous = true;
  return loaded;
}

void StateFile::keep_previous() const {
  std::filesystem::path link = previous_;
  link += ".new";
  std::error_code error;
  std::filesystem::remove(link, error);
  std::filesystem::create_hard_link(path_, link, error);
  if (!error) std::filesystem::rename(link, previous_, error);
}

Status StateFile::save(std::string_view text) const {
  std::error_code error;
  std::filesystem::create_directories(path_.parent_path(), error);
  if (error) {
    return fail(ErrorKind::kUnavailable, "creating the state folder " +
                                             path_.parent_path().string() + ": " + error.message());
  }
  keep_previous();
  return write_file_atomically(path_, text, 0640);
}

}  // namespace gpuward::exporter
