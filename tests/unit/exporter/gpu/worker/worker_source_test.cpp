#include "exporter/gpu/worker/worker_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <thread>

#include "tests/places.inc"
#include "tests/support/quickest.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WorkerSourceTest : public testing::Test {
 protected:
  WorkerSourceTest() { ::signal(SIGPIPE, SIG_IGN); }  // as Signals does for the program

  void start(std::vector<std::string> script) {
    script.insert(script.begin(), std::string(GPUWARD_BIN_DIR) + "/gpuward-fake-gpu-worker");
    start_program(std::move(script));
  }
  void start_program(std::vector<std::string> argv) {
    source = std::make_unique<WorkerSource>(
        WorkerOptions{.argv = std::move(argv),
                      .description = "a worker of a test",
                      .restart = {.first = 10ms, .longest = 50ms},
                      .seed = 1},
        [this] { return times; }, clock, log);
  }
  // Waits until `condition` of the telemetry holds.
  template <typename Condition>
  testing::AssertionResult reaches(const Condition& condition, const std::string& what) {
    const auto holds = [&] {
      (void)source->wait(50ms, {});
      return condition(source->telemetry());
    };
    if (support::poll_until(holds)) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "never " << what << "; " << source->telemetry().fault;
  }
  testing::AssertionResult answers() {
    return reaches([](const GpuTelemetry& now) { return now.state == WorkerState::kAnswering; },
                   "answering");
  }
  testing::AssertionResult crashes() {
    return reaches([](const GpuTelemetry& now) { return now.state == WorkerState::kCrashed; },
                   "crashed");
  }
  testing::AssertionResult hangs() {
    return reaches([](const GpuTelemetry& now) { return now.state == WorkerState::kHung; }, "hung");
  }

  SystemClock clock;
  Log log{LogLevel::kError, LogFormat::kLogfmt};
  support::TempDir folder;
  GpuTimes times{.interval = 10ms, .timeout = support::kGenerousRequest};
  std::unique_ptr<WorkerSource> source;
};

TEST_F(WorkerSourceTest, GivesTheAnswersOfAGoodWorkerAgainAndAgain) {
  start({});
  EXPECT_EQ(source->telemetry().state, WorkerState::kStarting);
  EXPECT_EQ(source->telemetry().report, nullptr);

  ASSERT_TRUE(answers());
  const auto first = source->telemetry().report;

  ASSERT_EQ(first->vendors.size(), 1U);
  EXPECT_EQ(first->vendors[0].gpus[0].gpu.uuid, "GPU-0");
  EXPECT_TRUE(reaches([&](const GpuTelemetry& now) { return now.report != first; }, "read again"));
  EXPECT_EQ(source->telemetry().restarts, 0U);
  EXPECT_THAT(source->telemetry().fault, IsEmpty());
}

TEST_F(WorkerSourceTest, AsksAtOnceWhenHurried) {
  times.interval = 1h;
  start({});
  ASSERT_TRUE(answers());
  const auto first = source->telemetry().report;
  EXPECT_FALSE(source->wait(30ms, {})) << "nothing new in the interval";

  source->hurry();

  EXPECT_TRUE(reaches([&](const GpuTelemetry& now) { return now.report != first; }, "read again"));
}

TEST_F(WorkerSourceTest, HoldsNoGpuWhileItIsReleased) {
  start({});
  ASSERT_TRUE(answers());
  const auto has_child = [] { return ::waitpid(-1, nullptr, WNOHANG | WNOWAIT) >= 0; };

  source->set_released(true);
  ASSERT_TRUE(reaches([](const GpuTelemetry& now) { return now.state == WorkerState::kReleased; },
                      "released"));

  EXPECT_FALSE(has_child()) << "the worker is gone, and was waited for";
  EXPECT_EQ(source->telemetry().report, nullptr);
  EXPECT_THAT(source->telemetry().fault, IsEmpty());
  source->hurry();
  EXPECT_FALSE(source->wait(30ms, {})) << "nothing is read";
  EXPECT_FALSE(has_child());

  source->set_released(false);
  EXPECT_TRUE(answers());
  EXPECT_NE(source->telemetry().report, nullptr);
}

