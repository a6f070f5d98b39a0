#include "exporter/store/latched_state.h"

#include <gtest/gtest.h>

#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

std::uint64_t count_of(const LatchedState& latched, std::uint32_t code,
                       const std::string& pci = "0000:4e:00") {
  const auto found = latched.state().counters.find({xid::Kind::kXid, code, "", pci, ""});
  return found == latched.state().counters.end() ? 0 : found->second.count;
}

const Finding* finding_of(const LatchedState& latched, const std::string& code,
                          Evidence evidence = Evidence::kKernel) {
  const auto found = latched.state().findings.find({"xid", code, "0000:4e:00", evidence});
  return found == latched.state().findings.end() ? nullptr : &found->second;
}

TEST(LatchedState, CountsEachEventAndKeepsWhenItWasLast) {
  LatchedState latched({});

  latched.observe(observe_xid({.code = 13, .severity = Severity::kMonitor, .second = 1}));
  latched.observe(observe_xid({.code = 13, .severity = Severity::kMonitor, .second = 2}));

  EXPECT_EQ(count_of(latched, 13), 2U);
  ASSERT_NE(finding_of(latched, "13"), nullptr);
  EXPECT_EQ(finding_of(latched, "13")->first_seen, at_second(1));
  EXPECT_EQ(finding_of(latched, "13")->last_seen, at_second(2));
  EXPECT_EQ(finding_of(latched, "13")->count, 2U);
}

TEST(LatchedState, CountsALostGpuOnceHoweverManyLinesSayIt) {
  LatchedState latched({});
  Observation other_shape = observe_xid({.code = 79, .second = 3});
  other_shape.event.label = "fallen_off";

  latched.observe(observe_xid({.code = 79, .second = 0}));
  latched.observe(other_shape);

  EXPECT_EQ(count_of(latched, 79), 1U);
  EXPECT_EQ(latched.state().counters.size(), 1U);
}

TEST(LatchedState, CountsALostGpuAgainAfterTheBurstAndOnAnotherAddress) {
  LatchedState latched({});

  latched.observe(observe_xid({.code = 79, .second = 0}));
  latched.observe(observe_xid({.code = 79, .pci = "0000:5e:00", .second = 1}));
  latched.observe(observe_xid({.code = 79, .second = 60}));

  EXPECT_EQ(count_of(latched, 79), 2U);
  EXPECT_EQ(count_of(latched, 79, "0000:5e:00"), 1U);
}

TEST(LatchedState, GivesTheKernelItsOwnFindingAfterAForgedLineOfTheSameBurst) {
  LatchedState latched({});

  latched.observe(observe_xid({.code = 79, .second = 0, .evidence = Evidence::kUserSpace}));
  latched.observe(observe_xid({.code = 79, .second = 1}));

  EXPECT_NE(finding_of(latched, "79", Evidence::kUserSpace), nullptr);
  ASSERT_NE(finding_of(latched, "79", Evidence::kKernel), nullptr);
  EXPECT_EQ(finding_of(latched, "79", Evidence::kKernel)->count, 1U);
}

TEST(LatchedState, DoesNotLetUserSpaceRaiseAFindingOfTheKernel) {
  LatchedState latched({});

  latched.observe(observe_xid({.code = 154, .severity = Severity::kReset}));
  latched.observe(
      observe_xid({.code = 154, .severity = Severity::kReboot, .evidence = Evidence::kUserSpace}));

  EXPECT_EQ(finding_of(latched, "154")->severity, Severity::kReset);
}

TEST(LatchedState, NeverLowersAFindingByALaterVerdict) {
  LatchedState latched({});

  latched.observe(observe_xid({.code = 154, .severity = Severity::kReboot, .second = 0}));
  latched.observe(observe_xid({.code = 154, .severity = Severity::kReset, .second = 1}));
  latched.observe(observe_xid({.code = 154, .severity = Severity::kNone, .second = 2}));

  EXPECT_EQ(finding_of(latched, "154")->severity, Severity::kReboot);
  EXPECT_EQ(count_of(latched, 154), 3U);
}

