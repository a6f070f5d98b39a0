#include "exporter/kernel_log/kmsg_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include "tests/fakes/fake_clock.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Answers as the script says; EAGAIN at its end.
struct Script {
  struct Answer {
    std::string record;
    int error = 0;
  };
  std::deque<Answer> answers;
  std::deque<Answer> after_wait;    // come while the reader waits
  std::size_t smallest_buffer = 0;  // EINVAL below it
  int opened = 0;
  bool may_open = true;
  std::chrono::microseconds now = std::chrono::seconds(60);  // of the clock of the records

  void say(unsigned priority, std::uint64_t sequence, const std::string& text, char flag = '-') {
    answers.push_back({std::to_string(priority) + "," + std::to_string(sequence) + ",1000," + flag +
                           ";" + text + "\n",
                       0});
  }
  void fail(int error) { answers.push_back({"", error}); }
};

class ScriptedKmsg final : public KmsgDevice {
 public:
  explicit ScriptedKmsg(Script& script) : script_(script) {}
  Status open() override {
    if (!script_.may_open) return gpuward::fail(ErrorKind::kForbidden, "opening /dev/kmsg: no");
    ++script_.opened;
    return {};
  }
  void close() override {}
  long read(char* buffer, std::size_t size) override {
    if (script_.answers.empty()) return -EAGAIN;
    if (size < script_.smallest_buffer) return -EINVAL;
    const Script::Answer answer = script_.answers.front();
    script_.answers.pop_front();
    if (answer.error != 0) return -answer.error;
    std::memcpy(buffer, answer.record.data(), answer.record.size());
    return static_cast<long>(answer.record.size());
  }
  bool wait(std::chrono::milliseconds, const std::stop_token&) override {
    script_.answers.swap(script_.after_wait);
    return !script_.answers.empty();
  }
  std::chrono::microseconds now() const override { return script_.now; }

 private:
  Script& script_;
};

class KmsgReaderTest : public testing::Test {
 protected:
  ReadCounts read(KmsgReader& reader) {
    const auto report = reader.read(
        [&](const LogRecord& record) {
          texts.emplace_back(record.text);
          from_user_space.push_back(record.writer == Writer::kUserSpace);
          writers.push_back(record.writer);
          history.push_back(record.is_history);
        },
        0ms, {});
    EXPECT_TRUE(report.has_value());
    return report.value_or(ReadCounts{});
  }
  KmsgReader make(LogPosition start = {}, std::string boot_id = "boot-1") {
    return {std::make_unique<ScriptedKmsg>(script), clock, std::move(boot_id), std::move(start)};
  }

  Script script;
  fakes::FakeClock clock;
  std::vector<std::string> texts;
  std::vector<bool> from_user_space;
  std::vector<Writer> writers;
  std::vector<bool> history;
};

LogPosition at(std::string boot_id, std::uint64_t sequence) {
  LogPosition position;
  position.boot_id = std::move(boot_id);
  position.sequence = sequence;
  return position;
}

TEST_F(KmsgReaderTest, HandsOutAllRecordsOfAFirstStart) {
  script.say(6, 10, "a");
  script.say(6, 11, "b");
  KmsgReader reader = make();

  const ReadCounts report = read(reader);

  EXPECT_THAT(texts, ElementsAre("a", "b"));
  EXPECT_EQ(report.records, 2U);
  EXPECT_EQ(report.gaps, 0U) << "what was before the first record of a first start is not a loss";
  EXPECT_EQ(reader.position().sequence, 11U);
}

TEST_F(KmsgReaderTest, GoesOnAfterTheSavedSequenceOfTheSameBoot) {
  script.say(6, 10, "a");
  script.say(6, 11, "b");
  script.say(6, 12, "c");
  KmsgReader reader = make(at("boot-1", 11));

  EXPECT_EQ(read(reader).records, 1U);

  EXPECT_THAT(texts, ElementsAre("c"));
}

