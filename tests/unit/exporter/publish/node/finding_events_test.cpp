#include "exporter/publish/node/finding_events.h"

#include <gmock/gmock.h>

#include "tests/unit/exporter/publish/node/snapshots.h"

namespace gpuward::exporter {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Clock::Steady kStart{std::chrono::hours(1)};

class FindingEventsTest : public ::testing::Test {
 protected:
  void comes(const std::string& check, const std::string& code, const std::string& place,
             Severity severity = Severity::kReboot) {
    Finding finding;
    finding.check = check;
    finding.code = code;
    finding.pci_bus_id = place;
    finding.severity = severity;
    finding.cleared_by = severity == Severity::kNone ? ClearedBy::kCheck : ClearedBy::kReboot;
    finding.line = "GPU has fallen off the bus";
    snapshot_.state.findings[{check, code, place}] = finding;
  }
  void goes(const std::string& check, const std::string& code, const std::string& place) {
    snapshot_.state.findings.erase({check, code, place});
  }
  // Returns the due events, and marks them as sent: "reason+" for a new finding and "reason-" for
  // one that is gone.
  std::vector<std::string> told_at(seconds time) {
    std::vector<std::string> said;
    for (const FindingEvent& event : events_.due(snapshot_, kStart + time)) {
      said.push_back(event.reason + (event.has_come ? "+" : "-"));
      last_ = event.message;
      events_.mark_told(event, kStart + time);
    }
    return said;
  }
  using Said = std::vector<std::string>;

