// The readings of one GPU: each scenario of the fake library at the level of the rules.
#include "exporter/checks/rules/gpu_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/clock.h"
#include "exporter/checks/check/decide.h"
#include "exporter/store/latched_state.h"
#include "tests/unit/exporter/checks/scenario.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;

TEST(GpuRules, FindNothingOnEightHealthyH100s) {
  const CheckOutcome outcome = Scenario().judge();
  EXPECT_EQ(outcome.kind, kDone);
  EXPECT_EQ(codes_of(outcome), "");
  EXPECT_EQ(outcome.details, "8 GPUs");
}

TEST(GpuRules, ResetForUncorrectedEccSinceTheLastResetAndFallWithTheCounter) {
  Scenario node;
  node.gpu(3).ecc.uncorrected_volatile.total = 2;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(codes_of(outcome), "ecc_uncorrected");
  const Finding& finding = outcome.findings[0];
  EXPECT_EQ(finding.severity, Severity::kReset);
  EXPECT_EQ(finding.pci_bus_id, Scenario::bus_id(3));
  EXPECT_EQ(finding.cleared_by, ClearedBy::kCheck);
}

TEST(GpuRules, CountEccOfPlacesIfTheTotalIsNotTold) {
  Scenario node;
  node.gpu(0).ecc.uncorrected_volatile = {.total = {}, .sram = 1, .dram = 0};
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset);
}

TEST(GpuRules, ResetForUncorrectedEccThatIsDealtWithInTheSeedProfileAlone) {
  Scenario node;
  GpuReading& gpu = node.gpu(3);
  gpu.ecc.uncorrected_volatile = {.total = 1, .sram = 0, .dram = 1};
  gpu.rows.uncorrectable = 1;
  gpu.recovery_action = 0;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kMonitor);
  node.settings.is_seed_profile = true;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset);
}

TEST(GpuRules, SkipGpusWithoutEcc) {
  Scenario node;
  node.gpu(0).ecc_enabled = false;
  node.gpu(0).ecc.uncorrected_volatile.total = 7;
  node.gpu(1).ecc_enabled.reset();
  node.gpu(1).ecc = {};
  EXPECT_EQ(codes_of(node.judge()), "ecc_off") << "said aloud, and no errors counted";
}

