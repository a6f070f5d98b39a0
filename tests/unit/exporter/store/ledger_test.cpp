#include "exporter/store/ledger.h"

#include <gtest/gtest.h>

#include "tests/unit/exporter/store/observations.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;

std::uint64_t count_of(const Ledger& ledger, std::uint32_t code,
                       const std::string& pci = "0000:4e:00") {
  const auto found = ledger.state().counters.find({xid::Kind::kXid, code, "", pci, ""});
  return found == ledger.state().counters.end() ? 0 : found->second.count;
}

const Finding* finding_of(const Ledger& ledger, const std::string& code,
                          Evidence evidence = Evidence::kKernel) {
  const auto found = ledger.state().findings.find({"xid", code, "0000:4e:00", evidence});
  return found == ledger.state().findings.end() ? nullptr : &found->second;
}

TEST(Ledger, CountsEachEventAndKeepsWhenItWasLast) {
  Ledger ledger({});

  ledger.observe(observe_xid({.code = 13, .severity = Severity::kMonitor, .second = 1}));
  ledger.observe(observe_xid({.code = 13, .severity = Severity::kMonitor, .second = 2}));

  EXPECT_EQ(count_of(ledger, 13), 2U);
  ASSERT_NE(finding_of(ledger, "13"), nullptr);
  EXPECT_EQ(finding_of(ledger, "13")->first_seen, at_second(1));
  EXPECT_EQ(finding_of(ledger, "13")->last_seen, at_second(2));
  EXPECT_EQ(finding_of(ledger, "13")->count, 2U);
}

TEST(Ledger, CountsALostGpuOnceHoweverManyLinesSayIt) {
  Ledger ledger({});
  Observation other_shape = observe_xid({.code = 79, .second = 3});
  other_shape.event.label = "fallen_off";

  ledger.observe(observe_xid({.code = 79, .second = 0}));
  ledger.observe(other_shape);

  EXPECT_EQ(count_of(ledger, 79), 1U);
  EXPECT_EQ(ledger.state().counters.size(), 1U);
}

TEST(Ledger, CountsALostGpuAgainAfterTheBurstAndOnAnotherAddress) {
  Ledger ledger({});

  ledger.observe(observe_xid({.code = 79, .second = 0}));
  ledger.observe(observe_xid({.code = 79, .pci = "0000:5e:00", .second = 1}));
  ledger.observe(observe_xid({.code = 79, .second = 60}));

  EXPECT_EQ(count_of(ledger, 79), 2U);
  EXPECT_EQ(count_of(ledger, 79, "0000:5e:00"), 1U);
}

TEST(Ledger, GivesTheKernelItsOwnFindingAfterAForgedLineOfTheSameBurst) {
  Ledger ledger({});

  ledger.observe(observe_xid({.code = 79, .second = 0, .evidence = Evidence::kUserSpace}));
  ledger.observe(observe_xid({.code = 79, .second = 1}));

  EXPECT_NE(finding_of(ledger, "79", Evidence::kUserSpace), nullptr);
  ASSERT_NE(finding_of(ledger, "79", Evidence::kKernel), nullptr);
  EXPECT_EQ(finding_of(ledger, "79", Evidence::kKernel)->count, 1U);
}

TEST(Ledger, DoesNotLetUserSpaceRaiseAFindingOfTheKernel) {
  Ledger ledger({});

  ledger.observe(observe_xid({.code = 154, .severity = Severity::kReset}));
  ledger.observe(
      observe_xid({.code = 154, .severity = Severity::kReboot, .evidence = Evidence::kUserSpace}));

  EXPECT_EQ(finding_of(ledger, "154")->severity, Severity::kReset);
}

TEST(Ledger, NeverLowersAFindingByALaterVerdict) {
  Ledger ledger({});

  ledger.observe(observe_xid({.code = 154, .severity = Severity::kReboot, .second = 0}));
  ledger.observe(observe_xid({.code = 154, .severity = Severity::kReset, .second = 1}));
  ledger.observe(observe_xid({.code = 154, .severity = Severity::kNone, .second = 2}));

  EXPECT_EQ(finding_of(ledger, "154")->severity, Severity::kReboot);
  EXPECT_EQ(count_of(ledger, 154), 3U);
}

TEST(Ledger, CountsWhatMeansNothingWithoutAFinding) {
  Ledger ledger({});

  ledger.observe(observe_xid({.code = 45, .severity = Severity::kNone}));

  EXPECT_EQ(count_of(ledger, 45), 1U);
  EXPECT_TRUE(ledger.state().findings.empty());
}

TEST(Ledger, CountsTheErrorsThatALineSpeaksOf) {
  Ledger ledger({});
  Observation edac = observe_xid({.code = 0, .severity = Severity::kMonitor});
  edac.event.kind = xid::Kind::kEdac;
  edac.event.label = "CE";
  edac.event.count = 7;

  ledger.observe(edac);

  EXPECT_EQ(ledger.state().counters.begin()->second.count, 7U);
  EXPECT_EQ(ledger.state().findings.begin()->first.code, "CE");
}