TEST_F(KmsgReaderTest, StartsFromTheOldestRecordAfterAReboot) {
  script.say(6, 1, "a");
  script.say(6, 2, "b");
  KmsgReader reader = make(at("boot-0", 500));

  read(reader);

  EXPECT_THAT(texts, ElementsAre("a", "b"));
  EXPECT_EQ(reader.position().boot_id, "boot-1");
}

TEST_F(KmsgReaderTest, CountsASequenceGapAndTheRecordsLost) {
  script.say(6, 1, "a");
  script.say(6, 5, "b");
  KmsgReader reader = make();

  const ReadCounts report = read(reader);

  EXPECT_EQ(report.gaps, 1U);
  EXPECT_EQ(report.lost_records, 3U);
  EXPECT_THAT(texts, ElementsAre("a", "b"));
}

TEST_F(KmsgReaderTest, SurvivesBeingOverwrittenAndCountsItOnce) {
  script.say(6, 1, "a");
  script.fail(EPIPE);
  script.say(6, 101, "b");
  KmsgReader reader = make();

  const ReadCounts report = read(reader);

  EXPECT_THAT(texts, ElementsAre("a", "b"));
  EXPECT_EQ(report.gaps, 1U);
  EXPECT_EQ(report.lost_records, 99U);
}

TEST_F(KmsgReaderTest, CountsWhatWasOverwrittenBetweenTwoRuns) {
  script.say(6, 50, "b");
  KmsgReader reader = make(at("boot-1", 40));

  EXPECT_EQ(read(reader).lost_records, 9U);
}

TEST_F(KmsgReaderTest, TakesALargerBufferIfTheRecordDoesNotFit) {
  script.smallest_buffer = 40'000;
  script.say(6, 1, "long");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(texts, ElementsAre("long"));
}

TEST_F(KmsgReaderTest, GoesOnAfterAnInterruptedRead) {
  script.fail(EINTR);
  script.say(6, 1, "a");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(texts, ElementsAre("a"));
}

TEST_F(KmsgReaderTest, JoinsThePiecesOfALine) {
  script.say(6, 1, "NVRM: Xid (PCI:0000:4e:00): ", 'c');
  script.say(6, 2, "79, text", '+');
  script.say(6, 3, "other");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(texts, ElementsAre("NVRM: Xid (PCI:0000:4e:00): 79, text", "other"));
}

TEST_F(KmsgReaderTest, DoesNotJoinUserSpaceTextToALineOfTheKernel) {
  script.say(4, 1, "NVRM: ", 'c');
  script.say(12, 2, "Xid (PCI:0000:4e:00): 79", '+');
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(texts, ElementsAre("NVRM: ", "Xid (PCI:0000:4e:00): 79"));
  EXPECT_THAT(from_user_space, ElementsAre(false, true));
}

// A piece may begin with the name of a process.
TEST_F(KmsgReaderTest, MarksALineInPieces) {
  script.say(4, 1, "NVRM: Xid (PCI:0000:4e:00): ", 'c');
  script.say(4, 2, "79, text", '+');
  script.say(4, 3, "NVRM: Xid (PCI:0000:4e:00): 79", '+');
  script.say(4, 4, "whole");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(writers, ElementsAre(Writer::kPieces, Writer::kKernel));
}

TEST_F(KmsgReaderTest, MarksLinesOfUserSpace) {
  script.say(4, 1, "kernel");
  script.say(12, 2, "user");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(from_user_space, ElementsAre(false, true));
}

TEST_F(KmsgReaderTest, OpensTheDeviceAgainAfterAFailure) {
  script.fail(EIO);
  KmsgReader reader = make();
  EXPECT_FALSE(reader.read([](const LogRecord&) {}, 0ms, {}).has_value());

  script.say(6, 1, "a");
  read(reader);

  EXPECT_THAT(texts, ElementsAre("a"));
  EXPECT_EQ(script.opened, 2);
}

TEST_F(KmsgReaderTest, SaysWhyTheDeviceCannotBeOpened) {
  script.may_open = false;
  KmsgReader reader = make();

  const auto report = reader.read([](const LogRecord&) {}, 0ms, {});

  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::kForbidden);
  EXPECT_THAT(texts, IsEmpty());
}