TEST(GpuRules, IgnoreErrorsOfTheBoardsWholeLife) {
  Scenario node;
  node.gpu(0).ecc.uncorrected_aggregate.total = 40;
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(GpuRules, RetiredPagesDoubleBitIsolatePendingRebootManySingleBitMonitor) {
  Scenario node;
  node.gpu(0).retired = {.single_bit = 0, .double_bit = 1, .pending = false};
  node.gpu(1).retired = {.single_bit = 0, .double_bit = 0, .pending = true};
  node.gpu(2).retired = {.single_bit = 61, .double_bit = 0, .pending = false};
  node.gpu(3).retired = {.single_bit = 60, .double_bit = 0, .pending = false};
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(severity_of(outcome, "retired_pages_dbe"), Severity::kIsolate);
  EXPECT_EQ(severity_of(outcome, "retired_pages_pending"), Severity::kReboot);
  EXPECT_EQ(severity_of(outcome, "retired_pages_sbe"), Severity::kMonitor);
  EXPECT_EQ(outcome.findings.size(), 3U);
}

TEST(GpuRules, PendingRowRemapResets) {
  Scenario node;
  node.gpu(5).rows.pending = true;
  EXPECT_EQ(severity_of(node.judge(), "row_remap_pending"), Severity::kReset);
}

TEST(GpuRules, FailedRowRemapIsolatesUntilAnOperatorClearsIt) {
  Scenario node;
  node.gpu(5).rows.failure = true;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(severity_of(outcome, "row_remap_failure"), Severity::kIsolate);
  EXPECT_EQ(outcome.findings[0].cleared_by, ClearedBy::kOperator);
}

TEST(GpuRules, SramThresholdIsolates) {
  Scenario node;
  node.gpu(0).sram_threshold_exceeded = true;
  EXPECT_EQ(severity_of(node.judge(), "sram_threshold"), Severity::kIsolate);
}

struct Action {
  std::uint32_t value;
  Severity severity;
};
class RecoveryAction : public ::testing::TestWithParam<Action> {};

// NVML field 230 (nvml.h, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION).
TEST_P(RecoveryAction, IsWhatTheDriverAsksFor) {
  Scenario node;
  node.gpu(0).recovery_action = GetParam().value;
  const CheckOutcome outcome = node.judge();
  Severity worst = Severity::kNone;
  for (const Finding& finding : outcome.findings) worst = std::max(worst, finding.severity);
  EXPECT_EQ(worst, GetParam().severity);
}

INSTANTIATE_TEST_SUITE_P(Field230, RecoveryAction,
                         ::testing::Values(Action{0, Severity::kNone}, Action{1, Severity::kReset},
                                           Action{2, Severity::kReboot},
                                           Action{3, Severity::kReset}, Action{4, Severity::kReset},
                                           Action{5, Severity::kMonitor},
                                           Action{9, Severity::kMonitor}));

TEST(GpuRules, HeatAndHardwareSlowdownAreOnlyWatched) {
  Scenario node;
  node.gpu(0).slowdown.reasons = 0x40 | 0x8;
  node.gpu(1).slowdown.reasons = 0x80 | 0x8;
  node.gpu(2).slowdown.reasons = 0x8;
  node.gpu(3).slowdown.reasons = 0x4;  // a power cap that an operator has set
  node.gpu(4).thermals.gpu = 90;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(codes_of(outcome), "thermal_slowdown, power_brake, hw_slowdown, thermal_slowdown");
  EXPECT_EQ(severity_of(outcome, "thermal_slowdown"), Severity::kMonitor);
}

// Hopper and later count in margins (NVML's T.Limit) and have no thresholds.
TEST(GpuRules, AMarginAtTheOneWhereTheDriverSlowsDownIsHeat) {
  Scenario node;
  for (std::size_t gpu = 0; gpu < 3; ++gpu) {
    node.gpu(gpu).thermals.slowdown_threshold.reset();
    node.gpu(gpu).thermals.slowdown_margin = -2;
  }
  node.gpu(0).thermals.margin = -1;
  node.gpu(1).thermals.margin = -2;
  node.gpu(2).thermals.margin.reset();
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "thermal_slowdown");
  EXPECT_EQ(outcome.findings[0].pci_bus_id, Scenario::bus_id(1));
}

TEST(GpuRules, EccThatIsOffOrWillChangeIsWatched) {
  Scenario node;
  node.gpu(0).ecc_enabled = node.gpu(0).ecc_pending = false;
  node.gpu(1).ecc_enabled = true;
  node.gpu(1).ecc_pending = false;
  node.gpu(2).ecc_enabled.reset();  // a board without ECC
  node.gpu(2).ecc_pending.reset();
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(codes_of(outcome), "ecc_off, ecc_pending");
  EXPECT_EQ(severity_of(outcome, "ecc_off"), Severity::kMonitor);
  EXPECT_EQ(severity_of(outcome, "ecc_pending"), Severity::kMonitor);
  EXPECT_EQ(find_finding(outcome, "ecc_pending")->line, "ECC is on and will be off after a reboot");
}

// The boards of workstations leave the factory with ECC off.
TEST(GpuRules, EccThatIsOffByDefaultIsNoFinding) {
  Scenario node;
  for (std::size_t gpu = 0; gpu < 2; ++gpu) {
    node.gpu(gpu).ecc_enabled = node.gpu(gpu).ecc_pending = false;
  }
  node.gpu(0).ecc_default = false;
  node.gpu(1).ecc_default = true;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "ecc_off");
  EXPECT_EQ(outcome.findings[0].pci_bus_id, Scenario::bus_id(1));
}

TEST(GpuRules, AFabricThatIsMisconfiguredSaysHow) {
  Scenario node;
  node.gpu(1).fabric.health_mask = 0x4AA;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "fabric_unhealthy");
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("incorrect configuration (no partition)"));

  node.gpu(1).fabric.health_mask = 0x8AA;
  EXPECT_THAT(node.judge().findings[0].line, HasSubstr("incorrect configuration (GPU state)"));
}

TEST(GpuRules, PcieWidthAlwaysGenerationOnlyUnderLoad) {
  Scenario node;
  node.gpu(0).pcie.width = 8;
  node.gpu(1).pcie.generation = 1;  // asleep
  node.gpu(2).pcie.generation = 3;
  node.gpu(2).utilization_ratio = 0.9;
  EXPECT_EQ(codes_of(node.judge()), "pcie_width, pcie_generation");
}

