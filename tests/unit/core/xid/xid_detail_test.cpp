#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/xid/catalogue.h"
#include "core/xid/parser.h"
#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Event detail_of(const std::string& text) { return parsed("NVRM: Xid (PCI:0000:4e:00): " + text); }

TEST(Xid154, GivesTheValueThatItChangedTo) {
  EXPECT_EQ(
      detail_of("154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")
          .recovery_to,
      1U);
  EXPECT_EQ(
      detail_of("154, GPU recovery action changed from 0x2 (Node Reboot Required) to 0x0 (None)")
          .recovery_to,
      0U);
}

TEST(Xid154, IsReadBehindAProcess) {
  EXPECT_EQ(detail_of("154, pid=154, name=x, GPU recovery action changed from 0x0 (None) to 0x4 "
                      "(Drain and Reset)")
                .recovery_to,
            4U);
}

TEST(Xid154, IsReadByItsTextIfTheNumberIsMissing) {
  EXPECT_EQ(
      detail_of("154, GPU recovery action changed from (GPU Reset Required) to (None)").recovery_to,
      0U);
  EXPECT_EQ(detail_of("154, GPU recovery action changed from (None) to (Node Reboot Required)")
                .recovery_to,
            2U);
}

TEST(Xid154, HasNoValueIfNoneStands) {
  EXPECT_FALSE(detail_of("154, GPU recovery action changed").recovery_to);
  EXPECT_FALSE(detail_of("154, GPU recovery action changed from 0x0 (None) to ").recovery_to);
  EXPECT_FALSE(detail_of("154").recovery_to);
}

TEST(Xid45, NamesItsCause) {
  EXPECT_EQ(detail_of("45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149")
                .caused_by_xid,
            149U);
  EXPECT_FALSE(detail_of("45, pid=2864945, name=kit, Ch 0000000b").caused_by_xid);
}

TEST(Xid74, GivesLinkAndRegisters) {
  const auto event = detail_of(
      "74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x0, 0x0, "
      "0x10000, 0x0, 0x0, 0x0, 0x0)");
  EXPECT_EQ(event.link, 14);
  EXPECT_THAT(event.registers, ElementsAre(0, 0, 0x10000, 0, 0, 0, 0));
}

TEST(Xid74, MayHaveNoRegisters) {
  const auto event = detail_of("74, NVLink: fatal error detected on link 1");
  EXPECT_EQ(event.link, 1);
  EXPECT_THAT(event.registers, IsEmpty());
}

TEST(Nvlink5, GivesUnitClassLinkAndRegisters) {
  const auto event =
      detail_of("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x004505c6 0x00000000 0x00000001)");
  EXPECT_EQ(event.unit, "NETIR_LINK_EVT");
  EXPECT_EQ(event.fatality, Fatality::kFatal);
  EXPECT_EQ(event.link, 8);
  EXPECT_THAT(event.registers, ElementsAre(0x004505c6, 0, 1));
}

TEST(Nvlink5, MayRepeatSpaces) {
  const auto event =
      detail_of("149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 01 (0x021425c6 0x00000000)");
  EXPECT_EQ(event.unit, "NETIR_LINK_EVT");
  EXPECT_EQ(event.link, 1);
  EXPECT_EQ(event.registers.size(), 2U);
}

TEST(Nvlink5, MayHaveAProcessAndALinkOfMinusOne) {
  const auto event = detail_of(
      "145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link -1 (0x0409a0c2 "
      "0x00000008)");
  EXPECT_EQ(event.process, "ray::WorkerDict");
  EXPECT_EQ(event.unit, "RLW_RXPIPE");
  EXPECT_EQ(event.fatality, Fatality::kNonFatal);
  EXPECT_EQ(event.link, -1);
}

TEST(Nvlink5, MayHaveASlashOrASpaceInItsUnit) {
  EXPECT_EQ(detail_of("146, TLW_RX/TLW_RX_PIPE0 Fatal XC0 i0 Link 1 (0x0 0x4)").unit,
            "TLW_RX/TLW_RX_PIPE0");
  EXPECT_EQ(detail_of("150, MSE Degraded Fatal XC0 i0 Link 1 (0x0 0x0)").unit, "MSE Degraded");
}

TEST(Nvlink5, MayHaveNoParenthesis) {
  const auto event = detail_of("149, NETIR_LINK_EVT Fatal XC0 i0 Link 08");
  EXPECT_EQ(event.link, 8);
  EXPECT_THAT(event.registers, IsEmpty());
}

// A program chooses its name, 15 bytes of anything. No name may change the driver's text after it.
TEST(ProcessName, CannotForgeTheRegistersOfXid74) {
  const auto event = detail_of(
      "74, pid=7, name=, on link 1(0x1, NVLink: fatal error detected on link 14(0x10, 0x0)");
  EXPECT_EQ(event.link, 14);
  EXPECT_THAT(event.registers, ElementsAre(0x10, 0));
}

TEST(ProcessName, CannotForgeTheClassOfAnNvlink5Error) {
  const auto event = detail_of(
      "145, pid=7, name=, A Nonfatal B, RLW_REMAP Fatal XC1 i0 Link 10 (0x00000082 0x00000040)");
  EXPECT_EQ(event.unit, "RLW_REMAP");
  EXPECT_EQ(event.fatality, Fatality::kFatal);
  EXPECT_THAT(event.registers, ElementsAre(0x82, 0x40));
}

TEST(ProcessName, CannotForgeTheCauseOfXid45) {
  EXPECT_EQ(
      detail_of("45, pid=7, name=a, caused by previous Xid 79, Ch 1 caused by previous Xid 149")
          .caused_by_xid,
      149U);
}

TEST(Nvlink5, ReadsABoundedNumberOfRegisters) {
  std::string text = "149, NETIR Fatal XC0 i0 Link 08 (";
  for (int i = 0; i < 200; ++i) text += "0x1 ";
  EXPECT_LE(detail_of(text + ")").registers.size(), 16U);
}

TEST(Xid94, SaysAtItsEndWhetherTheDriverAsksForAReset) {
  const auto asks = [](const std::string& end) {
    return parsed(
               "NVRM: Xid (PCI:0000:21:00): 94, pid=7194, name=python3, Contained: CE User "
               "Channel (0x9)." +
               end)
        .asks_for_reset;
  };
  EXPECT_FALSE(asks(" RST: No, D-RST: No"));
  EXPECT_TRUE(asks(" RST: Yes, D-RST: No"));
  EXPECT_TRUE(asks(" RST: No, D-RST: Yes"));
  EXPECT_TRUE(asks(" RST: Yes, D-RST: Yes"));
  EXPECT_FALSE(asks(""));
}

TEST(Xid94, DoesNotTakeANameForTheDriversAnswer) {
  EXPECT_FALSE(parsed("NVRM: Xid (PCI:0000:21:00): 94, pid=7, name=a, RST: Yes, D-RST: Yes, "
                      "Contained: CE User Channel (0x9). RST: No, D-RST: No")
                   .asks_for_reset);
}

TEST(Xid94, IsAResetIfTheDriverAsksForOne) {
  auto event = xid(94);
  EXPECT_EQ(Catalogue().judge(event).severity, Severity::kMonitor);
  event.asks_for_reset = true;
  EXPECT_EQ(Catalogue().judge(event).severity, Severity::kReset);
  EXPECT_EQ(Catalogue().judge(event).cleared_by, ClearedBy::kGpuReset);
}

}  // namespace
}  // namespace gpuward::xid
