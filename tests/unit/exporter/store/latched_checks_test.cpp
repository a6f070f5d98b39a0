// The findings of checks, the events that clear them, and their relation to the kernel log.
#include <gtest/gtest.h>

#include "exporter/store/latched_state.h"
#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

struct FoundSpec {
  std::string code = "row_remap_pending";
  Severity severity = Severity::kReset;
  ClearedBy cleared_by = ClearedBy::kCheck;
  std::string pci = "0000:4e:00";
};

Finding found(const FoundSpec& spec) {
  Finding finding;
  finding.code = spec.code;
  finding.pci_bus_id = spec.pci;
  finding.severity = spec.severity;
  finding.cleared_by = spec.cleared_by;
  finding.evidence = Evidence::kMeasured;
  return finding;
}

CheckResult result(CheckStatus status, std::vector<Finding> findings = {}, int second = 0) {
  CheckResult made;
  made.check = "gpu";
  made.status = status;
  made.started = at_second(second);
  made.findings = std::move(findings);
  return made;
}

const Finding* measured_of(const LatchedState& latched, const std::string& code) {
  const auto at = latched.state().findings.find({"gpu", code, "0000:4e:00", Evidence::kMeasured});
  return at == latched.state().findings.end() ? nullptr : &at->second;
}

TEST(LedgerChecks, LatchWhatTheyFindWithTheBootInWhichItWasFirstSeen) {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));

  latched.apply_check(result(CheckStatus::kFail, {found({})}, 1), false);
  latched.apply_check(result(CheckStatus::kFail, {found({})}, 2), false);

  ASSERT_NE(measured_of(latched, "row_remap_pending"), nullptr);
  const Finding& finding = *measured_of(latched, "row_remap_pending");
  EXPECT_EQ(finding.check, "gpu");
  EXPECT_EQ(finding.first_boot_id, "boot-1");
  EXPECT_EQ(finding.first_seen, at_second(1));
  EXPECT_EQ(finding.last_seen, at_second(2));
  EXPECT_EQ(finding.count, 2U);
}

TEST(LedgerChecks, KeepWhatARunCouldNotLookAtAlthoughItCouldTellOtherwise) {
  LatchedState latched({});
  latched.apply_check(result(CheckStatus::kFail, {found({})}, 1), false);
  CheckResult blind = result(CheckStatus::kFail, {found({.code = "gpu_lost"})}, 2);

  blind.untold = {{.code = "", .pci_bus_id = "0000:4e:00"}};
  latched.apply_check(blind, false);
  EXPECT_NE(measured_of(latched, "row_remap_pending"), nullptr);

  blind.untold = {{.code = "row_remap_pending", .pci_bus_id = "0000:5f:00"}};
  latched.apply_check(blind, false);
  EXPECT_EQ(measured_of(latched, "row_remap_pending"), nullptr);
}

TEST(LedgerChecks, ThatRunNoMoreKeepWhatSomethingElseClears) {
  LatchedState latched({});
  latched.apply_check(
      result(CheckStatus::kFail,
             {found({}), found({.code = "cper_fatal", .cleared_by = ClearedBy::kReboot})}, 1),
      false);
  CheckResult withdrawn = result(CheckStatus::kSkip, {}, 2);
  withdrawn.is_withdrawn = true;
  withdrawn.check = "0-nvidia-smi";
  latched.apply_check(withdrawn, false);
  EXPECT_EQ(latched.state().findings.size(), 2U) << "of another check";

  withdrawn.check = "gpu";
  latched.apply_check(withdrawn, false);

  EXPECT_EQ(measured_of(latched, "row_remap_pending"), nullptr);
  EXPECT_NE(measured_of(latched, "cper_fatal"), nullptr);
  EXPECT_EQ(latched.state().findings_updated, at_second(2));
  EXPECT_FALSE(latched.state().checks.at("gpu").is_withdrawn) << "it may be enabled again";
}

TEST(LedgerChecks, TakeAwayWhatTheNextRunDoesNotFindAnyMore) {
  LatchedState latched({});
  latched.apply_check(result(CheckStatus::kFail, {found({})}, 1), false);

  latched.apply_check(result(CheckStatus::kPass, {}, 2), false);

  EXPECT_EQ(measured_of(latched, "row_remap_pending"), nullptr);
  EXPECT_EQ(latched.state().findings_updated, at_second(2));
}