TEST(GpuRules, InactiveNvlinksAreNamedIfTheProfileExpectsThem) {
  Scenario node;
  node.gpu(2).links[4].active = false;
  node.gpu(2).links[9].active = false;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "nvlink_inactive");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kMonitor);
  EXPECT_EQ(outcome.findings[0].line,
            "2 of 18 NVLinks are not active: 4, 9; p5.48xlarge has NVLink");
}

TEST(GpuRules, MigTurnsLinksOffWithoutAFault) {
  Scenario node;
  node.gpu(0).mig_enabled = true;
  for (Link& link : node.gpu(0).links) link.active = false;
  node.gpu(0).rows = {};  // not supported then
  EXPECT_EQ(codes_of(node.judge()), "");
}

TEST(GpuRules, Eks141FabricErrorBehindACompletedStateIsSeen) {
  Scenario node;
  node.gpu(1).fabric.status = 999;  // NVML_ERROR_UNKNOWN
  EXPECT_EQ(severity_of(node.judge(), "fabric_error"), Severity::kReset);
}

TEST(GpuRules, AFabricThatIsNotReadyResetsOnlyWhenItHadTheTime) {
  Scenario node;
  node.gpu(1).fabric.state = 2;
  EXPECT_EQ(severity_of(node.judge(), "fabric_not_ready"), Severity::kReset);
  node.facts.since_driver_load = std::chrono::minutes(3);
  EXPECT_EQ(severity_of(node.judge(), "fabric_not_ready"), Severity::kMonitor);
}

TEST(GpuRules, AnUnhealthyFabricMaskIsNamed) {
  Scenario node;
  node.gpu(1).fabric.health_mask = 0xAA - 1;  // degraded bandwidth: true instead of false
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "fabric_unhealthy");
  EXPECT_THAT(outcome.findings[0].line, HasSubstr("degraded bandwidth"));
}

TEST(GpuRules, PersistenceModeOffIsWatched) {
  Scenario node;
  node.gpu(0).persistence_mode = false;
  EXPECT_EQ(severity_of(node.judge(), "persistence_off"), Severity::kMonitor);
}

TEST(GpuRules, AGpuThatTheDriverSaysNothingOfIsAnErrorAndKeepsWhatWasKnown) {
  Scenario node;
  node.gpu(0).fault = "Unknown Error";
  node.gpu(1).rows.pending = true;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(severity_of(outcome, "gpu_unreadable"), Severity::kMonitor);
  EXPECT_EQ(severity_of(outcome, "row_remap_pending"), Severity::kReset);
  Finding older;
  older.code = "row_remap_pending";
  older.pci_bus_id = Scenario::bus_id(0);
  EXPECT_TRUE(std::ranges::any_of(outcome.untold,
                                  [&](const Untold& untold) { return untold.covers(older); }));
}

TEST(GpuRules, AGpuThatRequiresAResetIsAResetAndJudgedByAllThatItStillSays) {
  Scenario node;
  node.gpu(0).reset_required = "nvmlDeviceGetUtilizationRates: GPU requires reset";
  EXPECT_EQ(codes_of(node.judge()), "reset_required");
  EXPECT_EQ(severity_of(node.judge(), "reset_required"), Severity::kReset);
  node.gpu(0).rows.failure = true;
  node.gpu(0).ecc.uncorrected_volatile.total = 2;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kDone);
  EXPECT_EQ(severity_of(outcome, "row_remap_failure"), Severity::kIsolate);
  EXPECT_EQ(severity_of(outcome, "ecc_uncorrected"), Severity::kReset);
  EXPECT_EQ(severity_of(outcome, "gpu_unreadable"), Severity::kNone);
}

TEST(GpuRules, AGpuThatRequiresAResetTakesNothingAwayThatItDoesNotSay) {
  Scenario node;
  node.gpu(0).reset_required = "nvmlDeviceGetPowerUsage: GPU requires reset";
  const CheckOutcome outcome = node.judge();
  Finding older;
  older.code = "pcie_width";
  older.pci_bus_id = Scenario::bus_id(0);
  EXPECT_TRUE(std::ranges::any_of(outcome.untold,
                                  [&](const Untold& untold) { return untold.covers(older); }));
}

