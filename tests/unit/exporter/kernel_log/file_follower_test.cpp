#include "exporter/kernel_log/file_follower.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/runtime/clock.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class FileFollowerTest : public testing::Test {
 protected:
  std::filesystem::path log() const { return folder / "log"; }
  void append(const std::string& text) const {
    std::ofstream(log(), std::ios::app | std::ios::binary) << text;
  }
  // Reads until nothing new comes. For a file an empty read is an answer.
  void read(FileFollower& follower) {
    for (int idle = 0; idle < 1;) {
      const auto report = follower.read(
          [&](const LogRecord& record) {
            texts.emplace_back(record.text);
            from_user_space.push_back(record.writer == Writer::kUserSpace);
            history.push_back(record.is_history);
            of_earlier_boot.push_back(record.is_of_earlier_boot);
          },
          0ms, {});
      ASSERT_TRUE(report.has_value()) << report.error().message;
      idle += report->bytes == 0 ? 1 : 0;
    }
  }
  void read_until(FileFollower& follower, std::size_t records) {
    EXPECT_TRUE(support::wait_until(
        [&] {
          read(follower);
          return texts.size() >= records;
        },
        std::to_string(records) + " records"));
  }

  support::TempDir folder;
  std::vector<std::string> texts;
  std::vector<bool> from_user_space;
  std::vector<bool> history;
  std::vector<bool> of_earlier_boot;
};

TEST_F(FileFollowerTest, ReadsAFileFromItsStart) {
  append("one\ntwo\n");
  FileFollower follower(log(), {});

  read(follower);

  EXPECT_THAT(texts, ElementsAre("one", "two"));
}

TEST_F(FileFollowerTest, FollowsAFileThatGrowsAndWaitsForTheEndOfALine) {
  append("one\ntw");
  FileFollower follower(log(), {});
  read(follower);
  EXPECT_THAT(texts, ElementsAre("one"));

  append("o\n");
  read(follower);

  EXPECT_THAT(texts, ElementsAre("one", "two"));
}

TEST_F(FileFollowerTest, GoesOnWhereTheRunBeforeStopped) {
  append("one\ntwo\nhal");
  LogPosition saved;
  {
    FileFollower follower(log(), {});
    read(follower);
    saved = follower.position();
  }
  append("f\nthree\n");
  texts.clear();

  FileFollower again(log(), saved);
  read(again);

  EXPECT_THAT(texts, ElementsAre("half", "three"));
}

TEST_F(FileFollowerTest, StartsAgainIfTheFileWasWrittenAnew) {
  append("old one\nold two\n");
  LogPosition saved;
  {
    FileFollower follower(log(), {});
    read(follower);
    saved = follower.position();
  }
  std::ofstream(log(), std::ios::trunc) << "new one, longer\nnew two, longer\n";
  texts.clear();

  FileFollower again(log(), saved);
  read(again);

  EXPECT_THAT(texts, ElementsAre("new one, longer", "new two, longer"));
}

TEST_F(FileFollowerTest, ReadsTheRestOfAFileThatWasRotatedBetweenTwoRuns) {
  append("one\ntwo\n");
  LogPosition saved;
  {
    FileFollower follower(log(), {});
    read(follower);
    saved = follower.position();
  }
  append("three\n");
  std::filesystem::rename(log(), folder / "log.1");
  append("four\n");
  texts.clear();

  FileFollower again(log(), saved);
  read_until(again, 2);

  EXPECT_THAT(texts, ElementsAre("three", "four"));
}

TEST_F(FileFollowerTest, FollowsARotationWhileItRuns) {
  append("one\n");
  FileFollower follower(log(), {});
  read(follower);

  std::filesystem::rename(log(), folder / "log.1");
  append("two\n");
  std::ofstream(folder / "log.1", std::ios::app) << "late\n";
  read_until(follower, 3);

  EXPECT_THAT(texts, ElementsAre("one", "late", "two"));
}

TEST_F(FileFollowerTest, FollowsATruncationWhileItRuns) {
  append("one\ntwo\nthree\n");
  FileFollower follower(log(), {});
  read(follower);
  texts.clear();

  std::ofstream(log(), std::ios::trunc) << "four\n";
  read(follower);

  EXPECT_THAT(texts, ElementsAre("four"));
}

TEST_F(FileFollowerTest, IgnoresThePositionOfAnotherPath) {
  append("one\n");
  LogPosition saved;
  saved.path = "/somewhere/else";
  saved.offset = 4;

  FileFollower follower(log(), saved);
  read(follower);

  EXPECT_THAT(texts, ElementsAre("one"));
}