TEST(Ledger, K13ClearsAtANewBootWhatARebootOrAResetClearsAndKeepsTheRest) {
  Ledger ledger({});
  ledger.enter_boot("boot-1", at_second(0));
  ledger.observe(observe_xid({.code = 79, .cleared_by = ClearedBy::kReboot}));
  ledger.observe(observe_xid({.code = 62, .cleared_by = ClearedBy::kGpuReset}));
  ledger.observe(observe_xid({.code = 64, .cleared_by = ClearedBy::kOperator}));
  ledger.observe(observe_xid({.code = 48, .cleared_by = ClearedBy::kDiagnostics}));
  ledger.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge}));

  ledger.enter_boot("boot-2", at_second(100));

  EXPECT_EQ(finding_of(ledger, "79"), nullptr);
  EXPECT_EQ(finding_of(ledger, "62"), nullptr);
  EXPECT_NE(finding_of(ledger, "64"), nullptr);
  EXPECT_NE(finding_of(ledger, "48"), nullptr);
  EXPECT_NE(finding_of(ledger, "13"), nullptr);
  EXPECT_EQ(count_of(ledger, 79), 1U) << "counters are monotonic over reboots";
  EXPECT_EQ(ledger.state().findings_updated, at_second(100));
}

TEST(Ledger, ClearsNothingAtARestartInTheSameBootOrAnUnknownOne) {
  Ledger ledger({});
  ledger.enter_boot("boot-1", at_second(0));
  ledger.observe(observe_xid({.code = 79}));

  ledger.enter_boot("boot-1", at_second(1));
  ledger.enter_boot("", at_second(2));

  EXPECT_NE(finding_of(ledger, "79"), nullptr);
}

TEST(Ledger, K13LetsAgeClearOnlyWhatAgeClears) {
  Ledger ledger({});
  ledger.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge, .second = 0}));
  ledger.observe(observe_xid({.code = 79, .cleared_by = ClearedBy::kReboot, .second = 0}));

  EXPECT_FALSE(ledger.expire(at_second(59), 60s));
  EXPECT_TRUE(ledger.expire(at_second(60), 60s));

  EXPECT_EQ(finding_of(ledger, "13"), nullptr);
  EXPECT_NE(finding_of(ledger, "79"), nullptr);
}

TEST(Ledger, KeepsAgeingFromTheLastRepeat) {
  Ledger ledger({});
  ledger.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge, .second = 0}));
  ledger.observe(observe_xid({.code = 13, .cleared_by = ClearedBy::kAge, .second = 50}));

  EXPECT_FALSE(ledger.expire(at_second(100), 60s));
}

TEST(Ledger, DropsAndCountsEventsOverTheCap) {
  Ledger ledger({}, {.counters = 8, .findings = 8, .uuids = 8});

  for (std::uint32_t code = 1000; code < 1020; ++code) {
    ledger.observe(observe_xid({.code = code, .severity = Severity::kNone, .known = false}));
  }

  EXPECT_EQ(ledger.state().counters.size(), 8U);
  EXPECT_EQ(ledger.state().dropped_events, 12U);
}

TEST(Ledger, KeepsRoomForTheKernelWhenUserSpaceFloods) {
  Ledger ledger({}, {.counters = 8, .findings = 8, .uuids = 8});
  for (std::uint32_t code = 1000; code < 1020; ++code) {
    ledger.observe(observe_xid({.code = code, .evidence = Evidence::kUserSpace}));
  }

  ledger.observe(observe_xid({.code = 48}));

  EXPECT_EQ(count_of(ledger, 48), 1U);
  EXPECT_NE(finding_of(ledger, "48"), nullptr);
}

TEST(Ledger, AlwaysTakesAKnownCodeOnAGpuOfTheInventory) {
  Ledger ledger({}, {.counters = 2, .findings = 2, .uuids = 2});
  Gpu gpu;
  gpu.pci = *parse_pci_address("0000:4e:00.0");
  (void)ledger.set_gpus({gpu}, WallTime());
  for (std::uint32_t code = 1000; code < 1020; ++code) {
    ledger.observe(observe_xid({.code = code, .pci = "0000:aa:00", .known = false}));
  }

  ledger.observe(observe_xid({.code = 79}));

  EXPECT_NE(finding_of(ledger, "79"), nullptr);
}

TEST(Ledger, LearnsUuidsUpToItsCap) {
  Ledger ledger({}, {.counters = 2, .findings = 2, .uuids = 1});

  EXPECT_TRUE(ledger.learn_uuid({*parse_pci_address("4e:00"), "GPU-a"}));
  EXPECT_FALSE(ledger.learn_uuid({*parse_pci_address("4e:00"), "GPU-a"}));
  EXPECT_FALSE(ledger.learn_uuid({*parse_pci_address("5e:00"), "GPU-b"}));

  EXPECT_EQ(ledger.state().uuids.at("0000:4e:00"), "GPU-a");
}

TEST(Ledger, KeepsTextsShortAndValid) {
  Ledger ledger({});
  Observation observation = observe_xid({});
  observation.line = std::string(100'000, 'x') + "\xff";
  ledger.observe(observation);

  EXPECT_LE(finding_of(ledger, "79")->line.size(), 1024U);
}

}  // namespace
}  // namespace gpuward::exporter
