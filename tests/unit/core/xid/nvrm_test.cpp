#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/core/xid/events.h"

namespace gpuward::xid {
namespace {

TEST(XidLine, GivesCodeAndAddressWithoutProcess) {
  const auto event = parsed(
      "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the "
      "bus.");
  EXPECT_EQ(event.kind, Kind::kXid);
  EXPECT_EQ(event.code, 79U);
  EXPECT_EQ(event.pci->full(), "0000:4e:00");
  EXPECT_FALSE(event.pid);
  EXPECT_FALSE(event.process);
}

TEST(XidLine, GivesPidAndProcess) {
  const auto event =
      parsed("NVRM: Xid (PCI:0000:0f:00): 94, pid=2503421, name=python3, Ch 00000008");
  EXPECT_EQ(event.pid, 2503421);
  EXPECT_EQ(event.process, "python3");
}

TEST(XidLine, KeepsAPidOfZero) {
  EXPECT_EQ(parsed("NVRM: Xid (PCI:0000:09:00): 79, pid=0, GPU has fallen off the bus.").pid, 0);
}

TEST(XidLine, MayEndWithItsNumber) {
  EXPECT_EQ(parsed("NVRM: Xid (PCI:0000:4e:00): 46").code, 46U);
}

TEST(XidLine, MayEndWithThePid) {
  EXPECT_EQ(parsed("NVRM: Xid (PCI:0000:01:00): 38, pid=1659,").pid, 1659);
}

TEST(XidLine, OfOldDriversHasNoPci) {
  EXPECT_EQ(parsed("NVRM: Xid (0000:03:00): 14, Channel 00000001").pci->full(), "0000:03:00");
}

TEST(XidLine, KeepsAFunctionThatIsPrinted) {
  EXPECT_EQ(parsed("NVRM: Xid (PCI:0000:b3:00.0): 79, pid=12345, GPU has fallen off the bus.")
                .pci->full(),
            "0000:b3:00.0");
}

TEST(XidLine, KeepsTheDomain) {
  EXPECT_EQ(parsed("NVRM: Xid (PCI:0018:01:00): 145, x").pci->full(), "0018:01:00");
}

TEST(XidLine, GivesTheMigInstances) {
  const auto event = parsed(
      "NVRM: Xid (PCI:0000:4e:00 GPU-I:05 GPU-CI:01): 13, pid=7, name=a, Graphics Exception");
  EXPECT_EQ(event.code, 13U);
  EXPECT_EQ(event.pci->full(), "0000:4e:00");
  EXPECT_EQ(event.gpu_instance, 5U);
  EXPECT_EQ(event.compute_instance, 1U);
}

TEST(XidLine, GivesAGpuInstanceAlone) {
  const auto event = parsed("NVRM: Xid (PCI:0000:4e:00 GPU-I:13): 43, pid=7, name=a, Ch 00000008");
  EXPECT_EQ(event.gpu_instance, 13U);
  EXPECT_FALSE(event.compute_instance);
}

TEST(XidLine, HasNoAddressIfAPosterBlottedItOut) {
  const auto event =
      parsed("kernel: NVRM: Xid (PCI:...): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (...)");
  EXPECT_EQ(event.code, 145U);
  EXPECT_FALSE(event.pci);
}

TEST(XidLine, IsTakenByItsNumberAloneWhateverTheProcessIsCalled) {
  const auto event = parsed(
      "NVRM: Xid (PCI:0000:4e:00): 13, pid=7, name=Xid (PCI:0000:05:00): 79, Graphics Exception");
  EXPECT_EQ(event.code, 13U);
  EXPECT_EQ(event.pci->full(), "0000:4e:00");
  EXPECT_EQ(event.process, "Xid (PCI:0000:05:00): 79");
}

TEST(XidLine, IsTakenByItsNumberWhenTheProcessFakesAWholeRecord) {
  const auto event = parsed(
      "NVRM: Xid (PCI:0000:4e:00): 43, pid=7, name=NVRM: Xid (PCI:0000:05:00): 79, Ch 00000008");
  EXPECT_EQ(event.code, 43U);
}

TEST(XidLine, WithoutAnAddressIsNone) {
  for (const auto* line : {"NVRM: Xid error: xyz, invalid data", "NVRM: Xid (invalid): some error",
                           "NVRM: Xid : 32, pid=1", "NVRM: Xid PCI:0000:01:00: 43, pid=1",
                           "NVRM: Xid (): 43", "NVRM: Xid (PCI:): 43"}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

TEST(XidLine, WithoutANumberIsNone) {
  for (const auto* line : {"NVRM: Xid (PCI:0000:66:00): abc, pid=2280636",
                           "NVRM: Xid (PCI:0000:66:00): ", "NVRM: Xid (PCI:0000:66:00): 123456, x",
                           "NVRM: Xid (PCI:0000:66:00): 79x", "NVRM: Xid (PCI:0000:66:00): -79, x",
                           "NVRM: Xid (PCI:0000:66:00 GPU-X:1): 79, x"}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

TEST(XidLine, OfUnknownNumberIsKept) {
  EXPECT_EQ(parsed("NVRM: Xid (PCI:0000:05:00): 99999, unknown error").code, 99999U);
}

TEST(XidLine, IsNotTheDriversWhenAnotherProgramWroteIt) {
  EXPECT_FALSE(parse_record("Nov 18 17:26:39 host sshd[1]: NVRM: Xid (PCI:0000:4e:00): 79, x"));
  EXPECT_FALSE(parse_record("echo NVRM: Xid (PCI:0000:4e:00): 79, x"));
}

class FallenOff : public testing::TestWithParam<const char*> {};

TEST_P(FallenOff, IsXid79WithItsAddress) {
  const auto event = parsed(GetParam());
  EXPECT_EQ(event.kind, Kind::kXid);
  EXPECT_EQ(event.code, 79U);
  EXPECT_EQ(event.label, "fallen_off");
  ASSERT_TRUE(event.pci);
  EXPECT_EQ(event.pci->full(), "0000:29:00.0");
}

INSTANTIATE_TEST_SUITE_P(
    EveryShape, FallenOff,
    testing::Values("NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.",
                    "NVRM: GPU 29:00.0: GPU has fallen off the bus.",
                    "NVRM: GPU at 0000:29:00.0 has fallen off the bus.",
                    "NVRM: The NVIDIA GPU 0000:29:00.0\n               NVRM: (PCI ID: 10de:26b5) "
                    "installed in this system has\n"
                    "               NVRM: fallen off the bus and is not responding to commands.",
                    "NVRM: The NVIDIA GPU 0000:29:00.0\\x0aNVRM: (PCI ID: 10de:26b5) installed in "
                    "this system has\\x0aNVRM: "
                    "fallen off the bus and is not responding to commands.",
                    "4,1227,437812449932,-;NVRM: The NVIDIA GPU 0000:29:00.0\\x0aNVRM: (PCI ID: "
                    "10de:26b5) installed in this "
                    "system has\\x0aNVRM: fallen off the bus and is not responding to commands.\n "
                    "SUBSYSTEM=pci\n",
                    "NVRM: The NVIDIA GPU 0000:29:00.0 (PCI ID: 10de:26b5)#012NVRM: installed in "
                    "this system has#012NVRM: "
                    "fallen off the bus and is not responding to commands."));

TEST(ProbeRecord, ThatSaysAnotherThingIsNone) {
  EXPECT_FALSE(parse_record("NVRM: The NVIDIA GPU 0000:29:00.0"));
  EXPECT_FALSE(
      parse_record("NVRM: The NVIDIA GPU 0000:29:00.0 (PCI ID: 10de:26b5)\\x0aNVRM: installed in "
                   "this system is not "
                   "supported by the driver."));
}

TEST(RmInit, GivesItsCodeAndAddress) {
  const auto event =
      parsed("[   21.091872] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:894)");
  EXPECT_EQ(event.kind, Kind::kRmInit);
  EXPECT_EQ(event.label, "0x22:0x56:894");
  EXPECT_EQ(event.pci->full(), "0000:01:00.0");
}

TEST(RmInit, CountsOnceWithItsCompanions) {
  EXPECT_TRUE(parse_record("NVRM: RmInitAdapter failed! (0x26:0xffff:1375)"));
  EXPECT_FALSE(parse_record("NVRM: rm_init_adapter failed for device bearing minor number 0"));
  EXPECT_FALSE(
      parse_record("NVRM: RmInitAdapter: osInitNvMapping failed, bailing out of RmInitAdapter"));
}

TEST(Peermem, IsAnEventOfItsOwnKind) {
  const auto event = parsed(
      "6,3973,227996636,-;nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid "
      "context, skipping");
  EXPECT_EQ(event.kind, Kind::kPeermem);
  EXPECT_EQ(event.label, "invalid_context");
}

TEST(UuidLine, GivesAddressAndUuid) {
  const auto line = parse_uuid_line(strip_prefixes(
      "[1084456.0] NVRM: GPU at PCI:0000:09:00: GPU-26fba6b2-9e52-006e-68db-4ce18382a5ea"));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->pci.bus_id(), "0000:09:00");
  EXPECT_EQ(line->uuid, "GPU-26fba6b2-9e52-006e-68db-4ce18382a5ea");
}

TEST(UuidLine, OfAnotherShapeIsNone) {
  EXPECT_FALSE(parse_uuid_line("NVRM: GPU at PCI:0000:09:00: GPU-26fba6b2"));
  EXPECT_FALSE(parse_uuid_line("NVRM: GPU at 0000:01:00.0 has fallen off the bus."));
  EXPECT_FALSE(
      parse_uuid_line("x NVRM: GPU at PCI:0000:09:00: GPU-26fba6b2-9e52-006e-68db-4ce18382a5ea"));
  EXPECT_FALSE(
      parse_record("NVRM: GPU at PCI:0000:09:00: GPU-26fba6b2-9e52-006e-68db-4ce18382a5ea"));
}

class DriversWords : public testing::TestWithParam<LineInWords> {};

TEST_P(DriversWords, AreAnEventWithoutAnAddress) {
  const auto event = parsed(GetParam().line);
  EXPECT_EQ(event.kind, GetParam().kind);
  EXPECT_EQ(event.label, GetParam().label);
  EXPECT_EQ(event.code, 0U);
  EXPECT_FALSE(event.pci);
}

INSTANTIATE_TEST_SUITE_P(
    OfADeadGpu, DriversWords,
    testing::Values(
        LineInWords{"NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required "
                    "[NV_ERR_RESET_REQUIRED] (0x00000062) returned from status @ "
                    "kernel_channel.c:2874",
                    Kind::kNvrm, "reset_required"},
        LineInWords{"NVRM: GPU5 nvCheckOkFailedNoLog: Check failed: GPU lost from the bus "
                    "[NV_ERR_GPU_IS_LOST] (0x0000000F) returned from rpcStatus @ vaspace_api.c:538",
                    Kind::kNvrm, "gpu_lost"},
        LineInWords{"NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, "
                    "requiring os reboot to recover.",
                    Kind::kNvrm, "uvm_fatal"}));

TEST(DriversWords, AreReadFromTheirPlaceOnly) {
  for (const auto* line :
       {"NVRM: nvAssertOkFailedNoLog: Assertion failed: Out of memory [NV_ERR_NO_MEMORY] (0x51)",
        "NVRM: nvAssertFailedNoLog: Assertion failed: pid of GPU lost from the bus "
        "[NV_ERR_GPU_IS_LOST] (0x0000000F)",
        "NVRM: rpcRmApiAlloc_GSP: GspRmAlloc failed: hClient=0xc1; status=0x00000062",
        // An Xid 154 with the address follows.
        "NVRM: nvAssertFailedNoLog: Assertion failed: Back to back GSP RPC timeout detected! GPU "
        "marked for reset @ kernel_gsp.c:2387",
        "NVRM: GPU5 _issueRpcAndWait: rpcSendMessage failed with status 0x0000000f",
        "NVRM: uvm encountered global fatal error 0x60, requiring os reboot to recover.",
        "nvidia-uvm: uvm encountered global fatal error 0x60, requiring os reboot to recover."}) {
    EXPECT_FALSE(parse_record(line)) << line;
  }
}

}  // namespace
}  // namespace gpuward::xid