TEST(LatchedState, CountsWhatMeansNothingWithoutAFinding) {
  LatchedState latched({});

  latched.observe(observe_xid({.code = 45, .severity = Severity::kNone}));

  EXPECT_EQ(count_of(latched, 45), 1U);
  EXPECT_TRUE(latched.state().findings.empty());
}

TEST(LatchedState, CountsTheErrorsThatALineSpeaksOf) {
  LatchedState latched({});
  Observation edac = observe_xid({.code = 0, .severity = Severity::kMonitor});
  edac.event.kind = xid::Kind::kEdac;
  edac.event.label = "CE";
  edac.event.count = 7;

  latched.observe(edac);

  EXPECT_EQ(latched.state().counters.begin()->second.count, 7U);
  EXPECT_EQ(latched.state().findings.begin()->first.code, "CE");
}

TEST(LatchedState, ClearsAtANewBootWhatARebootOrAResetClearsAndKeepsTheRest) {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));
  latched.observe(observe_xid({.code = 79, .cleared_by = ClearedBy::kReboot}));
  latched.observe(observe_xid({.code = 62, .cleared_by = ClearedBy::kGpuReset}));
  latched.observe(observe_xid({.code = 64, .cleared_by = ClearedBy::kOperator}));
  latched.observe(observe_xid({.code = 48, .cleared_by = ClearedBy::kDiagnostics}));
  latched.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge}));

  latched.enter_boot("boot-2", at_second(100));

  EXPECT_EQ(finding_of(latched, "79"), nullptr);
  EXPECT_EQ(finding_of(latched, "62"), nullptr);
  EXPECT_NE(finding_of(latched, "64"), nullptr);
  EXPECT_NE(finding_of(latched, "48"), nullptr);
  EXPECT_NE(finding_of(latched, "13"), nullptr);
  EXPECT_EQ(count_of(latched, 79), 1U) << "counters are monotonic over reboots";
  EXPECT_EQ(latched.state().findings_updated, at_second(100));
}

TEST(LatchedState, ClearsNothingAtARestartInTheSameBootOrAnUnknownOne) {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));
  latched.observe(observe_xid({.code = 79}));

  latched.enter_boot("boot-1", at_second(1));
  latched.enter_boot("", at_second(2));

  EXPECT_NE(finding_of(latched, "79"), nullptr);
}

TEST(LatchedState, LetsAgeClearOnlyWhatAgeClears) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge, .second = 0}));
  latched.observe(observe_xid({.code = 79, .cleared_by = ClearedBy::kReboot, .second = 0}));

  EXPECT_FALSE(latched.expire(at_second(59), 60s));
  EXPECT_TRUE(latched.expire(at_second(60), 60s));

  EXPECT_EQ(finding_of(latched, "13"), nullptr);
  EXPECT_NE(finding_of(latched, "79"), nullptr);
}

TEST(LatchedState, KeepsAgeingFromTheLastRepeat) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge, .second = 0}));
  latched.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge, .second = 50}));

  EXPECT_FALSE(latched.expire(at_second(100), 60s));
}

TEST(LatchedState, DropsAndCountsEventsOverTheCap) {
  LatchedState latched({}, {.counters = 8, .findings = 8, .uuids = 8});

  for (std::uint32_t code = 1000; code < 1020; ++code) {
    latched.observe(observe_xid({.code = code, .severity = Severity::kNone, .known = false}));
  }

  EXPECT_EQ(latched.state().counters.size(), 8U);
  EXPECT_EQ(latched.state().dropped_events, 12U);
}

TEST(LatchedState, KeepsRoomForTheKernelWhenUserSpaceFloods) {
  LatchedState latched({}, {.counters = 8, .findings = 8, .uuids = 8});
  for (std::uint32_t code = 1000; code < 1020; ++code) {
    latched.observe(observe_xid({.code = code, .evidence = Evidence::kUserSpace}));
  }

  latched.observe(observe_xid({.code = 48}));

  EXPECT_EQ(count_of(latched, 48), 1U);
  EXPECT_NE(finding_of(latched, "48"), nullptr);
}