class LedgerChecksThatCannotTell : public testing::TestWithParam<CheckStatus> {};

TEST_P(LedgerChecksThatCannotTell, TakeNothingAway) {
  LatchedState latched({});
  latched.apply_check(result(CheckStatus::kFail, {found({})}, 1), false);

  latched.apply_check(result(GetParam(), {}, 2), true);

  EXPECT_NE(measured_of(latched, "row_remap_pending"), nullptr);
  EXPECT_EQ(latched.state().checks.at("gpu").status, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Statuses, LedgerChecksThatCannotTell,
                         testing::Values(CheckStatus::kError, CheckStatus::kSkip));

TEST(LedgerChecks, KeepWhatOnlyAnOperatorClears) {
  LatchedState latched({});
  latched.apply_check(
      result(CheckStatus::kFail,
             {found({.severity = Severity::kIsolate, .cleared_by = ClearedBy::kOperator})}),
      false);

  latched.apply_check(result(CheckStatus::kPass, {}, 2), true);

  EXPECT_NE(measured_of(latched, "row_remap_pending"), nullptr);
}

Finding found_event(const std::string& event) {
  Finding finding = found({.code = "cper_fatal", .cleared_by = ClearedBy::kOperator});
  finding.event = event;
  return finding;
}

TEST(LedgerChecks, DoNotBringBackTheEventThatSomebodyHasCleared) {
  LatchedState latched({});
  latched.apply_check(result(CheckStatus::kFail, {found_event("first")}), false);
  latched.apply_check(result(CheckStatus::kFail, {found_event("second")}), false);
  ASSERT_EQ(latched.clear({.all_operator = true}, at_second(1)).size(), 1U);

  latched.apply_check(result(CheckStatus::kFail, {found_event("second")}, 2), false);
  EXPECT_EQ(measured_of(latched, "cper_fatal"), nullptr);

  latched.apply_check(result(CheckStatus::kFail, {found_event("third")}, 3), false);
  EXPECT_NE(measured_of(latched, "cper_fatal"), nullptr);
}

TEST(LedgerChecks, ForgetWhatWasClearedWithTheBoardThatItWasOn) {
  LatchedState latched({});
  Gpu gpu;
  gpu.pci = *parse_pci_address("4e:00");
  gpu.uuid = "GPU-a";
  static_cast<void>(latched.set_gpus({gpu}, at_second(0)));
  latched.apply_check(result(CheckStatus::kFail, {found_event("first")}), false);
  static_cast<void>(latched.clear({.all_operator = true}, at_second(1)));

  gpu.uuid = "GPU-b";
  static_cast<void>(latched.set_gpus({gpu}, at_second(2)));

  EXPECT_TRUE(latched.state().settled.empty());
}

TEST(LedgerChecks, LetASeverityFallWithTheMeasurement) {
  LatchedState latched({});
  latched.apply_check(result(CheckStatus::kFail, {found({.severity = Severity::kReboot})}), false);

  latched.apply_check(result(CheckStatus::kWarn, {found({.severity = Severity::kMonitor})}), false);

  EXPECT_EQ(measured_of(latched, "row_remap_pending")->severity, Severity::kMonitor);
}

TEST(LedgerChecks, LeaveTheFindingsOfOtherChecksAlone) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 48}));
  CheckResult other = result(CheckStatus::kFail, {found({.code = "efa_count"})});
  other.check = "2-efa-enumeration";
  latched.apply_check(other, false);

  latched.apply_check(result(CheckStatus::kPass), false);

  EXPECT_EQ(latched.state().findings.size(), 2U);
}

TEST(LedgerChecks, ThatAreDiagnosticsClearByTheirPassWhatWasThereWhenTheyBegan) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 48, .cleared_by = ClearedBy::kDiagnostics, .second = 1}));
  latched.observe(observe_xid({.code = 95, .cleared_by = ClearedBy::kDiagnostics, .second = 50}));
  CheckResult pass = result(CheckStatus::kPass, {}, 40);
  pass.check = "1-dcgm-diag-l2";

  latched.apply_check(pass, true);

  ASSERT_EQ(latched.state().findings.size(), 1U);
  EXPECT_EQ(latched.state().findings.begin()->first.code, "95");
}

