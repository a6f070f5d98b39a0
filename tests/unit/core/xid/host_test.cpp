#include <gtest/gtest.h>

#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

class HostLine : public testing::TestWithParam<LineInWords> {};

TEST_P(HostLine, IsRecognised) {
  const auto event = parse_record(GetParam().line);
  ASSERT_TRUE(event);
  EXPECT_EQ(event->kind, GetParam().kind);
  EXPECT_EQ(event->label, GetParam().label);
}

INSTANTIATE_TEST_SUITE_P(
    Every, HostLine,
    testing::Values(
        LineInWords{"pcieport 0000:00:01.1: AER: Corrected error received: 0000:00:00.0",
                    Kind::kAer, "corrected"},
        LineInWords{"pcieport 0000:00:01.1: AER: Multiple Corrected error received: 0000:00:00.0",
                    Kind::kAer, "corrected"},
        LineInWords{
            "pcieport 0000:00:03.1: PCIe Bus Error: severity=Correctable, type=Data Link Layer",
            Kind::kAer, "corrected"},
        LineInWords{
            "pcieport 0000:80:1b.4: AER: Uncorrectable (Non-Fatal) error message received from "
            "0000:80:1b.4",
            Kind::kAer, "nonfatal"},
        LineInWords{
            "pcieport 0000:00:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:00:03.0",
            Kind::kAer, "fatal"},
        LineInWords{"nvidia 0000:03:00.0: AER: can't recover (no error_detected callback)",
                    Kind::kAer, "recovery_failed"},
        // Linux 7.2.
        LineInWords{"nvidia 0000:03:00.0: AER: can't recover (state transition 1 -> 3 invalid)",
                    Kind::kAer, "recovery_failed"},
        LineInWords{
            "pcieport 0000:80:1b.4: AER: Correctable error message received from 0000:80:1b.4 (no "
            "details found)",
            Kind::kAer, "corrected"},
        LineInWords{"amdgpu 0000:03:00.0: AER: can't recover (no error_detected callback)",
                    Kind::kAer, "recovery_failed"},
        LineInWords{"pcieport 10000:00:03.0: AER: device recovery failed", Kind::kAer,
                    "recovery_failed"},
        LineInWords{"EDAC MC0: 4 CE error on CPU#0Channel#2_DIMM#0 (channel:2 slot:0 page:0x0 "
                    "offset:0x0 grain:8)",
                    Kind::kEdac, "CE"},
        LineInWords{"EDAC MC12: 1 UE memory read error on CPU_SrcID#0 (channel:0 page:0x0 "
                    "offset:0x0 grain:32)",
                    Kind::kEdac, "UE"},
        LineInWords{"mce: [Hardware Error]: Machine check events logged", Kind::kMce, "logged"},
        LineInWords{
            "mce: [Hardware Error]: CPU 1: Machine Check Exception: 5 Bank 4: b200000000070f0f",
            Kind::kMce, "exception"}));

TEST(HostLine, OfAnotherMeaningIsNone) {
  for (const auto* line :
       {"pcieport 0000:00:03.0: AER: Root Port link has been reset (0)",
        "pcieport 0000:00:03.1:    [ 6] BadTLP                ",
        "pcieport 0000:80:1b.4: AER:   TLP Header: 0x34000000 0x00000052",
        "pcieport 0000:00:1c.0: AER: enabled with IRQ 122",
        "EDAC MC0: Giving out device to module skx_edac", "EDAC MC0: 0 CE error on x",
        "mce: CPU0: Thermal monitoring enabled (TM1)",
        "mce: [Hardware Error]: CPU 0: Machine Check: 0 Bank 5: be00000000800400",
        "mce: [Hardware Error]: TSC 0 ADDR fef1ba40", "usb 1-1: new high-speed USB device",
        "foo bar: AER: Corrected error received: 0000:00:00.0",
        "EDAC MC0: 1 UE [4711]: segfault at 0 ip 0 sp 0 error 4",
        "EDAC MC12: 1 UE wrote to x when file position was not 0!"}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

TEST(AerLine, GivesTheAddressOfTheDeviceThatReports) {
  EXPECT_EQ(parse_record("pcieport 0000:00:01.1: AER: Corrected error received: 0000:00:00.0")
                ->pci->full(),
            "0000:00:01.1");
}

TEST(EdacLine, SaysHowManyErrors) {
  EXPECT_EQ(parse_record("EDAC MC0: 4 CE error on CPU#0 (slot:0 page:0x0 offset:0x0)")->count, 4U);
}

}  // namespace
}  // namespace gpuward::xid
