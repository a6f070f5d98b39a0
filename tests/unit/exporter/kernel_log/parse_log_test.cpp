#include "exporter/kernel_log/parse_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "core/runtime/json.h"
#include "core/xid/parser.h"
#include "tests/places.inc"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;

std::string output_for(const std::string& input) {
  std::istringstream in(input);
  std::ostringstream out;
  EXPECT_EQ(run_parse_log(in, out, xid::Catalogue()), 0);
  return out.str();
}

TEST(ParseLog, PrintsAnXidAsOneObjectWithItsKeysInOrder) {
  EXPECT_EQ(
      output_for("first\nNVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has "
                 "fallen off the bus.\n"),
      R"({"line":2,"kind":"xid","code":79,"pci_bus_id":"0000:4e:00","pid":null,"process":null,"severity":"reboot","action":"RESTART_BM"})"
      "\n");
}

TEST(ParseLog, PrintsWhatRulesOfTheOperatorMatch) {
  const auto rules = LineRules::compile(
      {{.code = "ReadOnly", .pattern = "read-only$", .severity = Severity::kReboot}});
  std::istringstream in(
      "[12.3] EXT4-fs (sda1): Remounting filesystem read-only\n"
      "Nov 18 17:26:39 host logger: Remounting filesystem read-only\n");
  std::ostringstream out;
  EXPECT_EQ(run_parse_log(in, out, xid::Catalogue(), *rules), 0);
  EXPECT_EQ(
      out.str(),
      R"({"line":1,"kind":"kernel_rule","code":"ReadOnly","pci_bus_id":null,"pid":null,"process":null,"severity":"reboot","action":""})"
      "\n");
}

TEST(ParseLog, PrintsPidAndProcess) {
  EXPECT_THAT(
      output_for("NVRM: Xid (PCI:0000:0F:00): 94, pid=2503421, name=python3, Ch 00000008"),
      HasSubstr(
          R"("pci_bus_id":"0000:0f:00","pid":2503421,"process":"python3","severity":"monitor")"));
}

TEST(ParseLog, PrintsThreeLinesOfOneRecordAsOneEventOfTheFirst) {
  EXPECT_EQ(
      output_for("[1.0] NVRM: The NVIDIA GPU 0000:b3:00.0\n"
                 "               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
                 "               NVRM: fallen off the bus and is not responding to commands.\n"),
      R"({"line":1,"kind":"xid","code":79,"pci_bus_id":"0000:b3:00.0","pid":null,"process":null,"severity":"reboot","action":"RESTART_BM"})"
      "\n");
}

TEST(ParseLog, PrintsTheLabelOfAKindWithoutNumbers) {
  EXPECT_THAT(output_for("amdgpu 0000:03:00.0: amdgpu: GPU reset begin!"),
              HasSubstr(R"("kind":"amd_reset","code":"begin")"));
}

TEST(ParseLog, PrintsNoAddressIfNoneIsKnown) {
  EXPECT_THAT(output_for("NVRM: Xid (PCI:...): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 11 (...)"),
              HasSubstr(R"("pci_bus_id":null)"));
}

TEST(ParseLog, AppendsWhatOnlySomeEventsHave) {
  EXPECT_THAT(
      output_for("nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress"),
      HasSubstr(
          R"("action":"RESET_FABRIC","link":32,"fatality":"non-fatal","switch":"nvidia-nvswitch3"})"));
  EXPECT_THAT(output_for("NVRM: Xid (PCI:0000:4e:00): 154, GPU recovery action changed from 0x0 "
                         "(None) to 0x2 (Node Reboot Required)"),
              HasSubstr(R"("severity":"reboot","action":"RESTART_BM","recovery_to":2})"));
}