// K6: the verdict of a long diagnostic was forgotten after one cycle.
TEST(LedgerChecks, KeepAFailedDiagnosticUntilItsNextRunSupersedesIt) {
  LatchedState latched({});
  CheckResult failed =
      result(CheckStatus::kFail, {found({.cleared_by = ClearedBy::kDiagnostics})}, 1);
  failed.check = "1-dcgm-diag-l2";
  latched.apply_check(failed, true);

  latched.apply_check(result(CheckStatus::kPass, {}, 2), false);
  EXPECT_EQ(latched.state().findings.size(), 1U);

  failed.started = at_second(3);
  failed.findings.clear();
  failed.status = CheckStatus::kPass;
  latched.apply_check(failed, true);
  EXPECT_TRUE(latched.state().findings.empty());
}

CheckResult level_2(CheckStatus status, std::vector<Finding> findings, int second) {
  CheckResult made = result(status, std::move(findings), second);
  made.check = "1-dcgm-diag-l2";
  made.severity = status == CheckStatus::kFail ? Severity::kReset : Severity::kNone;
  made.details = "memory: FAIL";
  return made;
}

CheckStatus status_of(const LatchedState& latched) {
  return latched.state().checks.at("1-dcgm-diag-l2").status;
}

ClearRequest passed_at(int second) {
  ClearRequest request;
  request.passed_diagnostic = at_second(second);
  return request;
}

// The quarantine runs levels 4 and 6, and check 1's own next run may be hours away.
TEST(LedgerChecks, DoNotKeepAFailureThatALaterDiagnosticHasPassed) {
  for (const CheckStatus status : {CheckStatus::kFail, CheckStatus::kWarn, CheckStatus::kError}) {
    LatchedState latched({});
    std::vector<Finding> findings;
    if (status == CheckStatus::kFail)
      findings = {found({.code = "memory", .cleared_by = ClearedBy::kDiagnostics})};
    latched.apply_check(level_2(status, findings, 1), true);

    latched.clear(passed_at(0), at_second(50));
    EXPECT_EQ(status_of(latched), status) << "it began before this one";
    latched.clear(passed_at(10), at_second(50));

    EXPECT_EQ(status_of(latched), CheckStatus::kSkip);
    const CheckResult& left = latched.state().checks.at("1-dcgm-diag-l2");
    EXPECT_EQ(left.severity, Severity::kNone);
    EXPECT_NE(left.details.find("a later diagnostic passed"), std::string::npos);
    EXPECT_TRUE(latched.state().findings.empty());
  }
}

TEST(LedgerChecks, KeepAFailureOfWhichADiagnosticClearsNotAll) {
  LatchedState latched({});
  latched.apply_check(level_2(CheckStatus::kFail,
                              {found({.code = "memory", .cleared_by = ClearedBy::kDiagnostics}),
                               found({.code = "board", .cleared_by = ClearedBy::kOperator})},
                              1),
                      true);

  latched.clear(passed_at(10), at_second(50));
  EXPECT_EQ(status_of(latched), CheckStatus::kFail);

  ClearRequest by_operator;
  by_operator.all_operator = true;
  latched.clear(by_operator, at_second(51));
  EXPECT_EQ(status_of(latched), CheckStatus::kSkip) << "nothing of it is left";
}

TEST(LedgerChecks, RememberOverARebootWithoutBelieving) {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));
  latched.apply_check(result(CheckStatus::kFail, {found({.severity = Severity::kReboot})}, 1),
                      false);

  latched.enter_boot("boot-2", at_second(10));

  ASSERT_NE(measured_of(latched, "row_remap_pending"), nullptr);
  EXPECT_EQ(measured_of(latched, "row_remap_pending")->severity, Severity::kNone);
  EXPECT_EQ(latched.state().findings_updated, at_second(10));

  latched.apply_check(result(CheckStatus::kFail, {found({.severity = Severity::kIsolate})}, 20),
                      false);
  EXPECT_EQ(measured_of(latched, "row_remap_pending")->first_boot_id, "boot-1");
  EXPECT_EQ(measured_of(latched, "row_remap_pending")->severity, Severity::kIsolate);
}

