#include "exporter/watch/kernel_log_watcher.h"

#include <gtest/gtest.h>

#include <deque>
#include <mutex>
#include <utility>

#include "core/runtime/clock.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kXid79 =
    "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

class AddRecord : public testing::Test {
 protected:
  LogBatch add(const LogRecord& record, UserSpaceLines rule = UserSpaceLines::kMark) {
    Settings settings;
    settings.user_space_lines = rule;
    const Policy policy{settings, std::make_shared<const xid::Catalogue>()};
    LogBatch batch;
    add_record(record, {policy, {}, at_second(9)}, batch);
    return batch;
  }
};

TEST_F(AddRecord, JudgesAnEventAndKeepsItsTimeAndLine) {
  const LogBatch batch = add({kXid79, Writer::kKernel, at_second(1)});

  ASSERT_EQ(batch.observations.size(), 1U);
  const Observation& seen = batch.observations.front();
  EXPECT_EQ(seen.event.code, 79U);
  EXPECT_EQ(seen.verdict.severity, Severity::kReboot);
  EXPECT_EQ(seen.evidence, Evidence::kKernel);
  EXPECT_EQ(seen.seen, at_second(1));
  EXPECT_EQ(seen.line, kXid79);
}

TEST_F(AddRecord, CountsAnEventThatIsHistory) {
  const LogBatch batch = add({.text = kXid79,
                              .writer = Writer::kKernel,
                              .time = at_second(1),
                              .is_history = true,
                              .is_of_earlier_boot = true});

  ASSERT_EQ(batch.observations.size(), 1U);
  EXPECT_TRUE(batch.observations.front().is_history);
  EXPECT_TRUE(batch.observations.front().is_of_earlier_boot);
  EXPECT_EQ(batch.numbers.history_events, 1U);
  EXPECT_EQ(add({kXid79, Writer::kKernel}).numbers.history_events, 0U);
}

TEST_F(AddRecord, CountsALineWhoseHeaderItDoesNotKnow) {
  const auto unknown = [&](const std::string& header) {
    const std::string line = header + std::string(kXid79);
    const LogBatch batch = add({line, Writer::kUnknown});
    EXPECT_EQ(batch.observations.size() + batch.numbers.unknown_headers,
              header.contains("sshd") ? 0U : 1U)
        << header;
    return batch.numbers.unknown_headers;
  };
  EXPECT_EQ(unknown("|2026/11/28|node|"), 1U);
  EXPECT_EQ(unknown("Nov 28 12:00:01 node kernel: "), 0U);
  EXPECT_EQ(unknown("Nov 28 12:00:01 node sshd[1]: "), 0U) << "another program quotes it";
}

TEST_F(AddRecord, TakesTheTimeOfReadingIfTheRecordHasNone) {
  EXPECT_EQ(add({kXid79, Writer::kKernel}).observations.front().seen, at_second(9));
}

TEST_F(AddRecord, MarksWhatUserSpaceHasWritten) {
  const LogBatch batch = add({kXid79, Writer::kUserSpace});

  EXPECT_EQ(batch.observations.front().evidence, Evidence::kUserSpace);
  EXPECT_EQ(batch.numbers.user_space_lines, 1U);
}

TEST_F(AddRecord, RefusesOrTrustsUserSpaceIfToldSo) {
  EXPECT_TRUE(add({kXid79, Writer::kUserSpace}, UserSpaceLines::kRefuse).observations.empty());
  EXPECT_EQ(add({kXid79, Writer::kUserSpace}, UserSpaceLines::kTrust).observations.front().evidence,
            Evidence::kKernel);
  EXPECT_EQ(add({kXid79, Writer::kUserSpace}, UserSpaceLines::kRefuse).numbers.user_space_lines,
            1U);
}

TEST_F(AddRecord, LearnsUuidsFromTheKernelOnly) {
  constexpr std::string_view kLine =
      "NVRM: GPU at PCI:0000:4e:00: GPU-bc0fa0b9-cac2-f507-b715-9bebdb69c71e";

  EXPECT_EQ(add({kLine, Writer::kKernel}).uuids.size(), 1U);
  EXPECT_TRUE(add({kLine, Writer::kUserSpace}).uuids.empty());
  EXPECT_TRUE(add({kLine, Writer::kUnknown}).uuids.empty());
}