TEST(GpuRules, AGpuThatFallsSilentMidwayIsJudgedByWhatItHadSaid) {
  Scenario node;
  node.gpu(0).fault = "Unknown Error";
  node.gpu(0).rows.failure = true;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(outcome.kind, kError);
  EXPECT_EQ(severity_of(outcome, "gpu_unreadable"), Severity::kMonitor);
  EXPECT_EQ(severity_of(outcome, "row_remap_failure"), Severity::kIsolate);
}

TEST(GpuRules, AbsentValuesAreNeitherSickNorWell) {
  Scenario node;
  GpuReading bare;
  bare.gpu = node.gpu(0).gpu;
  node.gpu(0) = bare;
  const CheckOutcome outcome = node.judge();
  EXPECT_EQ(codes_of(outcome), "");
  Finding older;
  older.code = "row_remap_pending";
  older.pci_bus_id = Scenario::bus_id(0);
  EXPECT_TRUE(std::ranges::any_of(outcome.untold,
                                  [&](const Untold& untold) { return untold.covers(older); }));
}

// The node has one AMD GPU, otherwise healthy.
TEST(GpuRules, AmdUncorrectableErrorsOverTheirThresholdRebootTheNode) {
  Scenario node = amd_scenario_node();
  node.gpu(0).ras = {{"umc", 3, 2, 0}, {"gfx", 0, 1, 0}};
  node.settings.ras_thresholds["umc"] = 2;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "ras_uncorrected");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kReboot);
  EXPECT_EQ(outcome.findings[0].line, "gfx: 1 uncorrectable errors; the threshold is 0");
  EXPECT_EQ(outcome.findings[0].cleared_by, ClearedBy::kCheck);
}

// AMD's flow: reboot, validate, return; replace a board that the reboot has not helped.
TEST(GpuRules, AmdUncorrectableErrorsThatComeBackAfterTheRebootIsolate) {
  Scenario node = amd_scenario_node();
  node.gpu(0).ras = {{"gfx", 0, 1, 0}};
  node.was_found_before_the_reboot("ras_uncorrected", "0000:05:00");
  EXPECT_EQ(severity_of(node.judge(), "ras_uncorrected"), Severity::kIsolate);
}

TEST(GpuRules, AmdUncorrectableErrorsAreOverOnceAReadingAfterTheRebootShowsNone) {
  Scenario node = amd_scenario_node();
  node.gpu(0).ras = {{"gfx", 0, 1, 0}};
  LatchedState latched{State()};
  latched.enter_boot("boot-1", node.now);
  node.known = latched.state();
  latched.apply_check(decide_status(node.judge(), kGpuCheck, {node.now}), false);
  ASSERT_EQ(latched.state().findings.size(), 1U);
  latched.enter_boot("boot-2", node.now);
  node.known = latched.state();
  node.gpu(0).ras = {{"gfx", 0, 0, 0}};
  latched.apply_check(decide_status(node.judge(), kGpuCheck, {node.now}), false);
  EXPECT_TRUE(latched.state().findings.empty());
}

TEST(GpuRules, AmdUncorrectableErrorsStayWhileNobodyCountsThem) {
  Scenario node = amd_scenario_node();
  node.gpu(0).ras = {{"gfx", 0, 1, 0}};
  LatchedState latched{State()};
  node.known = latched.state();
  latched.apply_check(decide_status(node.judge(), kGpuCheck, {node.now}), false);
  node.gpu(0).ras.clear();
  latched.apply_check(decide_status(node.judge(), kGpuCheck, {node.now}), false);
  EXPECT_EQ(latched.state().findings.size(), 1U);
}

TEST(GpuRules, AUncorrectedErrorThatTheDriverHasDealtWithIsWatched) {
  Scenario node;
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset) << "no row remapped";
  node.gpu(1).rows.uncorrectable = 1;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset)
      << "it may be of the SRAM, which has no rows";
  node.gpu(1).ecc.uncorrected_volatile.sram = 0;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kMonitor);
  node.gpu(1).ecc.uncorrected_volatile.sram = 1;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset) << "an old row";
  node.gpu(1).ecc.uncorrected_volatile.sram = 0;
  node.gpu(1).rows.pending = true;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset);
  node.gpu(1).rows.pending = false;
  node.gpu(1).ecc.uncorrected_volatile.total = 2;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset) << "one of two";
  node.gpu(1).ecc.uncorrected_volatile.total = 1;
  node.gpu(1).recovery_action = std::nullopt;
  EXPECT_EQ(severity_of(node.judge(), "ecc_uncorrected"), Severity::kReset)
      << "a driver that names no action";
}