TEST(LedgerChecks, FindRoomWhateverTheKernelLogSays) {
  LatchedState latched({}, {.counters = 9, .findings = 2, .uuids = 1});
  latched.observe(observe_xid({.code = 48}));
  latched.observe(observe_xid({.code = 79}));
  latched.apply_check(result(CheckStatus::kFail, {found({.code = "driver_hung", .pci = ""})}, 1),
                      false);
  EXPECT_TRUE(latched.state().findings.contains({"gpu", "driver_hung", "", Evidence::kMeasured}));
}

TEST(LedgerEventSet, CountsOneXidOnceWhicheverSourceTellsItFirst) {
  for (const bool event_set_first : {true, false}) {
    LatchedState latched({});
    Observation line = observe_xid({.code = 48, .second = event_set_first ? 2 : 0});
    Observation event = observe_xid({.code = 48, .second = event_set_first ? 0 : 2});
    event.is_driver_event = true;

    latched.observe(event_set_first ? event : line);
    latched.observe(event_set_first ? line : event);

    EXPECT_EQ(latched.state().counters.begin()->second.count, 1U);
    EXPECT_EQ(latched.state().findings.size(), 1U);
    EXPECT_EQ(latched.state().findings.begin()->second.count, 1U);
  }
}

TEST(LedgerEventSet, CountsAsManyAsTheBusierSourceHas) {
  LatchedState latched({});
  Observation event = observe_xid({.code = 48});
  event.is_driver_event = true;

  for (int i = 0; i < 3; ++i) latched.observe(observe_xid({.code = 48, .second = i}));
  for (int i = 0; i < 2; ++i) latched.observe(event);

  EXPECT_EQ(latched.state().counters.begin()->second.count, 3U);
}

TEST(LedgerEventSet, CountsAgainWhatComesLongAfter) {
  LatchedState latched({});
  Observation event = observe_xid({.code = 48, .second = 300});
  event.is_driver_event = true;

  latched.observe(observe_xid({.code = 48, .second = 0}));
  latched.observe(event);

  EXPECT_EQ(latched.state().counters.begin()->second.count, 2U);
}

TEST(LedgerEventSet, DoesNotLetAForgedLineHideAnXid) {
  LatchedState latched({});
  Observation event = observe_xid({.code = 48, .second = 1});
  event.is_driver_event = true;

  latched.observe(observe_xid({.code = 48, .second = 0, .evidence = Evidence::kUserSpace}));
  latched.observe(event);

  EXPECT_EQ(latched.state().counters.begin()->second.count, 2U);
}

TEST(LedgerEventSet, CountsAnXidOfATextLogOnce) {
  LatchedState latched({});
  Observation line = observe_xid({.code = 48, .second = 0, .evidence = Evidence::kUserSpace});
  line.is_of_text_log = true;
  Observation event = observe_xid({.code = 48, .second = 1});
  event.is_driver_event = true;

  latched.observe(line);
  latched.observe(event);

  EXPECT_EQ(latched.state().counters.begin()->second.count, 1U);
}

TEST(LedgerEventSet, IsNoWordOfTheKernelUntilItsLineComes) {
  LatchedState latched({});
  Observation event = observe_xid({.code = 79, .second = 0});
  event.is_driver_event = true;

  latched.observe(event);
  EXPECT_TRUE(latched.state().findings.begin()->second.is_by_library_alone);

  latched.observe(observe_xid({.code = 79, .second = 1}));
  EXPECT_FALSE(latched.state().findings.begin()->second.is_by_library_alone);

  event.seen = at_second(600);
  latched.observe(event);
  EXPECT_FALSE(latched.state().findings.begin()->second.is_by_library_alone);
}

Gpu board(const std::string& uuid) {
  Gpu gpu;
  gpu.pci = *parse_pci_address("0000:4e:00.0");
  gpu.uuid = uuid;
  return gpu;
}