  Snapshot snapshot_;
  FindingEvents events_;
  std::string last_;
};

TEST_F(FindingEventsTest, TellsOnceThatAFindingComesAndOnceThatItGoes) {
  comes("xid", "79", "0000:4e:00");
  EXPECT_EQ(told_at(seconds(0)), Said{"Xid79+"});
  EXPECT_EQ(last_, "REBOOT: xid 79 on 0000:4e:00: GPU has fallen off the bus");
  EXPECT_THAT(told_at(seconds(3600)), IsEmpty());

  goes("xid", "79", "0000:4e:00");
  EXPECT_EQ(told_at(seconds(3601)), Said{"Xid79-"});
  EXPECT_EQ(last_, "xid 79 is gone from 0000:4e:00");
  EXPECT_THAT(told_at(seconds(9999)), IsEmpty());
}

TEST_F(FindingEventsTest, TellsAtMostOnceAMinuteOfTheSameReason) {
  comes("xid", "79", "0000:4e:00");
  EXPECT_EQ(told_at(seconds(0)), Said{"Xid79+"});
  goes("xid", "79", "0000:4e:00");
  EXPECT_THAT(told_at(seconds(10)), IsEmpty());
  EXPECT_EQ(events_.next(), kStart + seconds(60));
  comes("xid", "79", "0000:4e:00");
  EXPECT_THAT(told_at(seconds(60)), IsEmpty());  // it is still there, as reported
  goes("xid", "79", "0000:4e:00");
  EXPECT_EQ(told_at(seconds(61)), Said{"Xid79-"});
  comes("xid", "79", "0000:4e:00");
  EXPECT_THAT(told_at(seconds(120)), IsEmpty());
  EXPECT_EQ(told_at(seconds(121)), Said{"Xid79+"});
}

TEST_F(FindingEventsTest, TellsOfAllGpusAtOnce) {
  comes("gpu", "ecc_uncorrected", "0000:4e:00");
  comes("gpu", "ecc_uncorrected", "0000:5e:00");
  EXPECT_EQ(told_at(seconds(0)), Said{"EccUncorrected+"});
  EXPECT_THAT(last_, HasSubstr("; on 0000:4e:00, 0000:5e:00"));
}

TEST_F(FindingEventsTest, TellsOfAnotherGpuAndNotOfOneLess) {
  comes("xid", "79", "0000:4e:00");
  EXPECT_EQ(told_at(seconds(0)), Said{"Xid79+"});
  comes("xid", "79", "0000:5e:00");
  EXPECT_EQ(told_at(seconds(60)), Said{"Xid79+"});
  goes("xid", "79", "0000:4e:00");
  EXPECT_THAT(told_at(seconds(120)), IsEmpty());
  goes("xid", "79", "0000:5e:00");
  EXPECT_EQ(told_at(seconds(121)), Said{"Xid79-"});
  EXPECT_EQ(last_, "xid 79 is gone from 0000:5e:00");
}

TEST_F(FindingEventsTest, TellsAgainWhatCouldNotBeTold) {
  comes("xid", "79", "");
  EXPECT_EQ(events_.due(snapshot_, kStart).size(), 1U);
  EXPECT_EQ(told_at(seconds(60)), Said{"Xid79+"});
  goes("xid", "79", "");
  EXPECT_EQ(events_.due(snapshot_, kStart + seconds(120)).size(), 1U);
  EXPECT_EQ(told_at(seconds(180)), Said{"Xid79-"});
  EXPECT_EQ(last_, "xid 79 is gone");
}

TEST_F(FindingEventsTest, WhatWasKnownAtTheStartIsNoNewsUntilItGoes) {
  comes("xid", "79", "0000:4e:00");
  events_ = FindingEvents(snapshot_);
  EXPECT_THAT(told_at(seconds(0)), IsEmpty());
  goes("xid", "79", "0000:4e:00");
  EXPECT_EQ(told_at(seconds(1)), Said{"Xid79-"});
}

// A finding of a check in an earlier boot has no severity until the check runs again.
TEST_F(FindingEventsTest, LeavesOutWhatIsNotKnownInThisBoot) {
  comes("gpu", "gpu_missing", "", Severity::kNone);
  EXPECT_THAT(told_at(seconds(0)), IsEmpty());
}

// After a reboot. The exporter reported it before.
TEST_F(FindingEventsTest, DoNotSayThatAFindingIsGoneBeforeACheckHasLookedAgain) {
  comes("gpu", "gpu_missing", "0000:4e:00");
  comes("gpu", "gpu_missing", "0000:5e:00");
  events_ = FindingEvents(snapshot_);
  comes("gpu", "gpu_missing", "0000:4e:00", Severity::kNone);
  comes("gpu", "gpu_missing", "0000:5e:00", Severity::kNone);
  EXPECT_THAT(told_at(seconds(0)), IsEmpty());
  events_ = FindingEvents(snapshot_);  // another restart in this boot

  comes("gpu", "gpu_missing", "0000:4e:00");
  EXPECT_THAT(told_at(seconds(61)), IsEmpty()) << "told of before the reboot";
  comes("gpu", "gpu_missing", "0000:5e:00");
  EXPECT_THAT(told_at(seconds(122)), IsEmpty());
  goes("gpu", "gpu_missing", "0000:4e:00");
  goes("gpu", "gpu_missing", "0000:5e:00");
  EXPECT_EQ(told_at(seconds(183)), Said{"GpuMissing-"});
}

TEST(EventReason, IsTheCodeInCamelCase) {
  EXPECT_EQ(event_reason("xid", "79"), "Xid79");
  EXPECT_EQ(event_reason("sxid", "20034"), "Sxid20034");
  EXPECT_EQ(event_reason("gpu", "ecc_uncorrected"), "EccUncorrected");
  EXPECT_EQ(event_reason("1-dcgm-diag-l2", "memory/58"), "Memory58");
  EXPECT_EQ(event_reason("ntp", "NTPIsDown"), "NTPIsDown");
  EXPECT_EQ(event_reason("2-efa-enumeration", ""), "EfaEnumeration");
  EXPECT_EQ(event_reason("7", ""), "");
  EXPECT_EQ(event_reason("x", std::string(300, 'a')).size(), 128U);
}

}  // namespace
}  // namespace gpuward::exporter