TEST_F(FileFollowerTest, SaysThatTheFileIsMissingAndFindsItLater) {
  FileFollower follower(log(), {});
  const auto report = follower.read([](const LogRecord&) {}, 0ms, {});
  ASSERT_FALSE(report.has_value());
  EXPECT_NE(report.error().message.find(log().string()), std::string::npos);

  append("one\n");
  read(follower);

  EXPECT_THAT(texts, ElementsAre("one"));
}

TEST_F(FileFollowerTest, RefusesAFolder) {
  FileFollower follower(folder.path(), {});

  EXPECT_FALSE(follower.read([](const LogRecord&) {}, 0ms, {}).has_value());
}

TEST_F(FileFollowerTest, MarksKmsgRecordsOfUserSpaceInAFile) {
  append("6,1,1,-;kernel\n12,2,2,-;user\nplain\n");
  FileFollower follower(log(), {});

  read(follower);

  EXPECT_THAT(from_user_space, ElementsAre(false, true, false));
}

TEST_F(FileFollowerTest, OpensAFifoWithoutAWriterAndSurvivesItsWriters) {
  ASSERT_EQ(::mkfifo(log().c_str(), 0600), 0);
  FileFollower follower(log(), {});
  read(follower);
  EXPECT_THAT(texts, IsEmpty());

  for (const char* line : {"one\n", "two\n"}) {
    const int writer = ::open(log().c_str(), O_WRONLY);
    ASSERT_GE(writer, 0);
    ASSERT_EQ(::write(writer, line, 4), 4);
    ::close(writer);
    read(follower);
  }

  EXPECT_THAT(texts, ElementsAre("one", "two"));
}

TEST_F(FileFollowerTest, StopsWaitingAtOnceWhenAsked) {
  ASSERT_EQ(::mkfifo(log().c_str(), 0600), 0);
  FileFollower follower(log(), {});
  const auto start = std::chrono::steady_clock::now();
  {
    std::jthread reader([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        EXPECT_TRUE(
            follower.read([](const LogRecord&) {}, 2 * support::kGenerous, stop).has_value());
      }
    });
  }

  EXPECT_LT(std::chrono::steady_clock::now() - start, support::kGenerous);
}

// The machine was booted 3 h before.
StartMoment started_at(const char* now) {
  const auto time = *parse_rfc3339(now);
  return {.now = time, .booted = time - 3h};
}
constexpr const char* kNow = "2026-11-29T20:00:00Z";

TEST_F(FileFollowerTest, TakesOldLinesForHistoryIfItKnowsNoPosition) {
  append(
      "2026-11-29T17:59:00Z node kernel: old\n"
      "2026-11-29T18:01:00Z node kernel: news\n"
      "[ 3000.0] old\n"
      "[ 9000.0] news\n"
      "kernel: undated\n");
  FileFollower follower(log(), {}, started_at(kNow));

  read(follower);

  EXPECT_THAT(history, ElementsAre(true, false, true, false, false));
}

TEST_F(FileFollowerTest, TakesOnlyLinesOfAnEarlierBootForHistoryIfTheWholeBootIsWanted) {
  append(
      "2026-11-29T16:59:00Z node kernel: before the boot\n"
      "2026-11-29T17:01:00Z node kernel: old\n"
      "[ 3000.0] old\n");
  StartMoment moment = started_at(kNow);
  moment.wants_whole_boot = true;
  FileFollower follower(log(), {}, moment);

  read(follower);

  EXPECT_THAT(history, ElementsAre(true, false, false));
  EXPECT_THAT(of_earlier_boot, ElementsAre(true, false, false));
}

TEST_F(FileFollowerTest, TellsAnOldLineFromOneOfAnEarlierBoot) {
  append(
      "2026-11-29T16:59:00Z node kernel: before the boot\n"
      "2026-11-29T17:01:00Z node kernel: old\n");
  FileFollower follower(log(), {}, started_at(kNow));

  read(follower);

  EXPECT_THAT(history, ElementsAre(true, true));
  EXPECT_THAT(of_earlier_boot, ElementsAre(true, false));
}

TEST_F(FileFollowerTest, TakesNoLineOfThisBootForHistoryIfItKnowsItsPosition) {
  append("2026-11-29T17:30:00Z node kernel: read\n");
  LogPosition saved;
  {
    FileFollower follower(log(), {}, started_at(kNow));
    read(follower);
    saved = follower.position();
  }
  append("2026-11-29T17:31:00Z node kernel: unread\n");
  FileFollower follower(log(), saved, started_at(kNow));

  read(follower);

  EXPECT_THAT(history, ElementsAre(true, false));
}

