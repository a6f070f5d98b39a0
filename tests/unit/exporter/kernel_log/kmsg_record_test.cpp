#include "exporter/kernel_log/kmsg_record.h"

#include <gtest/gtest.h>

namespace gpuward::exporter {
namespace {

TEST(KmsgRecord, ReadsARecordOfTheKernel) {
  const auto record = parse_kmsg_record("4,1234,98765,-;NVRM: Xid (PCI:0000:4e:00): 79, text\n");

  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->sequence, 1234U);
  EXPECT_EQ(record->since_boot, std::chrono::microseconds(98765));
  EXPECT_EQ(record->flag, '-');
  EXPECT_EQ(record->text, "NVRM: Xid (PCI:0000:4e:00): 79, text");
  EXPECT_FALSE(record->is_from_user_space());
}

TEST(KmsgRecord, LeavesContinuationLinesOut) {
  const auto record = parse_kmsg_record("6,2,3,-;usb 1-1: new\n SUBSYSTEM=usb\n DEVICE=c189:1\n");

  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->text, "usb 1-1: new");
}

TEST(KmsgRecord, GivesTheDeviceOnThePciBusThatTheKernelPutsBesideTheText) {
  const auto device_of = [](std::string_view raw) { return parse_kmsg_record(raw)->pci_device; };
  EXPECT_EQ(
      device_of("3,2,3,-;amdgpu 0000:05:00.0: x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:05:00.0\n"),
      "0000:05:00.0");
  EXPECT_EQ(device_of("6,2,3,-;usb 1-1: new\n SUBSYSTEM=usb\n DEVICE=c189:1\n"), "");
  EXPECT_EQ(device_of("6,2,3,-;x\n"), "");
  EXPECT_EQ(device_of("6,2,3,-;x"), "");
  EXPECT_EQ(device_of("6,2,3,-;x\\x0a DEVICE=+pci:0000:05:00.0\n"), "")
      << "the kernel escapes a line break that a program has printed";
}

TEST(KmsgRecord, SkipsFieldsOfNewerKernels) {
  const auto record = parse_kmsg_record("6,2,3,-,caller=T1946,more=1;text; with semicolon\n");

  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->text, "text; with semicolon");
}

TEST(KmsgRecord, TellsLinesOfUserSpaceByTheirPriority) {
  EXPECT_FALSE(parse_kmsg_record("7,1,1,-;x\n")->is_from_user_space());
  EXPECT_TRUE(parse_kmsg_record("8,1,1,-;x\n")->is_from_user_space());
  EXPECT_TRUE(parse_kmsg_record("12,1,1,-;x\n")->is_from_user_space());
  EXPECT_TRUE(parse_kmsg_record("30,1,1,-;x\n")->is_from_user_space());
}

TEST(KmsgRecord, RefusesWhatIsNone) {
  for (const char* raw :
       {"", "text", ";", "6,1;x", "6,,3,-;x", "a,1,2,-;x", "6,1,-2,-;x", "-6,1,2,-;x"}) {
    EXPECT_FALSE(parse_kmsg_record(raw).has_value()) << raw;
  }
}

}  // namespace
}  // namespace gpuward::exporter