TEST_F(KmsgReaderTest, StampsRecordsWithTheTimeOfTheKernelAndNotOfReading) {
  script.say(6, 1, "a");
  KmsgReader reader = make();
  std::optional<Clock::Wall> time;

  ASSERT_TRUE(
      reader.read([&](const LogRecord& record) { time = record.time; }, 0ms, {}).has_value());

  // Logged a millisecond after boot, and this machine has run for longer.
  ASSERT_TRUE(time.has_value());
  EXPECT_LT(*time, clock.wall());
}

// NTP does not correct the clock of the records, and it drifts away from the other.
TEST_F(KmsgReaderTest, StampsARecordThatHasJustComeWithTheTimeOfNowWhateverTheKernelsClockSays) {
  KmsgReader reader = make();
  std::vector<Clock::Wall> times;
  const auto keep = [&](const LogRecord& record) { times.push_back(record.time.value()); };
  script.say(6, 1, "while it waits");
  script.answers.swap(script.after_wait);
  ASSERT_TRUE(reader.read(keep, 1ms, {}).has_value());
  script.say(6, 2, "soon after");
  ASSERT_TRUE(reader.read(keep, 1ms, {}).has_value());

  ASSERT_EQ(times.size(), 2U);
  for (const auto time : times) {
    EXPECT_LE(time, clock.wall());
    EXPECT_GT(time, clock.wall() - 1min) << "the record says that it is of the boot";
  }
}

TEST_F(KmsgReaderTest, LearnsNoTimeFromTheOldestRecordThatAStormHasLeft) {
  KmsgReader reader = make();
  script.fail(EPIPE);
  script.say(6, 700, "old");
  script.answers.swap(script.after_wait);
  std::optional<Clock::Wall> time;
  ASSERT_TRUE(
      reader.read([&](const LogRecord& record) { time = record.time; }, 1ms, {}).has_value());

  ASSERT_TRUE(time.has_value());
  EXPECT_LT(*time, clock.wall() - 1s) << "it says that it is of the boot";
}

TEST_F(KmsgReaderTest, LeavesABatchAtSomePointSoThatItIsStored) {
  for (std::uint64_t i = 1; i <= 2000; ++i) script.say(6, i, "line");
  KmsgReader reader = make();

  const ReadCounts report = read(reader);

  EXPECT_LT(report.records, 2000U);
  EXPECT_EQ(reader.position().sequence, report.records);
}

// A day after its boot; the records are of its first second.
TEST_F(KmsgReaderTest, TakesOldRecordsForHistoryIfItKnowsNoPosition) {
  script.now = 24h;
  script.say(6, 10, "old");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(history, ElementsAre(true));
}

TEST_F(KmsgReaderTest, TakesRecordsOfTheLastHoursForNewsIfItKnowsNoPosition) {
  script.now = 2h;
  script.say(6, 10, "a second old and two hours");
  KmsgReader reader = make();

  read(reader);

  EXPECT_THAT(history, ElementsAre(false));
}

// A check without an exporter reads this boot's log again and again.
TEST_F(KmsgReaderTest, TakesNoRecordForHistoryIfTheWholeBootIsWanted) {
  script.now = 24h;
  script.say(6, 10, "a day old");
  KmsgReader reader(std::make_unique<ScriptedKmsg>(script), clock, "boot-1", {},
                    {.wants_whole_boot = true});

  read(reader);

  EXPECT_THAT(history, ElementsAre(false));
}

// The reader was away for a day, in this boot or over a reboot.
TEST_F(KmsgReaderTest, TakesNoUnreadRecordForHistoryIfItKnowsAPosition) {
  script.now = 24h;
  for (const char* boot : {"boot-1", "boot-0"}) {
    script.say(6, 10, "unread");
    KmsgReader reader = make(at(boot, 9));
    read(reader);
  }

  EXPECT_THAT(history, ElementsAre(false, false));
}

}  // namespace
}  // namespace gpuward::exporter