// The kernel has not ended it yet when the release ends.
TEST_F(WorkerSourceTest, SurvivesAReleaseThatEndsBeforeItsWorkerIsGone) {
  start({});
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(answers());
    source->set_released(true);
    (void)source->wait(0ms, {});
    EXPECT_EQ(source->telemetry().report, nullptr) << "no value of before";
    EXPECT_NE(source->telemetry().state, WorkerState::kAnswering);
    source->set_released(false);
    EXPECT_FALSE(source->has_let_go());
  }
  EXPECT_TRUE(answers());
}

// The answer to the earlier release does not count.
TEST_F(WorkerSourceTest, HasLetGoOnlyWhileNoWorkerCanRun) {
  start({});
  ASSERT_TRUE(answers());
  EXPECT_FALSE(source->has_let_go());
  source->set_released(true);
  EXPECT_FALSE(source->has_let_go()) << "its worker runs";
  ASSERT_TRUE(reaches([](const GpuTelemetry& now) { return now.state == WorkerState::kReleased; },
                      "released"));
  EXPECT_TRUE(source->has_let_go());
  source->set_released(false);
  (void)source->wait(0ms, {});  // starts a worker
  source->set_released(true);
  EXPECT_FALSE(source->has_let_go());
}

TEST_F(WorkerSourceTest, StartsNoWorkerIfItIsReleasedFromTheStart) {
  start({});
  source->set_released(true);
  EXPECT_TRUE(source->wait(50ms, {}));
  EXPECT_EQ(source->telemetry().state, WorkerState::kReleased);
  EXPECT_EQ(source->telemetry().restarts, 0U);
  source->set_released(false);
  EXPECT_TRUE(answers());
}

// A reading that is under way does not end first.
TEST_F(WorkerSourceTest, IsReleasedWhileTheDriverHangs) {
  start({"ask", "hang"});
  (void)source->wait(50ms, {});
  source->set_released(true);
  EXPECT_TRUE(reaches([](const GpuTelemetry& now) { return now.state == WorkerState::kReleased; },
                      "released"));
  EXPECT_EQ(source->telemetry().hangs, 0U);
}

TEST_F(WorkerSourceTest, HandsOutXidsOnce) {
  times.interval = 1h;
  start({"xid:79", "xid:48"});
  std::vector<GpuXid> xids;

  EXPECT_TRUE(reaches(
      [&](const GpuTelemetry& /*now*/) {
        for (GpuXid& xid : source->take_xids()) xids.push_back(std::move(xid));
        return xids.size() == 2;
      },
      "told of two Xids"));

  EXPECT_EQ(xids.at(0).code, 79U);
  EXPECT_EQ(xids.at(1).pci_bus_id, "0000:4e:00");
  EXPECT_TRUE(answers());
  EXPECT_THAT(source->take_xids(), IsEmpty());
}

TEST_F(WorkerSourceTest, HungCallOfTheDriverIsLeftToAChildThatCanBeKilled) {
  times.timeout = 2s;  // tripled for the first reading, which starts a worker
  const auto once = "once:" + (folder / "hung").string();
  start({once, "ask", "progress:0000:4e:00 temperature", "hang"});

  ASSERT_TRUE(hangs());

  EXPECT_EQ(source->telemetry().hangs, 1U);
  EXPECT_EQ(source->telemetry().hung_at, "0000:4e:00 temperature");
  EXPECT_THAT(source->telemetry().fault, HasSubstr("0000:4e:00 temperature"));
  times.timeout = support::kGenerousRequest;
  EXPECT_TRUE(answers());
  EXPECT_EQ(source->telemetry().restarts, 1U);
  EXPECT_THAT(source->telemetry().fault, IsEmpty());
}