TEST(LatchedState, AlwaysTakesAKnownCodeOnAGpuOfTheInventory) {
  LatchedState latched({}, {.counters = 2, .findings = 2, .uuids = 2});
  Gpu gpu;
  gpu.pci = *parse_pci_address("0000:4e:00.0");
  (void)latched.set_gpus({gpu}, WallTime());
  for (std::uint32_t code = 1000; code < 1020; ++code) {
    latched.observe(observe_xid({.code = code, .pci = "0000:aa:00", .known = false}));
  }

  latched.observe(observe_xid({.code = 79}));

  EXPECT_NE(finding_of(latched, "79"), nullptr);
}

TEST(LatchedState, LearnsUuidsUpToItsCap) {
  LatchedState latched({}, {.counters = 2, .findings = 2, .uuids = 1});

  EXPECT_TRUE(latched.learn_uuid({*parse_pci_address("4e:00"), "GPU-a"}));
  EXPECT_FALSE(latched.learn_uuid({*parse_pci_address("4e:00"), "GPU-a"}));
  EXPECT_FALSE(latched.learn_uuid({*parse_pci_address("5e:00"), "GPU-b"}));

  EXPECT_EQ(latched.state().uuids.at("0000:4e:00"), "GPU-a");
}

TEST(LatchedState, KeepsTextsShortAndValid) {
  LatchedState latched({});
  Observation observation = observe_xid({});
  observation.line = std::string(100'000, 'x') + "\xff";
  latched.observe(observation);

  EXPECT_LE(finding_of(latched, "79")->line.size(), 1024U);
}

Observation old_xid(const XidSpec& spec) {
  Observation observation = observe_xid(spec);
  observation.is_history = true;
  return observation;
}

TEST(LatchedStateHistory, IsCountedAndListedAndJustifiesNothing) {
  LatchedState latched({});

  latched.observe(old_xid({.code = 119, .severity = Severity::kReset}));

  EXPECT_EQ(count_of(latched, 119), 1U);
  ASSERT_NE(finding_of(latched, "119"), nullptr);
  EXPECT_EQ(finding_of(latched, "119")->severity, Severity::kNone);
  EXPECT_EQ(finding_of(latched, "119")->history, Severity::kReset);
}

TEST(LatchedStateHistory, LeavesAFindingAsItIs) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 119, .severity = Severity::kReset, .second = 9}));

  latched.observe(old_xid({.code = 119, .severity = Severity::kReboot, .second = 1}));

  EXPECT_EQ(finding_of(latched, "119")->severity, Severity::kReset);
  EXPECT_EQ(finding_of(latched, "119")->history, Severity::kNone);
  EXPECT_EQ(finding_of(latched, "119")->count, 1U);
}

TEST(LatchedStateHistory, EndsWithANewLine) {
  LatchedState latched({});
  latched.observe(old_xid({.code = 119, .severity = Severity::kReboot, .second = 1}));

  latched.observe(observe_xid({.code = 119, .severity = Severity::kReset, .second = 9}));

  EXPECT_EQ(finding_of(latched, "119")->severity, Severity::kReset);
  EXPECT_EQ(finding_of(latched, "119")->history, Severity::kNone);
}

Observation xid_of_earlier_boot(const XidSpec& spec) {
  Observation observation = old_xid(spec);
  observation.is_of_earlier_boot = true;
  return observation;
}

TEST(LatchedStateHistory, OfAnEarlierBootIsNotOfThisOne) {
  LatchedState latched({});
  latched.enter_boot("boot-2", at_second(0));

  latched.observe(xid_of_earlier_boot({.code = 79, .severity = Severity::kReboot}));

  ASSERT_NE(finding_of(latched, "79"), nullptr);
  EXPECT_TRUE(finding_of(latched, "79")->is_of_earlier_boot);
  EXPECT_EQ(finding_of(latched, "79")->first_boot_id, "");
  EXPECT_EQ(finding_of(latched, "79")->last_boot_id, "");
}

