#include <gtest/gtest.h>

#include "core/xid/parser.h"

namespace gpuward::xid {
namespace {

constexpr const char* kMessage = "NVRM: Xid (PCI:0000:4e:00): 79, GPU has fallen off the bus.";

class Prefix : public testing::TestWithParam<const char*> {};

TEST_P(Prefix, IsTakenOff) {
  EXPECT_EQ(strip_prefixes(GetParam() + std::string{kMessage}), kMessage);
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryLog, Prefix,
    testing::Values(
        "", "6,1234,98765,-;", "4,1234,98765,-,caller=T1946;", "14,1234,98765,c;", "<4>",
        "<4>[   12.345678] ", "[12.3] ", "[123] ", "[   12.345678] ", "[  +0.000844] ",
        "[  130.456250] [ T1946] ", "[  130.456250][ C12] ", "[538441.0] [1235733.4] ",
        "[Wed Jun  7 10:50:55 2023] ", "2024-06-06T10:26:53,958539+08:00 ", "2024-06-06 10:26:53 ",
        "kernel: ", "Nov 18 17:26:39 archlinux kernel: ", "jan. 29 20:50:17 gpu-node kernel: ",
        "May  7 06:45:12 gpu-node kernel: [21584690.529877] ",
        "2024-06-06T10:26:53.958539+08:00 kernel: ",
        "2024-06-06T10:26:53+0000 nvidia-node7 kernel: ",
        "Wed 2024-06-05 10:26:53 UTC gpu-node kernel: ",
        "<4>1 2024-06-06T10:26:53Z gpu-node kernel - - - ", "kern  :warn  : [   12.345678] ",
        "kern: warning: ", "192.168.11.119: kern: warning: [2026-04-22T21:30:51.526447914Z]: ",
        "14,1234,98765,-;[1235733.431527] ", "Nov 28 12:00:01 gpu01 kernel:[12345.678901] ",
        "Sat Nov 28 14:03:39 2026 kern.warn kernel: [   21.443000] ", "[Sa Nov 28 13:52:42 2026] ",
        "[sam. nov. 28 13:53:12 2026] "));

// A process's name may look like a header.
class SecondHeader : public testing::TestWithParam<const char*> {};

TEST_P(SecondHeader, IsPartOfTheMessage) {
  EXPECT_FALSE(parse_record(GetParam() + std::string{kMessage}));
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryLog, SecondHeader,
    testing::Values("   ", "6,1234,98765,-;6,12,34,-;", "6,1234,98765,-;[1.0] ",
                    "6,1234,98765,-;kernel: ", "14,1234,98765,-;[1.0] [2.0] ", "[1.0] [T1] [2.0] ",
                    "[1.0] process 'x kernel: ", "kernel: kernel: ", "kernel: kernel:[1.0] ",
                    "x y kernel:[1.0] ", "[x 10:50:55] ", "Nov 18 17:26:39 host kernel: x kernel: ",
                    "Nov 18 17:26:39 host kernel: [1.0] x kernel: ", "process 'x kernel: ",
                    "<4>[1.0] <4>", "kern  :warn  : [1.0] kern: warning: "));

TEST_P(Prefix, IsNotThatOfAnotherProgram) {
  // This prefix is ambiguous.
  const bool is_doubtful = std::string_view(GetParam()) == "2024-06-06 10:26:53 ";
  EXPECT_EQ(is_of_another_program(GetParam() + std::string{kMessage}), is_doubtful);
}

// `journalctl -o short-monotonic` writes it like this. A word of the kernel's own message and a
// name may look the same, so gpuward reads only a line that an operator pasted like this.
TEST(FindRecord, ReadsAHostBehindATime) {
  const std::string line = "[    0.000000] gpu-node kernel: " + std::string{kMessage};
  EXPECT_FALSE(parse_record(line));
  EXPECT_TRUE(parse_record(find_record(line)));
}

TEST(WithoutSeconds, TakesOffOneTimeThatADmesgHasPrinted) {
  EXPECT_EQ(without_seconds("[1235733.431527] NVRM: x"), "NVRM: x");
  EXPECT_EQ(without_seconds("[1.0] [2.0] NVRM: x"), "[2.0] NVRM: x");
  EXPECT_EQ(without_seconds("NVRM: x"), "NVRM: x");
  EXPECT_EQ(without_seconds("kernel: NVRM: x"), "kernel: NVRM: x");
}

class OtherProgram : public testing::TestWithParam<const char*> {};

TEST_P(OtherProgram, IsTold) {
  EXPECT_TRUE(is_of_another_program(GetParam() + std::string{kMessage}));
}

INSTANTIATE_TEST_SUITE_P(OfEveryLog, OtherProgram,
                         testing::Values("Nov 18 17:26:39 host sshd[123]: ",
                                         "Nov  8 17:26:39 host logger: ",
                                         "2024-06-06T10:26:53.958539+08:00 host sshd[123]: ",
                                         "2024-06-06T10:26:53+0000 host sshd[123]: kernel: ",
                                         "<13>1 2024-06-06T10:26:53Z host app 1 - - ",
                                         "<13>Nov 18 17:26:39 host app: "));

TEST(StripPrefixes, LeavesOffTheDevicePropertiesOfAKernelRecord) {
  EXPECT_EQ(
      strip_prefixes(
          "6,1,2,-;pcieport 0000:00:01.1: AER: x\n SUBSYSTEM=pci\n DEVICE=+pci:0000:00:01.1\n"),
      "pcieport 0000:00:01.1: AER: x");
}

TEST(StripPrefixes, LeavesOffTheLineEnd) {
  EXPECT_EQ(strip_prefixes("[1.0] usb 1-1: new\r\n"), "usb 1-1: new");
}

TEST(StripPrefixes, KeepsAMessageThatBeginsWithABracket) {
  EXPECT_EQ(strip_prefixes("[1.0] [drm:nv_drm_load [nvidia_drm]] *ERROR* x"),
            "[drm:nv_drm_load [nvidia_drm]] *ERROR* x");
  EXPECT_EQ(strip_prefixes("[Hardware Error]: x"), "[Hardware Error]: x");
}

TEST(StripPrefixes, KeepsTheTagOfAnotherProgram) {
  const std::string line =
      "Nov 18 17:26:39 host nvidia-vgpu-mgr[18]: kernel: NVRM: Xid (PCI:0000:4e:00): 79, x";
  EXPECT_EQ(strip_prefixes(line), line);
}

TEST(StripPrefixes, EndsOnAnyNumberOfPrefixes) {
  std::string line;
  for (int i = 0; i < 1000; ++i) line += "[1.0] ";
  EXPECT_FALSE(parse_record(line + kMessage));
}

TEST(StripPrefixes, TakesAnEmptyRecord) {
  EXPECT_EQ(strip_prefixes(""), "");
  EXPECT_EQ(strip_prefixes("\n"), "");
  EXPECT_EQ(strip_prefixes("6,1,2,-;"), "");
}

}  // namespace
}  // namespace gpuward::xid