// Lines as operators paste them into tickets and chats. The kernel log itself is read strictly.
TEST(ParseLog, RecognisesALineThatAPersonHasPasted) {
  const std::string message = "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', GPU has fallen off";
  for (const char* before :
       {"Nov 18 17:26:39 ", "2024-06-06 10:26:53 ", "11/18/2024 17:26:39 ", "[...] ", "... ",
        "[Tue Nov 18 17:26:39 UTC 2025] ", "> ", "error: ", "we saw `", "gpu-7 | ",
        "Nov 18 17:26:39 gpu-7 ", "\"message\":\"", "12:", "dmesg:  [ 12.5] ", "NVRM: seen: "}) {
    const std::string output = output_for(before + message + "\n");
    EXPECT_THAT(output, HasSubstr(R"("line":1,"kind":"xid","code":79,"pci_bus_id":"0000:4e:00")"))
        << before;
    EXPECT_EQ(xid::parse_record(std::string("4,1,2,-;app: ") + before + message), std::nullopt)
        << "/dev/kmsg stays strict";
  }
  EXPECT_THAT(output_for("Nov 18 17:26:39 amdgpu 0000:03:00.0: amdgpu: GPU reset begin!"),
              HasSubstr(R"("kind":"amd_reset","code":"begin")"));
  EXPECT_THAT(output_for("[...] nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link"),
              HasSubstr(R"("kind":"sxid","code":12028)"));
}

TEST(ParseLog, JoinsThePastedLinesOfOneRecord) {
  EXPECT_THAT(output_for("[...] NVRM: The NVIDIA GPU 0000:b3:00.0\n"
                         "[...] NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
                         "[...] NVRM: fallen off the bus and is not responding to commands.\n"),
              HasSubstr(R"("line":1,"kind":"xid","code":79,"pci_bus_id":"0000:b3:00.0")"));
}

TEST(ParseLog, TakesNoPartOfAWordForAMessage) {
  EXPECT_EQ(output_for("notNVRM: Xid (PCI:0000:4e:00): 79\n"), "");
}

TEST(ParseLog, SaysNothingOfOtherAndOfDetailLines) {
  EXPECT_EQ(output_for("usb 1-1: new\n\nnvidia-nvswitch3: SXid (PCI:0000:04:00.0): 22013, Data "
                       "{0x2b}\nNVRM: x\n"),
            "");
  EXPECT_EQ(output_for(""), "");
}

TEST(ParseLog, TakesLineEndsOfEitherKindAndNone) {
  EXPECT_THAT(output_for("NVRM: Xid (PCI:0000:4e:00): 46\r\n"), HasSubstr(R"("code":46)"));
  EXPECT_THAT(output_for("NVRM: Xid (PCI:0000:4e:00): 46"), HasSubstr(R"("code":46)"));
}

TEST(ParseLog, ReplacesBytesThatAreNotUtf8) {
  const auto output =
      output_for("NVRM: Xid (PCI:0000:4e:00): 13, pid=7, name=\xff\"\\x, Graphics Exception\n");
  const auto json = parse_json(output.substr(0, output.size() - 1));
  ASSERT_TRUE(json) << output;
  EXPECT_EQ(string_at(*json, "process"), "\xEF\xBF\xBD\"\\x");
}

TEST(ParseLog, ReadsOnAfterALineOfZeroBytesAndAnEndlessOne) {
  std::string input(3, '\0');
  input += "\n" + std::string(200'000, 'x') + "\nNVRM: Xid (PCI:0000:4e:00): 46\n";
  EXPECT_THAT(output_for(input), HasSubstr(R"({"line":3,"kind":"xid","code":46,)"));
}

// The missing end would show whether the kernel has printed a chosen text there.
TEST(ParseLog, TakesTheBeginningOfAnEndlessLineForNoEvent) {
  EXPECT_EQ(output_for("NVRM: Xid (PCI:0000:4e:00): 46, " + std::string(200'000, 'x') + "\nx\n"),
            "");
}

TEST(ParseLog, PrintsOneValidObjectForEachEventOfTheCorpus) {
  std::ifstream corpus(std::string{GPUWARD_SOURCE_DIR} + "/tests/testdata/kernel_log/corpus.txt",
                       std::ios::binary);
  ASSERT_TRUE(corpus);
  std::ostringstream out;
  EXPECT_EQ(run_parse_log(corpus, out, xid::Catalogue()), 0);
  std::istringstream lines(out.str());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_TRUE(parse_json(line)) << line;
  // 117 that have to be recognised, 3 that may be, and the invalid context of peer memory.
  EXPECT_EQ(count, 121);
}

TEST(ParseLog, FailsIfNobodyTakesTheOutput) {
  std::istringstream in("NVRM: Xid (PCI:0000:4e:00): 46\n");
  std::ostringstream out;
  out.setstate(std::ios::badbit);
  EXPECT_EQ(run_parse_log(in, out, xid::Catalogue()), 1);
}

}  // namespace
}  // namespace gpuward::exporter
