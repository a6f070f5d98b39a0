#include "core/xid/joiner.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/xid/parser.h"

namespace gpuward::xid {
namespace {

struct Found {
  std::uint64_t line = 0;
  std::string address;
  friend bool operator==(const Found&, const Found&) = default;
};

std::vector<Found> events_of(const std::vector<std::string>& lines) {
  RecordJoiner joiner;
  std::vector<Found> found;
  for (const auto& line : lines) {
    const auto record = joiner.push(line);
    if (const auto event = parse_record(record.text))
      found.push_back({record.line, event->pci->full()});
  }
  return found;
}

TEST(RecordJoiner, JoinsIndentedLines) {
  EXPECT_EQ(events_of({"x", "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0",
                       "               NVRM: (PCI ID: 10de:26b5) installed in this system has",
                       "               NVRM: fallen off the bus and is not responding to commands.",
                       "y"}),
            (std::vector<Found>{{2, "0000:b3:00.0"}}));
}

TEST(RecordJoiner, JoinsLinesThatEachCarryAPrefix) {
  EXPECT_EQ(
      events_of({"Nov 18 17:26:39 h kernel: NVRM: The NVIDIA GPU 0000:b3:00.0 (PCI ID: 10de:26b5)",
                 "Nov 18 17:26:39 h kernel: NVRM: installed in this system has",
                 "Nov 18 17:26:39 h kernel: NVRM: fallen off the bus and is not responding to "
                 "commands."}),
      (std::vector<Found>{{1, "0000:b3:00.0"}}));
}

TEST(RecordJoiner, LetsOtherLinesStandBetween) {
  EXPECT_EQ(events_of({"NVRM: The NVIDIA GPU 0000:b3:00.0",
                       "NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.",
                       "NVRM: (PCI ID: 10de:26b5) installed in this system has",
                       "NVRM: fallen off the bus and is not responding."}),
            (std::vector<Found>{{2, "0000:29:00.0"}, {1, "0000:b3:00.0"}}));
}

TEST(RecordJoiner, KeepsTwoRecordsApart) {
  EXPECT_EQ(events_of({"NVRM: The NVIDIA GPU 0000:b3:00.0",
                       "NVRM: (PCI ID: 10de:26b5) installed in this system has",
                       "NVRM: fallen off the bus and is not responding.",
                       "NVRM: The NVIDIA GPU 0000:b4:00.0",
                       "NVRM: (PCI ID: 10de:26b5) installed in this system has",
                       "NVRM: fallen off the bus and is not responding."}),
            (std::vector<Found>{{1, "0000:b3:00.0"}, {4, "0000:b4:00.0"}}));
}

TEST(RecordJoiner, MakesNothingOfATailAlone) {
  EXPECT_TRUE(events_of({"NVRM: fallen off the bus and is not responding to commands."}).empty());
}

TEST(RecordJoiner, CountsARecordOnce) {
  EXPECT_EQ(events_of({"NVRM: The NVIDIA GPU 0000:b3:00.0", "NVRM: fallen off the bus.",
                       "NVRM: fallen off the bus."})
                .size(),
            1U);
}

TEST(RecordJoiner, ForgetsAHeadWhoseTailIsFarAway) {
  std::vector<std::string> lines{"NVRM: The NVIDIA GPU 0000:b3:00.0"};
  lines.resize(100, "other");
  lines.emplace_back("NVRM: fallen off the bus and is not responding to commands.");
  EXPECT_TRUE(events_of(lines).empty());
}

TEST(RecordJoiner, PassesAWholeRecordOn) {
  EXPECT_EQ(events_of({"NVRM: The NVIDIA GPU 0000:b3:00.0\\x0aNVRM: (PCI ID: 1)\\x0aNVRM: fallen "
                       "off the bus and is not responding."}),
            (std::vector<Found>{{1, "0000:b3:00.0"}}));
}

TEST(RecordJoiner, HandsEachLineBackAsItself) {
  RecordJoiner joiner;
  const std::string line = "usb 1-1: new";
  const auto record = joiner.push(line);
  EXPECT_EQ(record.text.data(), line.data());
  EXPECT_EQ(record.line, 1U);
}

TEST(RecordJoiner, HoldsLittleOfALongHead) {
  RecordJoiner joiner;
  (void)joiner.push("NVRM: The NVIDIA GPU 0000:b3:00.0" + std::string(60'000, ' '));
  const auto record = joiner.push("NVRM: fallen off the bus" + std::string(60'000, ' '));
  EXPECT_LT(record.text.size(), 1024U);
  EXPECT_TRUE(parse_record(record.text));
}

}  // namespace
}  // namespace gpuward::xid