TEST_F(WorkerSourceTest, KeepsTheLastReportOfAWorkerThatHangsLater) {
  times.timeout = 2s;  // tripled for the first reading, which starts a worker
  start({"ask", "report", "ask", "hang"});

  ASSERT_TRUE(hangs());

  ASSERT_NE(source->telemetry().report, nullptr);
  EXPECT_EQ(source->telemetry().report->vendors[0].gpus.size(), 1U);
}

// A wait that blocked on the driver would last until the time-out of the first reading: 3 s.
TEST_F(WorkerSourceTest, NeverBlocksLongerThanItWasToldWhileTheDriverHangs) {
  times.timeout = 1s;
  const auto longest_wait = [this] {
    start({"ask", "hang"});
    std::chrono::nanoseconds longest{0};
    EXPECT_TRUE(support::poll_until([&] {
      const auto begin = clock.steady();
      (void)source->wait(20ms, {});
      longest = std::max<std::chrono::nanoseconds>(longest, clock.steady() - begin);
      return source->telemetry().hangs >= 1;
    }));
    return longest;
  };

  EXPECT_LT(support::quickest_of(1s, longest_wait), 1s);
}

TEST_F(WorkerSourceTest, SaysBySignalHowAWorkerCrashedAndStartsAnother) {
  const auto once = "once:" + (folder / "crashed").string();
  start({once, "ask", "progress:0000:4e:00 ecc", "crash"});

  ASSERT_TRUE(crashes());

  EXPECT_THAT(source->telemetry().fault, HasSubstr("SIGABRT"));
  EXPECT_THAT(source->telemetry().fault, HasSubstr("0000:4e:00 ecc"));
  EXPECT_EQ(source->telemetry().hangs, 0U);
  EXPECT_TRUE(answers());
  EXPECT_EQ(source->telemetry().restarts, 1U);
}

class ErrorRecords : public WorkerSourceTest {
 protected:
  void start_with_records(std::vector<std::string> script) {
    const std::string program = std::string(GPUWARD_BIN_DIR) + "/gpuward-fake-gpu-worker";
    script.insert(script.begin(), program);
    source = std::make_unique<WorkerSource>(
        WorkerOptions{
            .argv = std::move(script),
            .description = "a worker of a test",
            .restart = {.first = 10ms, .longest = 50ms},
            .seed = 1,
            .error_records = Dispensable{.progress = "error records", .argv = {program, "xid:1"}}},
        [this] { return times; }, clock, log);
  }
};

TEST_F(ErrorRecords, AreGivenUpAfterThreeCrashesInARow) {
  start_with_records({"ask", "progress:0000:e5:00 error records", "crash"});

  ASSERT_TRUE(answers());

  EXPECT_TRUE(source->telemetry().has_given_up_error_records);
  EXPECT_EQ(source->telemetry().restarts, 3U);
  EXPECT_FALSE(source->take_xids().empty()) << "the worker without them";
}

TEST_F(ErrorRecords, AreReadOnIfTheWorkerCrashesElsewhere) {
  start_with_records({"ask", "progress:0000:e5:00 temperature", "crash"});

  EXPECT_TRUE(reaches([](const GpuTelemetry& now) { return now.restarts > 5; }, "at it again"));
  EXPECT_FALSE(source->telemetry().has_given_up_error_records);
}

TEST_F(ErrorRecords, AreReadOnIfAReadingWasGoodInBetween) {
  start_with_records({"ask", "report", "ask", "progress:0000:e5:00 error records", "crash"});

  EXPECT_TRUE(reaches([](const GpuTelemetry& now) { return now.restarts > 5; }, "at it again"));
  EXPECT_FALSE(source->telemetry().has_given_up_error_records);
}

TEST_F(WorkerSourceTest, BacksOffFromAWorkerThatDiesAtOnceForever) {
  start({"exit:3"});

  ASSERT_TRUE(crashes());

  EXPECT_THAT(source->telemetry().fault, HasSubstr("exit code 3"));
  EXPECT_TRUE(reaches([](const GpuTelemetry& now) { return now.restarts >= 4; }, "restarted"));
  EXPECT_EQ(source->telemetry().state, WorkerState::kCrashed) << "no flapping in between";
}