TEST_F(AddRecord, MakesNothingOfOrdinaryLines) {
  const LogBatch batch = add({"usb 1-1: new high-speed USB device", Writer::kKernel});

  EXPECT_TRUE(batch.observations.empty());
  EXPECT_TRUE(batch.uuids.empty());
}

constexpr std::string_view kRasError =
    "amdgpu 0000:05:00.0: 1 uncorrectable hardware errors detected in umc block";

class AddressOfRecord : public testing::Test {
 protected:
  // If the writer is kUserSpace, the line counts only as a program's.
  Evidence evidence(LogRecord record) {
    Settings settings;
    const Policy policy{settings, std::make_shared<const xid::Catalogue>()};
    LogBatch batch;
    add_record(record, {policy, {}, at_second(9), [&]() -> const GpuAddresses& { return known; }},
               batch);
    EXPECT_EQ(batch.observations.size(), 1U);
    return batch.observations.empty() ? Evidence::kMeasured : batch.observations.front().evidence;
  }
  GpuAddresses known;
};

TEST_F(AddressOfRecord, IsThatOfAGpuOfThisNode) {
  known.bus_ids = {"0000:4e:00"};
  EXPECT_EQ(evidence({.text = kXid79}), Evidence::kKernel);
  known.bus_ids = {"0000:5e:00"};
  EXPECT_EQ(evidence({.text = kXid79}), Evidence::kUserSpace);
}

TEST_F(AddressOfRecord, MayBeAnyBeforeTheNodeHasSaidWhatItHas) {
  EXPECT_EQ(evidence({.text = kXid79}), Evidence::kKernel);
}

TEST_F(AddressOfRecord, StandsBesideAMessageOfAmdgpu) {
  known = {.bus_ids = {"0000:05:00"}, .has_amd = true};
  EXPECT_EQ(evidence({.text = kRasError, .pci_device = "0000:05:00.0"}), Evidence::kKernel);
  EXPECT_EQ(evidence({.text = kRasError}), Evidence::kUserSpace);
  EXPECT_EQ(evidence({.text = kRasError, .pci_device = "0000:06:00.0"}), Evidence::kUserSpace);
}

TEST_F(AddressOfRecord, StandsBesideEachKindOfMessageOfAmdgpu) {
  known = {.bus_ids = {"0000:05:00"}, .has_amd = true};
  for (const char* message : {"amdgpu 0000:05:00.0: amdgpu: device lost from bus!",
                              "amdgpu 0000:05:00.0: amdgpu: MES might be in unrecoverable state",
                              "amdgpu 0000:05:00.0: amdgpu: RAS records:257 exceed threshold:256",
                              "amdgpu 0000:05:00.0: amdgpu: GPU mode1 reset failed"}) {
    EXPECT_EQ(evidence({.text = message, .pci_device = "0000:05:00.0"}), Evidence::kKernel)
        << message;
    EXPECT_EQ(evidence({.text = message}), Evidence::kUserSpace) << message;
  }
}

TEST_F(AddressOfRecord, OfAmdgpuIsNoneOnANodeWithoutAnAmdGpu) {
  known.bus_ids = {"0000:05:00"};
  EXPECT_EQ(evidence({.text = kRasError, .pci_device = "0000:05:00.0"}), Evidence::kUserSpace);
}

// netfilter's LOG begins with a text that the owner of a rule has chosen.
TEST_F(AddressOfRecord, IsThatOfAProgramInALineOfThePacketFilter) {
  known.bus_ids = {"0000:4e:00"};
  EXPECT_EQ(evidence({.text = "NVRM: Xid (0000:4e:00): 79,IN=lo OUT= MAC=00 SRC=127.0.0.1"}),
            Evidence::kUserSpace);
}

TEST_F(AddRecord, MakesNothingOfALineInPieces) {
  EXPECT_TRUE(add({.text = kXid79, .writer = Writer::kPieces}).observations.empty());
}

TEST_F(AddressOfRecord, OfATextLogIsNobodys) {
  known.bus_ids = {"0000:4e:00"};
  EXPECT_EQ(evidence({.text = kXid79, .writer = Writer::kUnknown}), Evidence::kUserSpace);
}