TEST(LedgerBoards, ForgetTheOldBoardWhenAnotherIsInItsSlot) {
  LatchedState latched({});
  (void)latched.set_gpus({board("GPU-old")}, at_second(0));
  latched.observe(observe_xid({.code = 64, .cleared_by = ClearedBy::kOperator, .second = 1}));
  latched.observe(observe_xid({.code = 64, .pci = "0000:5e:00", .second = 1}));

  const auto swapped = latched.set_gpus({board("GPU-new")}, at_second(2));

  EXPECT_EQ(swapped, std::vector<std::string>{"0000:4e:00"});
  ASSERT_EQ(latched.state().findings.size(), 1U);
  EXPECT_EQ(latched.state().findings.begin()->first.pci_bus_id, "0000:5e:00");
  EXPECT_EQ(latched.state().counters.size(), 1U);
  EXPECT_EQ(latched.state().findings_updated, at_second(2));
}

// The exporter reads the kernel log before it asks the driver for the GPUs.
TEST(LedgerBoards, KeepWhatTheNewBoardHasSaidBeforeTheFirstInventory) {
  State before;
  before.boot_id = "boot-1";
  before.boards["0000:4e:00"] = "GPU-old";
  LatchedState latched(before);
  latched.observe(observe_xid({.code = 64, .cleared_by = ClearedBy::kOperator}));
  latched.enter_boot("boot-2", at_second(1));
  LogPosition position;
  position.boot_id = "boot-2";
  latched.set_position(position);
  latched.observe(observe_xid({.code = 119, .second = 2}));

  EXPECT_EQ(latched.set_gpus({board("GPU-new")}, at_second(3)).size(), 1U);

  ASSERT_EQ(latched.state().findings.size(), 1U);
  EXPECT_EQ(latched.state().findings.begin()->second.code, "119");
  LatchedState restarted(latched.state());
  EXPECT_EQ(restarted.set_gpus({board("GPU-hot-plugged")}, at_second(4)).size(), 1U);
  EXPECT_TRUE(restarted.state().findings.empty()) << "that one is of the board before";
}

// A follower of a file may read the last lines of the earlier boot.
TEST(LedgerBoards, KeepNothingOfALogThatMayBeOfTheBootBefore) {
  State before;
  before.boot_id = "boot-1";
  before.boards["0000:4e:00"] = "GPU-old";
  LatchedState latched(before);
  latched.enter_boot("boot-2", at_second(1));
  latched.observe(observe_xid({.code = 64, .cleared_by = ClearedBy::kOperator, .second = 2}));

  EXPECT_EQ(latched.set_gpus({board("GPU-new")}, at_second(3)).size(), 1U);

  EXPECT_TRUE(latched.state().findings.empty());
}

TEST(LedgerBoards, KeepWhatIsKnownWhileTheDriverSaysNoUuid) {
  LatchedState latched({});
  (void)latched.set_gpus({board("GPU-old")}, at_second(0));
  latched.observe(observe_xid({.code = 64}));

  EXPECT_TRUE(latched.set_gpus({board("")}, at_second(2)).empty());
  EXPECT_TRUE(latched.set_gpus({}, at_second(3)).empty());
  EXPECT_TRUE(latched.set_gpus({board("GPU-old")}, at_second(4)).empty());

  EXPECT_EQ(latched.state().findings.size(), 1U);
}

Observation amd_hang(const std::string& label = "ring_timeout") {
  Observation hang = observe_xid({.cleared_by = ClearedBy::kGpuReset, .second = 1});
  hang.event.kind = xid::Kind::kAmdHang;
  hang.event.code = 0;
  hang.event.label = label;
  return hang;
}

// The driver's report of a reset, and a reading after it without a fault.
CheckResult amd_reset(const std::string& code = "succeeded", int second = 5) {
  CheckResult read_since = result(CheckStatus::kPass, {}, second + 15);
  read_since.recovered = {{code, "0000:4e:00", at_second(second)}};
  return read_since;
}

Observation amd_error(int second) {
  Observation error = observe_xid({.severity = Severity::kReboot, .second = second});
  error.event.kind = xid::Kind::kAmdRas;
  error.event.code = 0;
  error.event.label = "UE";
  return error;
}

TEST(LedgerAmd, RatesErrorsThatAThresholdAllowsAsMonitorUntilTheNextLine) {
  LatchedState latched({});
  CheckResult read_since = result(CheckStatus::kPass, {}, 20);
  read_since.allowed = {{"0000:4e:00", at_second(15), "allowed"}};
  const auto severity = [&] { return latched.state().findings.begin()->second.severity; };

  latched.observe(amd_error(5));
  latched.apply_check(read_since, false);
  EXPECT_EQ(severity(), Severity::kMonitor);
  EXPECT_EQ(latched.state().findings.begin()->second.why, "allowed");
  EXPECT_EQ(latched.state().findings_updated, at_second(20));

  latched.observe(amd_error(18));
  latched.apply_check(read_since, false);
  EXPECT_EQ(severity(), Severity::kReboot) << "the reading is older than the line";
}