TEST(GpuRules, CorrectedErrorsByTheMillionAreWatched) {
  Scenario node;
  node.gpu(1).ecc.corrected_volatile.total = 1'000'000;
  EXPECT_EQ(codes_of(node.judge()), "");
  node.gpu(1).ecc.corrected_volatile.total = 1'500'000'000;
  node.gpu(1).ecc.corrected_aggregate.total = 1'500'000'000;
  EXPECT_EQ(severity_of(node.judge(), "ecc_corrected_flood"), Severity::kMonitor);
  Scenario amd = amd_scenario_node();
  amd.gpu(0).ras = {{"umc", 1'048'560 * 3, 0, 0}};
  EXPECT_EQ(codes_of(amd.judge()), "") << "a faulty driver counts so";
  amd.gpu(0).ras = {{"umc", 1'500'000'001, 0, 0}};
  EXPECT_EQ(codes_of(amd.judge()), "ecc_corrected_flood");
}

CperRecord fatal_record(std::optional<WallTime> at) {
  return {.severity = CperSeverity::kFatal, .recorded_at = at, .id = "0:1", .notify_type = "MCE"};
}

TEST(GpuRules, UnhealthyAfterAFatalCperRecord) {
  Scenario node = amd_scenario_node();
  node.gpu(0).latest_cper = fatal_record(parse_rfc3339("2026-11-20T10:00:00Z"));
  node.gpu(0).ras = {{"umc", 0, 1, 0}};
  node.settings.ras_thresholds["umc"] = 1;
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "cper_fatal");
  EXPECT_EQ(outcome.findings[0].severity, Severity::kReboot);
  EXPECT_EQ(outcome.findings[0].cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(outcome.findings[0].pci_bus_id, "0000:05:00");
  EXPECT_EQ(outcome.findings[0].line, "fatal error record 0:1 of 2026-11-20T10:00:00Z (MCE)");

  node.gpu(0).latest_cper->afids = {24, 30};
  EXPECT_EQ(node.judge().findings[0].line,
            "fatal error record 0:1 of 2026-11-20T10:00:00Z (MCE), AFID 24, 30");
}

TEST(GpuRules, AFatalCperRecordThatTheCountersContradictIsWatched) {
  Scenario node = amd_scenario_node();
  node.gpu(0).latest_cper = fatal_record(node.now);
  node.gpu(0).ras = {{"umc", 0, 0, 0}, {"gfx", 0, 0, 0}};
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kMonitor);
  node.kernel_has("amd_ras", "UE", "0000:05:00", Severity::kReboot, Evidence::kUserSpace);
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kMonitor) << "a program's line";
  node.kernel_has("amd_ras", "bad_page_threshold", "0000:05:00", Severity::kIsolate);
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kReboot);
  Scenario counted = amd_scenario_node();
  counted.gpu(0).latest_cper = fatal_record(counted.now);
  counted.gpu(0).ras = {{"umc", 0, 1, 0}};
  counted.settings.ras_thresholds["umc"] = 5;
  EXPECT_EQ(severity_of(counted.judge(), "cper_fatal"), Severity::kReboot);
}

TEST(GpuRules, AFatalCperRecordWithoutReadableCountersIsWatchedUntilTheKernelAgrees) {
  Scenario node = amd_scenario_node();
  node.gpu(0).latest_cper = fatal_record(node.now);
  node.gpu(0).ras.clear();
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kMonitor);
  node.kernel_has("amd_ras", "UE", "0000:05:00", Severity::kReboot);
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kReboot);
}

TEST(GpuRules, AnOldLineOfThisBootAgreesWithAFatalCperRecord) {
  Scenario node = amd_scenario_node();
  node.gpu(0).latest_cper = fatal_record(node.now);
  node.gpu(0).ras = {{"umc", 0, 0, 0}};
  node.kernel_has("amd_ras", "UE", "0000:05:00", Severity::kNone);
  Finding& line = node.known.findings.begin()->second;
  line.history = Severity::kReboot;
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kReboot);
  line.is_of_earlier_boot = true;
  EXPECT_EQ(severity_of(node.judge(), "cper_fatal"), Severity::kMonitor);
}