// Shown by an audit as uid 65534: the name of a program that crashes, and of one whose stack may be
// executed.
TEST_F(AddRecord, MakesNothingOfANameThatAProcessHasChosen) {
  for (const std::string_view line :
       {"[drm:amdgpu x[4711]: segfault at 0 ip 0 sp 0 error 4 in ]] 1 uncorrectable hardware "
        "errors "
        "detected in x block[55d0+1000]",
        "[drm:amdgpu x[4711]: segfault at 0 ip 0 sp 0 error 4 in ]] GPU reset succeeded[55d0+1000]",
        "process 'x kernel: NVRM: Xid (PCI:0000:43:00): 79, pid=1' started with executable stack",
        "[1.0] NVRM: Xid (PCI:0000:43:00): 79, pid=1, GPU has fallen off the bus."}) {
    EXPECT_TRUE(add({.text = line}).observations.empty()) << line;
  }
}

TEST_F(AddRecord, TakesALineCopiedOutOfDmesgForAProgramsWhateverItsAddress) {
  const LogBatch batch =
      add({.text = "[1235733.431527] NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus.",
           .writer = Writer::kUserSpace});
  ASSERT_EQ(batch.observations.size(), 1U);
  EXPECT_EQ(batch.observations.front().evidence, Evidence::kUserSpace);
  EXPECT_EQ(batch.observations.front().verdict.severity, Severity::kReboot);
}

class LineRulesOfRecord : public testing::Test {
 protected:
  LineRulesOfRecord() {
    settings_.line_rules = *LineRules::compile(
        {{.code = "ReadOnly",
          .pattern = "Remounting filesystem read-only",
          .severity = Severity::kReboot,
          .cleared_by = ClearedBy::kReboot},
         {.code = "FellOff", .pattern = "has fallen off", .severity = Severity::kNone}});
  }
  LogBatch add(std::string_view text, Writer writer = Writer::kKernel) {
    const Policy policy{settings_, std::make_shared<const xid::Catalogue>()};
    LogBatch batch;
    add_record({text, writer, at_second(1)}, {policy, {}, at_second(9)}, batch);
    return batch;
  }
  Settings settings_;
};

constexpr std::string_view kReadOnly = "EXT4-fs (sda1): Remounting filesystem read-only";