TEST_F(WorkerSourceTest, SaysWhatAWorkerThatCannotBeStartedLacks) {
  start_program({"/nowhere/gpuward-exporter"});

  ASSERT_TRUE(crashes());

  EXPECT_THAT(source->telemetry().fault, HasSubstr("/nowhere/gpuward-exporter"));
  EXPECT_TRUE(reaches([](const GpuTelemetry& now) { return now.restarts >= 2; }, "tried again"));
}

class BrokenWorker : public WorkerSourceTest,
                     public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(BrokenWorker, IsKilledAndReplacedAndTakesNobodyWithIt) {
  times.interval = 1h;
  std::vector<std::string> script{"once:" + (folder / "broken").string()};
  script.insert(script.end(), GetParam().begin(), GetParam().end());
  start(std::move(script));

  ASSERT_TRUE(crashes());

  EXPECT_THAT(source->telemetry().fault, HasSubstr("GPU worker"));
  EXPECT_LT(source->telemetry().fault.size(), 500U);
  EXPECT_TRUE(answers());
  EXPECT_EQ(source->telemetry().report->vendors[0].gpus.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Scripts, BrokenWorker,
    testing::Values(
        std::vector<std::string>{"print:garbage"},
        std::vector<std::string>{"ask", "print:{\"report\":{}}"},
        std::vector<std::string>{"ask", "cut:{\"report\":{\"vendors\":[", "exit:0"},
        std::vector<std::string>{"ask", "report", "report"}, std::vector<std::string>{"report"},
        std::vector<std::string>{"ask", "print:{\"progress\":9e999}"},
        std::vector<std::string>{"ask", "close", "hang"}, std::vector<std::string>{"ask", "flood"},
        std::vector<std::string>{"ask", "flood-progress"},
        std::vector<std::string>{"ask", "flood-stderr"}, std::vector<std::string>{"exit:0"}));

TEST_F(WorkerSourceTest, EndsAWorkerThatDoesNotWantToEndWithinASecond) {
  times.interval = 1h;
  const auto once = [&] {
    start({"ask", "report", "hang"});
    EXPECT_TRUE(answers());
    const auto begin = clock.steady();
    source.reset();
    return clock.steady() - begin;
  };

  EXPECT_LT(support::quickest_of(2s, once), 2s);
}

TEST_F(WorkerSourceTest, ReturnsAtOnceWhenStopped) {
  times.interval = 1h;
  start({});
  ASSERT_TRUE(answers());
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  const auto begin = clock.steady();

  EXPECT_FALSE(source->wait(1h, stop.get_token()));

  EXPECT_LT(clock.steady() - begin, support::kGenerous);
}

// It must not even get the pipe of another worker, nor any of the exporter's sockets.
TEST_F(WorkerSourceTest, GivesTheWorkerNoDescriptorButItsPipes) {
  std::array<int, 2> inherited{};
  ASSERT_EQ(::pipe(inherited.data()), 0);  // without O_CLOEXEC, as a library may open one
  const auto list = (folder / "descriptors").string();

  start_program({"/bin/sh", "-c", "ls /proc/self/fd | tr '\\n' ' ' > " + list + "; sleep 60"});

  EXPECT_TRUE(
      reaches([&](const auto& /*now*/) { return ::access(list.c_str(), F_OK) == 0; }, "listed"));
  std::ifstream in(list);
  std::string text;
  ASSERT_TRUE(support::poll_until([&] {
    in = std::ifstream(list);
    std::getline(in, text);
    return text.size() >= 6;
  }));
  EXPECT_EQ(text, "0 1 2 3 ") << "3 is the folder that ls reads";
  for (const int descriptor : inherited) ::close(descriptor);
}

}  // namespace
}  // namespace gpuward::exporter
