#include <gtest/gtest.h>

#include <map>

#include "core/xid/catalogue.h"
#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

Catalogue seed() { return Catalogue({.profile = Profile::kSeed}); }

// The table of the health check suite that gpuward replaces. A code that it does not list is
// MONITOR in that suite.
TEST(SeedProfile, IsTheTableOfTheSuite) {
  const std::map<std::uint32_t, Severity> table{
      {54, Severity::kIsolate}, {79, Severity::kReboot}, {151, Severity::kReboot},
      {168, Severity::kReboot}, {48, Severity::kReset},  {64, Severity::kReset},
      {95, Severity::kReset},   {109, Severity::kReset}, {110, Severity::kReset},
      {119, Severity::kReset},  {120, Severity::kReset}, {136, Severity::kReset},
      {140, Severity::kReset},  {143, Severity::kReset}, {155, Severity::kReset},
      {156, Severity::kReset},  {158, Severity::kReset}, {74, Severity::kReset}};
  const auto catalogue = seed();
  for (const auto& line : catalogue.xid_policy()) {
    const auto listed = table.find(line.code);
    EXPECT_EQ(line.severity, listed == table.end() ? Severity::kMonitor : listed->second)
        << line.code;
    EXPECT_EQ(line.source, "seed");
  }
}

TEST(SeedProfile, WatchesANumberOfNoTable) {
  EXPECT_EQ(seed().judge(xid(99999)).severity, Severity::kMonitor);
}

TEST(SeedProfile, ReadsTheAdviceOfXid154) {
  const std::map<std::uint32_t, Severity> table{{0, Severity::kMonitor}, {1, Severity::kReset},
                                                {2, Severity::kReboot},  {3, Severity::kReset},
                                                {4, Severity::kReset},   {5, Severity::kMonitor}};
  for (const auto& [to, severity] : table) {
    auto event = xid(154);
    event.recovery_to = to;
    EXPECT_EQ(seed().judge(event).severity, severity) << to;
  }
}

TEST(SeedProfile, TakesNvlinkDefaultForXid74WhateverItsRegisters) {
  const Catalogue catalogue({.profile = Profile::kSeed, .nvlink_default = Severity::kReboot});
  auto event = xid(74);
  event.registers = {1, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(catalogue.judge(event).severity, Severity::kReboot);
}

TEST(SeedProfile, TakesNvlink5DefaultWhateverTheSubCode) {
  const Catalogue catalogue({.profile = Profile::kSeed, .nvlink5_default = Severity::kReset});
  for (std::uint32_t code = 144; code <= 150; ++code)
    EXPECT_EQ(catalogue.judge(xid(code)).severity, Severity::kReset);
  auto fatal = xid(149);
  fatal.fatality = Fatality::kFatal;
  EXPECT_EQ(seed().judge(fatal).severity, Severity::kMonitor);
}

TEST(SeedProfile, RebootsAnA100) {
  const auto catalogue = seed();
  EXPECT_EQ(catalogue.judge(xid(64), "NVIDIA A100-SXM4-80GB").severity, Severity::kReboot);
  EXPECT_EQ(catalogue.judge(xid(95), "NVIDIA A100-SXM4-80GB").severity, Severity::kReboot);
  EXPECT_EQ(catalogue.judge(xid(95), "NVIDIA A100-SXM4-80GB").cleared_by, ClearedBy::kReboot);
  EXPECT_EQ(catalogue.judge(xid(64), "NVIDIA H100").severity, Severity::kReset);
}

TEST(SeedProfile, ResetsAnA100WithMig) {
  auto event = xid(95);
  event.gpu_instance = 5;
  EXPECT_EQ(seed().judge(event, "NVIDIA A100-SXM4-80GB").severity, Severity::kReset);
}

TEST(SeedProfile, WatchesEverySxid) {
  for (const auto& row : sxid_rows()) {
    Event event;
    event.kind = Kind::kSxid;
    event.code = row.code;
    event.fatality = Fatality::kFatal;
    EXPECT_EQ(seed().judge(event).severity, Severity::kMonitor) << row.code;
  }
}

TEST(DefaultProfile, LeavesTheA100AsTheTableSays) {
  EXPECT_EQ(Catalogue().judge(xid(64), "NVIDIA A100-SXM4-80GB").severity, Severity::kIsolate);
  EXPECT_EQ(Catalogue().judge(xid(95), "NVIDIA A100-SXM4-80GB").severity, Severity::kReset);
}

}  // namespace
}  // namespace gpuward::xid
