#include <gtest/gtest.h>

#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

TEST(SxidLine, GivesSwitchCodeClassAndLink) {
  const auto event = parsed(
      "[ 1.0] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress "
      "non-posted PRIV error (First)");
  EXPECT_EQ(event.kind, Kind::kSxid);
  EXPECT_EQ(event.switch_name, "nvidia-nvswitch3");
  EXPECT_EQ(event.pci->full(), "0000:05:00.0");
  EXPECT_EQ(event.code, 12028U);
  EXPECT_EQ(event.fatality, Fatality::kNonFatal);
  EXPECT_EQ(event.link, 32);
  EXPECT_EQ(event.unit, "egress non-posted PRIV error (First)");
}

TEST(SxidLine, MayBeFatalWithoutALink) {
  const auto event = parsed(
      "nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 23001, Fatal, ingress SRC-VC buffer overflow, "
      "instance=1, chiplet=2");
  EXPECT_EQ(event.fatality, Fatality::kFatal);
  EXPECT_FALSE(event.link);
  EXPECT_EQ(event.unit, "ingress SRC-VC buffer overflow, instance=1, chiplet=2");
}

TEST(SxidLine, MayBeBareText) {
  const auto event = parsed("nvidia-nvswitch0: SXid (PCI:0004:00:00.0): 26006, SOE HALTED");
  EXPECT_EQ(event.code, 26006U);
  EXPECT_EQ(event.fatality, Fatality::kUnknown);
  EXPECT_EQ(event.unit, "SOE HALTED");
}

TEST(SxidLine, MayBeCorrectable) {
  EXPECT_EQ(parsed("nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 11012, Correctable, Link 3 ingress "
                   "header ECC")
                .fatality,
            Fatality::kCorrectable);
}

TEST(SxidDetail, IsNoSecondEvent) {
  for (const auto* line :
       {"nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, Data {0x0000002b, 0x0000002b}",
        "nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, Severity 0 Engine instance 44 "
        "Sub-engine instance 00",
        "nvidia-nvswitch0: SXid (PCI:0004:00:00.0): 26006, SOE HALT data[0] = 0x               "
        "0"}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

TEST(SxidLine, OfAnotherShapeIsNone) {
  for (const auto* line : {"nvidia-nvswitch2: open (major=510)",
                           "nvidia-nvswitch: SXid (PCI:0000:04:00.0): 22013, Fatal, x",
                           "nvidia-nvswitch1: SXid (bad): 22013, Fatal, x",
                           "nvidia-nvswitch1: SXid (PCI:0000:04:00.0): x, Fatal, x",
                           "foo nvidia-nvswitch1: SXid (PCI:0000:04:00.0): 22013, Fatal, x"}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

}  // namespace
}  // namespace gpuward::xid