TEST(LedgerAmd, KeepsErrorsOfAnotherGpuAndFullTablesOfBadPages) {
  LatchedState latched({});
  CheckResult read_since = result(CheckStatus::kPass, {}, 20);
  read_since.allowed = {{"0000:5e:00", at_second(15), "allowed"}};
  latched.observe(amd_error(5));
  latched.apply_check(read_since, false);
  EXPECT_EQ(latched.state().findings.begin()->second.severity, Severity::kReboot);

  Observation pages = amd_error(5);
  pages.event.label = "bad_page_threshold";
  LatchedState other({});
  other.observe(pages);
  read_since.allowed.front().pci_bus_id = "0000:4e:00";
  other.apply_check(read_since, false);
  EXPECT_EQ(other.state().findings.begin()->second.severity, Severity::kReboot);
}

TEST(LedgerAmd, TakesASucceededResetForWhatAGpuResetClears) {
  LatchedState latched({});
  const Observation hang = amd_hang();
  Observation elsewhere = hang;
  elsewhere.event.pci = parse_pci_address("0000:5e:00");

  latched.observe(hang);
  latched.observe(elsewhere);
  latched.apply_check(amd_reset(), false);

  ASSERT_EQ(latched.state().findings.size(), 1U);
  EXPECT_EQ(latched.state().findings.begin()->first.pci_bus_id, "0000:5e:00");
}

// `amdgpu: qcm fence wait loop timeout expired` is such a hang.
TEST(LedgerAmd, TakesASucceededResetForAHangThatWasLoggedWithoutAnAddress) {
  LatchedState latched({});
  Observation hang = amd_hang("fence_timeout");
  hang.event.pci.reset();
  latched.observe(hang);
  ASSERT_EQ(latched.state().findings.size(), 1U);
  latched.apply_check(amd_reset(), false);
  EXPECT_TRUE(latched.state().findings.empty());
}

TEST(LedgerAmd, TakesALaterResetForThatOfAnotherGpu) {
  LatchedState latched({});
  Observation hang = amd_hang("fence_timeout");
  hang.event.pci.reset();
  latched.observe(hang);
  latched.apply_check(amd_reset("succeeded", 3600), false);
  EXPECT_EQ(latched.state().findings.size(), 1U);
}

TEST(LedgerAmd, TakesTheResetOfARingForNoMoreThanIt) {
  LatchedState latched({});
  latched.observe(amd_hang());
  latched.observe(amd_hang("fence_timeout"));
  latched.apply_check(amd_reset("ring_reset_succeeded"), false);
  ASSERT_EQ(latched.state().findings.size(), 1U);
  EXPECT_EQ(latched.state().findings.begin()->second.code, "fence_timeout");
}

TEST(LedgerAmd, LetsNoLineClearWhatTheKernelHasSaid) {
  for (const Evidence evidence : {Evidence::kKernel, Evidence::kUserSpace}) {
    LatchedState latched({});
    latched.observe(amd_hang());
    Observation line = amd_hang("succeeded");
    line.event.kind = xid::Kind::kAmdReset;
    line.verdict.severity = Severity::kNone;
    line.evidence = evidence;
    line.seen = at_second(5);
    latched.observe(line);
    EXPECT_EQ(latched.state().findings.size(), 1U);
  }
}

const Finding* xid_finding(const LatchedState& latched, const std::string& code) {
  const auto at = latched.state().findings.find({"xid", code, "0000:4e:00", Evidence::kKernel});
  return at == latched.state().findings.end() ? nullptr : &at->second;
}

Observation driver_event(const XidSpec& spec) {
  Observation event = observe_xid(spec);
  event.is_driver_event = true;
  return event;
}

Severity confirmed(const LatchedState& latched, const std::string& code) {
  return xid_finding(latched, code)->confirmed_severity();
}