TEST_F(FileFollowerTest, TakesLinesOfAnEarlierBootForHistoryWhateverItKnows) {
  append("read\n");
  LogPosition saved;
  {
    FileFollower follower(log(), {}, started_at(kNow));
    read(follower);
    saved = follower.position();
  }
  append(
      "2026-11-29T16:59:00Z node kernel: before the boot\n"
      "[912345.678901] longer after its boot than this machine is up\n"
      "Aug  1 03:12:44 node kernel: in summer\n");
  FileFollower follower(log(), saved, started_at(kNow));

  read(follower);

  EXPECT_THAT(history, ElementsAre(false, true, true, true));
}

TEST_F(FileFollowerTest, TakesWhatIsBeforeTheNewestBannerForHistory) {
  append(
      "kernel: of an earlier boot\n"
      "kernel: [    0.000000] Linux version 6.8.0-45-generic (buildd@lcy02) #45-Ubuntu SMP\n"
      "kernel: [    9.1] of an earlier boot\n"
      "kernel: [    0.000000] Linux version 6.8.0-45-generic (buildd@lcy02) #45-Ubuntu SMP\n"
      "kernel: undated\n"
      "Nov 29 19:58:00 node sshd[1]: Linux version 6.8.0-45-generic, said by a login\n");
  FileFollower follower(log(), {}, started_at(kNow));

  read(follower);

  EXPECT_THAT(history, ElementsAre(true, true, true, true, false, false));
}

// The clock was 3 h slow at the boot, until NTP set it.
TEST_F(FileFollowerTest, TakesNoLineBehindTheNewestBannerForOneOfAnEarlierBoot) {
  append(
      "2026-11-29T16:50:00Z node kernel: Linux version 6.8.0-45-generic (buildd@lcy02) #45 SMP\n"
      "2026-11-29T16:51:00Z node kernel: of this boot\n");
  const auto now = *parse_rfc3339(kNow);
  FileFollower follower(log(), {}, {.now = now, .booted = now - 10min});

  read(follower);

  EXPECT_THAT(history, ElementsAre(false, false));
}

// A rotated file may end with lines of the earlier boot, after the banner of that boot.
TEST_F(FileFollowerTest, TakesLinesBehindABannerOfARotatedFileByTheirTime) {
  append("kernel: read\n");
  LogPosition saved;
  {
    FileFollower follower(log(), {}, started_at(kNow));
    read(follower);
    saved = follower.position();
  }
  append(
      "2026-11-29T15:00:00Z node kernel: Linux version 6.8.0-45-generic (buildd@lcy02) #45 SMP\n"
      "2026-11-29T16:00:00Z node kernel: before the boot\n");
  std::filesystem::rename(log(), folder / "log.1");
  append("2026-11-29T17:01:00Z node kernel: of this boot\n");
  FileFollower follower(log(), saved, started_at(kNow));

  read_until(follower, 4);

  EXPECT_THAT(history, ElementsAre(false, true, true, false));
}

TEST_F(FileFollowerTest, TakesNoLineForHistoryThatCameAfterTheStart) {
  append("2026-11-29T17:30:00Z node kernel: old\n");
  FileFollower follower(log(), {}, started_at(kNow));
  bool has_grown = false;
  const auto sink = [&](const LogRecord& record) {
    history.push_back(record.is_history);
    if (!std::exchange(has_grown, true)) append("[10900.0] after the start\n");
  };
  EXPECT_TRUE(support::wait_until(
      [&] {
        EXPECT_TRUE(follower.read(sink, 0ms, {}).has_value());
        return history.size() >= 2;
      },
      "both lines"));

  EXPECT_THAT(history, ElementsAre(true, false));
}

TEST_F(FileFollowerTest, TakesNoLineForHistoryOfAFileThatAppearsAfterTheStart) {
  FileFollower follower(log(), {}, started_at(kNow));
  EXPECT_FALSE(follower.read([](const LogRecord&) {}, 0ms, {}).has_value());
  append("2026-11-29T17:30:00Z node kernel: of a clock that is wrong\n");

  read(follower);

  EXPECT_THAT(history, ElementsAre(false));
}

TEST_F(FileFollowerTest, TakesNoLineForHistoryThatItSeesBeingWritten) {
  append("kernel: first\n");
  FileFollower follower(log(), {}, started_at(kNow));
  read(follower);

  append("Aug  1 03:12:44 node kernel: of a clock or a zone that is wrong\n");
  read(follower);

  EXPECT_THAT(history, ElementsAre(false, false));
}

}  // namespace
}  // namespace gpuward::exporter