TEST(LatchedStateHistory, OfThisBootTakesThePlaceOfWhatIsOfAnEarlierOne) {
  LatchedState latched({});
  latched.enter_boot("boot-2", at_second(0));
  latched.observe(xid_of_earlier_boot({.code = 119, .severity = Severity::kReboot}));

  latched.observe(old_xid({.code = 119, .severity = Severity::kReset, .second = 1}));

  EXPECT_FALSE(finding_of(latched, "119")->is_of_earlier_boot);
  EXPECT_EQ(finding_of(latched, "119")->history, Severity::kReset);
  EXPECT_EQ(finding_of(latched, "119")->first_boot_id, "boot-2");

  latched.observe(xid_of_earlier_boot({.code = 119, .severity = Severity::kReboot, .second = 2}));

  EXPECT_FALSE(finding_of(latched, "119")->is_of_earlier_boot);
  EXPECT_EQ(finding_of(latched, "119")->history, Severity::kReset);
}

TEST(LatchedStateHistory, OfTheBootBeforeIsOfAnEarlierOne) {
  LatchedState latched({});
  latched.enter_boot("boot-1", at_second(0));
  latched.observe(old_xid({.code = 64, .cleared_by = ClearedBy::kOperator}));

  latched.enter_boot("boot-2", at_second(1));

  ASSERT_NE(finding_of(latched, "64"), nullptr);
  EXPECT_TRUE(finding_of(latched, "64")->is_of_earlier_boot);
}

TEST(LatchedStateHistory, EndsWithANewLineThoughItWasOfAnEarlierBoot) {
  LatchedState latched({});
  latched.enter_boot("boot-2", at_second(0));
  latched.observe(xid_of_earlier_boot({.code = 119, .severity = Severity::kReboot}));

  latched.observe(observe_xid({.code = 119, .severity = Severity::kReset, .second = 9}));

  EXPECT_FALSE(finding_of(latched, "119")->is_of_earlier_boot);
  EXPECT_EQ(finding_of(latched, "119")->first_boot_id, "boot-2");
}

TEST(LatchedStateHistory, BecomesAFindingOnceAReadingConfirmsIt) {
  LatchedState latched({});
  latched.observe(old_xid({.code = 119, .severity = Severity::kReset}));
  CheckResult reading;
  reading.check = "gpu";
  reading.witnessed = {{"xid", "119", "0000:4e:00", Severity::kReset, "gpu gpu_lost"}};

  latched.apply_check(reading, false);

  EXPECT_EQ(finding_of(latched, "119")->severity, Severity::kReset);
  EXPECT_EQ(finding_of(latched, "119")->history, Severity::kNone);
  EXPECT_EQ(finding_of(latched, "119")->confirmed_severity(), Severity::kReset);
}

TEST(LatchedState, TakesXid163AwayWhenXid162SaysThatItIsOver) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 163, .severity = Severity::kMonitor, .second = 1}));
  latched.observe(observe_xid(
      {.code = 162, .severity = Severity::kNone, .second = 2, .evidence = Evidence::kUserSpace}));
  latched.observe(
      observe_xid({.code = 162, .pci = "0000:5f:00", .severity = Severity::kNone, .second = 2}));
  EXPECT_NE(finding_of(latched, "163"), nullptr) << "of a program, and of another GPU";

  latched.observe(observe_xid({.code = 162, .severity = Severity::kNone, .second = 2}));

  EXPECT_EQ(finding_of(latched, "163"), nullptr);
  EXPECT_EQ(count_of(latched, 163), 1U);
}

TEST(LatchedState, TakesNoActionBackByALineAlone) {
  LatchedState latched({});
  latched.observe(observe_xid({.code = 163, .severity = Severity::kReset, .second = 1}));

  latched.observe(observe_xid({.code = 162, .severity = Severity::kNone, .second = 2}));

  EXPECT_NE(finding_of(latched, "163"), nullptr) << "an override rates it as reset";
}

}  // namespace
}  // namespace gpuward::exporter