TEST(WitnessOfALine, IsNoneAtFirst) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 48}));
  latched.observe(observe_xid({.code = 48, .second = 60}));
  EXPECT_EQ(confirmed(latched, "48"), Severity::kNone);
}

TEST(WitnessOfALine, IsTheDriversEventInEitherOrder) {
  for (const bool is_event_first : {true, false}) {
    LatchedState latched({});
    const Observation event = driver_event({.code = 48, .second = 1});
    if (is_event_first) latched.observe(event);
    latched.observe(observe_xid({.code = 48, .second = 2}));
    if (!is_event_first) latched.observe(event);
    EXPECT_EQ(xid_finding(latched, "48")->witness, "driver event");
  }
}

// If the line decides about a code, its event has a lower severity (driver_xid.cpp).
TEST(WitnessOfALine, IsTheDriversEventWhateverThatAloneIsWorth) {
  for (const bool is_event_first : {true, false}) {
    LatchedState latched({});
    const Observation event =
        driver_event({.code = 74, .severity = Severity::kMonitor, .second = 1});
    if (is_event_first) latched.observe(event);
    latched.observe(observe_xid({.code = 74, .severity = Severity::kReset, .second = 2}));
    if (!is_event_first) latched.observe(event);
    EXPECT_EQ(xid_finding(latched, "74")->severity, Severity::kReset);
    EXPECT_EQ(confirmed(latched, "74"), Severity::kReset);
  }
}

TEST(WitnessOfALine, IsNotTheEventOfXid154WhichHasNoAction) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 154, .second = 1}));
  latched.observe(driver_event({.code = 154, .severity = Severity::kMonitor, .second = 2}));
  EXPECT_EQ(confirmed(latched, "154"), Severity::kNone);
}

TEST(WitnessOfALine, DoesNotSpeakForAWorseLineThatCameLater) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 74, .severity = Severity::kReset, .second = 1}));
  latched.observe(driver_event({.code = 74, .severity = Severity::kMonitor, .second = 2}));
  ASSERT_EQ(confirmed(latched, "74"), Severity::kReset);
  latched.observe(observe_xid({.code = 74, .severity = Severity::kReboot, .second = 90}));
  EXPECT_EQ(confirmed(latched, "74"), Severity::kReset) << "the reset stays confirmed";
  EXPECT_EQ(xid_finding(latched, "74")->severity, Severity::kReboot);
}

// A true event of low severity, hours after a line that required a reset.
TEST(WitnessOfALine, IsNoEventThatCameWithoutIt) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 149, .severity = Severity::kReset, .second = 0}));
  latched.observe(driver_event({.code = 149, .severity = Severity::kMonitor, .second = 7200}));
  EXPECT_LT(confirmed(latched, "149"), Severity::kReset);
  latched.observe(observe_xid({.code = 149, .severity = Severity::kMonitor, .second = 7201}));
  EXPECT_LT(confirmed(latched, "149"), Severity::kReset);
}

TEST(WitnessOfALine, OfAReadingStaysWithTheFindingThatItWasFor) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 48, .severity = Severity::kReset}));
  CheckResult look = result(CheckStatus::kPass, {}, 15);
  look.witnessed = {{"xid", "95", "0000:4e:00", Severity::kReset, "gpu x"}};
  latched.apply_check(look, false);
  EXPECT_EQ(confirmed(latched, "48"), Severity::kNone);
  look.witnessed = {{"xid", "48", "0000:4e:00", Severity::kReset, "gpu ecc_uncorrected"}};
  latched.apply_check(look, false);
  EXPECT_EQ(xid_finding(latched, "48")->witness, "gpu ecc_uncorrected");
  latched.apply_check(result(CheckStatus::kPass, {}, 30), false);
  EXPECT_EQ(confirmed(latched, "48"), Severity::kReset);
}

TEST(WitnessOfALine, NeverStandsForALineOfUserSpace) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 48, .evidence = Evidence::kUserSpace}));
  latched.observe(driver_event({.code = 48, .second = 1}));
  const auto& findings = latched.state().findings;
  ASSERT_EQ(findings.size(), 2U);
  for (const auto& [key, finding] : findings)
    EXPECT_EQ(finding.confirmed_severity() != Severity::kNone, key.evidence == Evidence::kKernel);
}

}  // namespace
}  // namespace gpuward::exporter