TEST_F(LineRulesOfRecord, MakeAnObservationOfALineThatMatches) {
  const LogBatch batch = add(kReadOnly);

  ASSERT_EQ(batch.observations.size(), 1U);
  const Observation& seen = batch.observations.front();
  EXPECT_EQ(seen.event.kind, xid::Kind::kRule);
  EXPECT_EQ(seen.event.label, "ReadOnly");
  EXPECT_EQ(seen.verdict.severity, Severity::kReboot);
  EXPECT_EQ(seen.verdict.cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(seen.evidence, Evidence::kKernel);
  EXPECT_EQ(seen.line, kReadOnly);
  EXPECT_EQ(seen.seen, at_second(1));
}

TEST_F(LineRulesOfRecord, TakeNothingFromWhatTheLineIsForGpuward) {
  const LogBatch batch = add(kXid79);

  ASSERT_EQ(batch.observations.size(), 2U);
  EXPECT_EQ(batch.observations[0].event.label, "FellOff");
  EXPECT_EQ(batch.observations[1].event.code, 79U);
}

TEST_F(LineRulesOfRecord, MarkOrRefuseWhatUserSpaceHasWritten) {
  EXPECT_EQ(add(kReadOnly, Writer::kUserSpace).observations.front().evidence, Evidence::kUserSpace);
  settings_.user_space_lines = UserSpaceLines::kRefuse;
  EXPECT_TRUE(add(kReadOnly, Writer::kUserSpace).observations.empty());
}

TEST_F(LineRulesOfRecord, TakeNoLineOfAnotherProgramInALogOfAllPrograms) {
  const std::string header = "Nov 18 17:26:39 gpu-node ";
  const auto text_line = [&](const std::string& tag) {
    return add(header + tag + std::string(kReadOnly), Writer::kUnknown).observations;
  };
  EXPECT_EQ(text_line("kernel: ").size(), 1U);
  EXPECT_TRUE(text_line("logger: ").empty());
}

TEST_F(LineRulesOfRecord, BecomeFindingsThatARebootClearsOrCountsAlone) {
  Store store{State{}};
  store.enter_boot("one", at_second(0));
  store.apply(add(kReadOnly));
  store.apply(add(kXid79));
  const FindingKey key{"kernel_rule", "ReadOnly", "", Evidence::kKernel};
  EXPECT_TRUE(store.state().findings.contains(key));
  EXPECT_FALSE(store.state().findings.contains({"kernel_rule", "FellOff", "", Evidence::kKernel}));
  EXPECT_EQ(store.state().counters.at({xid::Kind::kRule, 0, "FellOff", "", ""}).count, 1U);
  store.enter_boot("two", at_second(20));
  EXPECT_FALSE(store.state().findings.contains(key));
}

// Fails until the test lets it work, then gives its records once.
class FlakySource final : public KernelLogSource {
 public:
  Result<ReadCounts> read(const Sink& sink, std::chrono::milliseconds,
                          const std::stop_token& stop) override {
    const std::lock_guard lock(mutex_);
    if (fails_) return fail(ErrorKind::kForbidden, "opening /dev/kmsg: no");
    ReadCounts report;
    for (; !records_.empty(); records_.pop_front(), ++report.records) {
      sink({.text = records_.front()});
    }
    position_.sequence = position_.sequence.value_or(0) + report.records;
    if (std::exchange(breaks_after_records_, false)) return fail(ErrorKind::kUnavailable, "EIO");
    if (report.records == 0) clock_.sleep_for(1ms, stop);
    return report;
  }
  [[nodiscard]] const LogPosition& position() const override { return position_; }

  void set_failing(bool fails) {
    const std::lock_guard lock(mutex_);
    fails_ = fails;
  }
  // The next read gives its records and ends in an error.
  void break_after_records() {
    const std::lock_guard lock(mutex_);
    breaks_after_records_ = true;
  }
  void add(std::string record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(std::move(record));
  }

 private:
  SystemClock clock_;
  std::mutex mutex_;
  bool fails_ = false;
  bool breaks_after_records_ = false;
  std::deque<std::string> records_;
  LogPosition position_;
};

class WatcherTest : public testing::Test {
 protected:
  WatcherTest() : log(LogLevel::kError, LogFormat::kLogfmt), policy(Settings{}), store(State{}) {
    auto owned = std::make_unique<FlakySource>();
    source = owned.get();
    source_owner = std::move(owned);
  }
  void start() {
    watcher =
        std::make_unique<KernelLogWatcher>(std::move(source_owner), store, policy, clock, log);
  }

  SystemClock clock;
  Log log;
  CurrentPolicy policy;
  Store store;
  FlakySource* source = nullptr;
  std::unique_ptr<KernelLogSource> source_owner;
  std::unique_ptr<KernelLogWatcher> watcher;
};

TEST_F(WatcherTest, WritesEventsAndPositionIntoTheStore) {
  start();
  source->add(std::string(kXid79));

  // The batch goes into the store first, and the report that the log can be read after it.
  EXPECT_TRUE(support::wait_until(
      [&] { return store.state().counters.size() == 1 && !store.health().kernel_log_fault; },
      "a count and a log that is read"));
  EXPECT_EQ(store.state().position.sequence, 1U);
}

TEST_F(WatcherTest, SaysThatTheLogCannotBeReadWithoutBlamingAGpuAndTriesAgain) {
  source->set_failing(true);
  start();
  EXPECT_TRUE(support::wait_until(
      [&] { return store.health().kernel_log_fault == "opening /dev/kmsg: no"; }, "the fault"));
  EXPECT_TRUE(store.state().findings.empty());

  source->set_failing(false);
  source->add(std::string(kXid79));

  EXPECT_TRUE(support::wait_until(
      [&] { return !store.health().kernel_log_fault && store.state().counters.size() == 1; },
      "the log to be read again"));
}

TEST_F(WatcherTest, KeepsWhatItReadBeforeTheReadingBroke) {
  source->add(std::string(kXid79));
  source->break_after_records();
  start();

  EXPECT_TRUE(support::wait_until([&] { return !store.health().kernel_log_fault; },
                                  "the log to be read again"));
  EXPECT_EQ(store.state().counters.size(), 1U);
  EXPECT_EQ(store.state().position.sequence, 1U);
}

}  // namespace
}  // namespace gpuward::exporter
