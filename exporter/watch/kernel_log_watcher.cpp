#include "exporter/watch/kernel_log_watcher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "core/xid/parser.h"
#include "exporter/pods/users.h"
#include "exporter/watch/gpu_inventory.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::milliseconds kLongestWait{1'000};
// For one batch, so that a storm of errors does not become a storm of log lines.
constexpr std::size_t kMostLoggedEvents = 20;
constexpr BackoffPolicy kRetry{.first = std::chrono::milliseconds(250),
                               .longest = std::chrono::milliseconds(5'000)};

// Never logs the line itself: if the exporter's own log ends up in the log that it reads, the line
// would count as an event.
void log_events(const LogBatch& batch, Log& log) {
  const std::size_t all = batch.observations.size();
  for (std::size_t i = 0; i < std::min(all, kMostLoggedEvents); ++i) {
    const Observation& seen = batch.observations[i];
    const xid::Event& event = seen.event;
    log.warn("Kernel log event",
             {{"kind", std::string(to_string(event.kind))},
              {"code", event.code != 0 ? std::to_string(event.code) : event.label},
              {"pci_bus_id", event.pci ? event.pci->bus_id() : std::string()},
              {"severity", std::string(to_string(seen.verdict.severity))},
              {"evidence", std::string(to_string(seen.evidence))}});
  }
  if (all > kMostLoggedEvents) {
    log.warn("Further kernel log events were not logged",
             {{"count", std::to_string(all - kMostLoggedEvents)}});
  }
}

bool is_refused(const LogRecord& record, const Policy& policy) {
  return record.writer == Writer::kUserSpace &&
         policy.settings.user_space_lines == UserSpaceLines::kRefuse;
}

bool is_of_amd(xid::Kind kind) {
  return kind == xid::Kind::kAmdRas || kind == xid::Kind::kAmdReset ||
         kind == xid::Kind::kAmdHang || kind == xid::Kind::kAmdLost;
}

// amdgpu and AER print with dev_printk(), and the kernel adds the device to such a message.
bool names_device(xid::Kind kind) { return is_of_amd(kind) || kind == xid::Kind::kAer; }

bool is_of_kernel(const LogRecord& record) {
  return record.writer == Writer::kKernel && !xid::is_of_packet_filter(record.text);
}

bool trusts_programs(const Policy& policy) {
  return policy.settings.user_space_lines == UserSpaceLines::kTrust;
}

// Returns whether the message can be about this node's hardware: the kernel names the device if its
// driver prints that way, and a GPU of this node is at that address.
bool is_about_this_node(const xid::Event& event, const LogRecord& record,
                        const GpuAddresses& addresses) {
  if (names_device(event.kind)) {
    const auto device = parse_pci_address(record.pci_device);
    if (!device || device != event.pci) return false;
  }
  if (addresses.is_unknown()) return true;
  if (is_of_amd(event.kind)) return addresses.has_amd && addresses.has(*event.pci);
  return event.kind != xid::Kind::kXid || !event.pci || addresses.has(*event.pci);
}

Evidence evidence_of(const xid::Event& event, const LogRecord& record,
                     const RecordContext& context) {
  if (trusts_programs(context.policy)) return Evidence::kKernel;
  if (!is_of_kernel(record)) return Evidence::kUserSpace;
  static const GpuAddresses kAny;
  const GpuAddresses& addresses = context.addresses ? context.addresses() : kAny;
  return is_about_this_node(event, record, addresses) ? Evidence::kKernel : Evidence::kUserSpace;
}

// Returns whether the line contains an event behind a header of a log format that gpuward does not
// know.
bool has_unknown_header(const LogRecord& record) {
  if (record.writer != Writer::kUnknown || xid::is_of_another_program(record.text)) return false;
  const std::string_view found = xid::find_record(record.text);
  return found.size() != record.text.size() && xid::parse_record(found);
}

// Fills in everything but the verdict.
Observation observation_of(xid::Event event, const LogRecord& record,
                           const RecordContext& context) {
  Observation observation;
  observation.line = std::string(record.message());
  observation.seen = record.time.value_or(context.now);
  observation.evidence = evidence_of(event, record, context);
  observation.is_of_text_log = record.writer == Writer::kUnknown;
  observation.is_history = record.is_history;
  observation.is_of_earlier_boot = record.is_of_earlier_boot;
  observation.event = std::move(event);
  return observation;
}

// Adds the matches of the operator's own rules, in addition to gpuward's event.
void add_matches(const LogRecord& record, const RecordContext& context, LogBatch& batch) {
  const LineRules& rules = context.policy.settings.line_rules;
  if (rules.all().empty()) return;
  if (record.writer == Writer::kUnknown && xid::is_of_another_program(record.text)) return;
  for (const LineRule& rule : rules.match(record.message())) {
    Observation observation =
        observation_of(xid::labelled(xid::Kind::kRule, rule.code), record, context);
    observation.verdict = verdict_of(rule);
    batch.observations.push_back(std::move(observation));
  }
}

}  // namespace

void name_workloads(LogBatch& batch, const Snapshot& snapshot) {
  for (Observation& seen : batch.observations) {
    if (const Gpu* gpu = find_gpu(snapshot.gpus, seen.event.pci)) {
      seen.workload = workload_of(*gpu, snapshot);
    }
  }
}

void add_record(const LogRecord& record, const RecordContext& context, LogBatch& batch) {
  if (record.writer == Writer::kUserSpace) ++batch.numbers.user_space_lines;
  // No GPU driver prints its messages in pieces.
  if (record.writer == Writer::kPieces || is_refused(record, context.policy)) return;
  add_matches(record, context, batch);
  const std::string_view message = record.message();
  if (auto event = xid::parse_message(message)) {
    const Gpu* gpu = find_gpu(context.gpus, event->pci);
    const std::string_view gpu_name = gpu != nullptr ? std::string_view(gpu->name) : "";
    Observation observation = observation_of(*std::move(event), record, context);
    observation.verdict = context.policy.catalogue->judge(observation.event, gpu_name);
    if (record.is_history) ++batch.numbers.history_events;
    batch.observations.push_back(std::move(observation));
    return;
  }
  if (has_unknown_header(record)) ++batch.numbers.unknown_headers;
  auto line = xid::parse_uuid_line(message);
  // A UUID that a program wrote could send an operator to the wrong board.
  if (line && (is_of_kernel(record) || trusts_programs(context.policy)))
    batch.uuids.push_back(*std::move(line));
}

KernelLogWatcher::KernelLogWatcher(std::unique_ptr<KernelLogSource> source, Store& store,
                                   const CurrentPolicy& policy, Clock& clock, Log& log,
                                   AskAddresses addresses, Tap tap)
    : source_(std::move(source)),
      store_(store),
      policy_(policy),
      clock_(clock),
      log_(log),
      addresses_(std::move(addresses)),
      tap_(std::move(tap)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

KernelLogWatcher::~KernelLogWatcher() {
  thread_.request_stop();
  thread_.join();
}

void KernelLogWatcher::run(const std::stop_token& stop) {
  Backoff backoff(kRetry);
  while (!stop.stop_requested()) {
    const Status status = read_batch(stop);
    report(status);
    if (status) {
      backoff.reset();
    } else {
      clock_.sleep_for(backoff.next(), stop);
    }
  }
}

Status KernelLogWatcher::read_batch(const std::stop_token& stop) try {
  const std::shared_ptr<const Policy> policy = policy_.get();
  const std::vector<Gpu> gpus = store_.gpus();
  LogBatch batch;
  std::uint64_t handed_out = 0;
  std::optional<GpuAddresses> known;
  const auto addresses = [&]() -> const GpuAddresses& {
    if (!known) known = addresses_ ? addresses_() : GpuAddresses();
    return *known;
  };
  const auto sink = [&](const LogRecord& record) {
    ++handed_out;
    const auto start = clock_.steady();
    add_record(record, {*policy, gpus, clock_.wall(), addresses}, batch);
    if (tap_ && !is_refused(record, *policy))
      tap_(record.text, record.time.value_or(clock_.wall()));
    batch.numbers.parse_time += clock_.steady() - start;
  };
  const auto report = source_->read(sink, kLongestWait, stop);
  if (!report && handed_out == 0) return std::unexpected(report.error());
  // Also after a failure, because records that were handed out before it do not come again.
  const ReadCounts numbers = report.value_or(ReadCounts{.records = handed_out});
  batch.numbers.lines = numbers.records;
  batch.numbers.bytes = numbers.bytes;
  batch.numbers.gaps = numbers.gaps;
  batch.numbers.lost_records = numbers.lost_records;
  batch.position = source_->position();
  if (!batch.observations.empty()) name_workloads(batch, store_.snapshot());
  store_.apply(batch);
  log_events(batch, log_);
  if (batch.numbers.unknown_headers != 0 && !std::exchange(has_told_of_headers_, true))
    log_.warn("Kernel log has events with an unknown header, not counting them");
  if (!report) return std::unexpected(report.error());
  return {};
} catch (const std::exception& error) {
  return fail(ErrorKind::kInternal, std::string("reading the kernel log: ") + error.what());
}

void KernelLogWatcher::report(const Status& status) {
  const auto before = store_.health().kernel_log_fault;
  const std::optional<std::string> fault =
      status ? std::nullopt : std::optional(status.error().message);
  if (before == fault) return;
  store_.update_health([&](Health& health) { health.kernel_log_fault = fault; });
  if (fault) {
    log_.error("Cannot read kernel log, retrying", {{"error", *fault}});
  } else {
    log_.info("Reading kernel log");
  }
}

}  // namespace gpuward::exporter