TEST(GpuRules, ACperRecordThatIsNotFatalIsNoFinding) {
  Scenario node = amd_scenario_node();
  for (const CperSeverity severity : {CperSeverity::kUncorrected, CperSeverity::kCorrected}) {
    node.gpu(0).latest_cper = fatal_record(node.now);
    node.gpu(0).latest_cper->severity = severity;
    EXPECT_EQ(codes_of(node.judge()), "");
  }
}

TEST(GpuRules, AFatalCperRecordCountsUpToItsAge) {
  Scenario node = amd_scenario_node();
  node.settings.cper_max_age = std::chrono::hours(24);
  node.gpu(0).latest_cper = fatal_record(node.now - std::chrono::hours(24));
  EXPECT_EQ(codes_of(node.judge()), "cper_fatal");
  node.gpu(0).latest_cper =
      fatal_record(node.now - std::chrono::hours(24) - std::chrono::seconds(1));
  EXPECT_EQ(codes_of(node.judge()), "");
  node.settings.cper_max_age = std::chrono::nanoseconds(0);
  EXPECT_EQ(codes_of(node.judge()), "cper_fatal") << "any age";
}

TEST(GpuRules, AFatalCperRecordWithoutATimeCountsWhateverTheAge) {
  Scenario node = amd_scenario_node();
  node.settings.cper_max_age = std::chrono::hours(1);
  node.gpu(0).latest_cper = fatal_record(std::nullopt);
  const CheckOutcome outcome = node.judge();
  ASSERT_EQ(codes_of(outcome), "cper_fatal");
  EXPECT_EQ(outcome.findings[0].line, "fatal error record 0:1 without a time (MCE)");
}

// Judges and stores the findings, as the watcher does, and returns their codes.
std::string judge_and_keep(Scenario& node, LatchedState& latched) {
  node.known = latched.state();
  const CheckOutcome outcome = node.judge();
  latched.apply_check(decide_status(outcome, kGpuCheck, {node.now}), false);
  return codes_of(outcome);
}

const ClearRequest kClearCper{.check = "gpu", .code = "cper_fatal", .pci_bus_id = "0000:05:00"};

TEST(GpuRules, AFatalCperRecordFallsIfTheCountersContradictItLater) {
  Scenario node = amd_scenario_node();
  LatchedState latched{State()};
  const auto severity = [&] {
    (void)judge_and_keep(node, latched);
    return latched.state().findings.at({"gpu", "cper_fatal", "0000:05:00", Evidence::kMeasured});
  };
  node.gpu(0).latest_cper = fatal_record(node.now);
  node.gpu(0).ras = {{"umc", 0, 1, 0}};
  node.settings.ras_thresholds["umc"] = 5;
  EXPECT_EQ(severity().severity, Severity::kReboot);
  node.gpu(0).ras.clear();
  EXPECT_EQ(severity().severity, Severity::kReboot) << "not to be read takes nothing back";
  node.gpu(0).ras = {{"umc", 0, 0, 0}};
  EXPECT_EQ(severity().severity, Severity::kMonitor);
}

// The driver keeps its records until it is loaded again.
TEST(GpuRules, AFatalCperRecordThatWasClearedComesBackWithANewerOneOnly) {
  Scenario node = amd_scenario_node();
  LatchedState latched{State()};
  node.gpu(0).latest_cper = fatal_record(node.now - std::chrono::hours(2));
  EXPECT_EQ(judge_and_keep(node, latched), "cper_fatal");
  EXPECT_EQ(latched.clear(kClearCper, node.now).size(), 1U);
  EXPECT_EQ(judge_and_keep(node, latched), "");
  EXPECT_TRUE(latched.state().findings.empty());
  node.gpu(0).latest_cper = fatal_record(node.now - std::chrono::hours(1));
  EXPECT_EQ(judge_and_keep(node, latched), "cper_fatal");
}

TEST(GpuRules, AFatalCperRecordWithoutATimeThatWasClearedIsAnotherOneAfterABoot) {
  Scenario node = amd_scenario_node();
  LatchedState latched{State()};
  latched.enter_boot("boot-1", node.now);
  node.gpu(0).latest_cper = fatal_record(std::nullopt);
  EXPECT_EQ(judge_and_keep(node, latched), "cper_fatal");
  static_cast<void>(latched.clear(kClearCper, node.now));
  EXPECT_EQ(judge_and_keep(node, latched), "");
  latched.enter_boot("boot-2", node.now);
  EXPECT_EQ(judge_and_keep(node, latched), "cper_fatal");
}

}  // namespace
}  // namespace gpuward::exporter
