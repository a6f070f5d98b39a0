// One side of a pair against another, and against an impostor.
#include "exporter/nccl_pair/pair.h"

#include <gmock/gmock.h>

#include <thread>

#include "tests/fakes/fake_clock.h"
#include "tests/support/ports.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/nccl_pair/fake_all_reduce.h"

namespace gpuward::exporter::nccl_pair {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kToken = "of this pair";

class PairTest : public testing::Test {
 protected:
  Options options(int rank) const {
    Options options;
    options.rank = rank;
    options.address = "127.0.0.1";
    options.port = port_;
    options.token = kToken;
    options.min_bus_bandwidth = 0;
    options.timeout = support::kGenerous;
    options.join_timeout = support::kGenerousRequest;
    return options;
  }
  static Pair::OpenGpus having(const FakeAllReduce& gpus) {
    return [&gpus]() -> Result<std::unique_ptr<AllReduce>> {
      return std::make_unique<FakeAllReduce>(gpus);
    };
  }
  PairResult run(Pair& pair, const FakeAllReduce& gpus = {}) const {
    return pair.run(having(gpus));
  }

  [[nodiscard]] Link::Deadline soon() const { return clock_.steady() + support::kGenerousRequest; }
  // Connects to rank 0, which may not listen yet.
  Link knock() {
    const auto endpoint = parse_endpoint("127.0.0.1", port_);
    EXPECT_TRUE(endpoint);
    Result<Link> link = fail(ErrorKind::kUnavailable, "");
    EXPECT_TRUE(support::poll_until(
        [&] { return (link = Link::connect(*endpoint, clock_, soon())).has_value(); }));
    return *std::move(link);
  }
  // Greets as rank 1. Rank 0's first message is a challenge, which has this nonce.
  static Greeting greeting_of_rank_1(const std::string& challenge) {
    const Nonces nonces{.of_rank_0 = challenge, .of_rank_1 = make_nonce()};
    return {.version = kProtocolVersion,
            .nonce = nonces.of_rank_1,
            .proof = proof_of(kToken, 1, nonces),
            .terms = {.host = "node-b",
                      .gpus = 8,
                      .nccl_version = 22304,
                      .most_bytes = kSizes.back(),
                      .min_bus_bandwidth = 0},
            .id = {},
            .refused = {}};
  }
  void say(Link& link, const auto& what) const { EXPECT_TRUE(link.send(encode(what), soon())); }
  void greet(Link& link) {
    const auto line = link.receive(soon());
    ASSERT_TRUE(line && decode_challenge(*line));
    say(link, greeting_of_rank_1(*decode_challenge(*line)));
  }
  // Connects as a rank 1 that rank 0 has accepted.
  Link let_in() {
    Link link = knock();
    greet(link);
    const auto answer = link.receive(soon());
    EXPECT_TRUE(answer && decode_greeting(*answer) && decode_greeting(*answer)->id);
    say(link, Message{});
    return link;
  }
  static Message joined() { return {.kind = Message::Kind::kJoined, .report = {}}; }
  static Message report(SideResult::Kind kind, std::string words = {}) {
    return {.kind = Message::Kind::kReport,
            .report = {.kind = kind, .words = std::move(words), .figures = {}}};
  }
  // Returns rank 0's result while `other` plays rank 1. `other`'s link stays open until then.
  PairResult verdict_with(const std::function<void(Link&)>& other, const FakeAllReduce& gpus = {}) {
    Pair pair(options(0), "node-a", clock_, log_);
    PairResult verdict;
    std::jthread side([&] { verdict = run(pair, gpus); });
    Link link = let_in();
    other(link);
    side.join();
    return verdict;
  }

  SystemClock clock_;
  Log log_{LogLevel::kError, LogFormat::kLogfmt};
  int port_ = support::free_port();
};

TEST_F(PairTest, BothSidesComeToTheSameVerdict) {
  Pair first(options(0), "node-a", clock_, log_);
  Pair second(options(1), "node-b", clock_, log_);
  PairResult one;
  std::jthread side([&] { one = run(first); });
  const PairResult other = run(second);
  side.join();

  EXPECT_EQ(one.status, CheckStatus::kPass) << one.details;
  EXPECT_EQ(one.details, other.details);
}

TEST_F(PairTest, TheSmallerMemoryDecidesTheSizes) {
  FakeAllReduce little;
  little.bytes_free = kSizes.front();
  const PairResult verdict = verdict_with(
      [&](Link& link) {
        say(link, joined());
        Message measured = report(SideResult::Kind::kMeasured);
        measured.report.figures.nanoseconds = {1'000'000};
        say(link, measured);
      },
      little);

  EXPECT_EQ(verdict.status, CheckStatus::kPass) << verdict.details;
  EXPECT_THAT(verdict.details, HasSubstr("at 128 MiB"));
}

TEST_F(PairTest, FiguresOfOtherSizesTellNothing) {
  const PairResult verdict = verdict_with([&](Link& link) {
    say(link, joined());
    Message measured = report(SideResult::Kind::kMeasured);
    measured.report.figures.nanoseconds = {1'000'000};
    say(link, measured);
  });

  EXPECT_EQ(verdict.status, CheckStatus::kError);
  EXPECT_THAT(verdict.details, HasSubstr("node-b measured other message sizes"));
}

TEST_F(PairTest, AFailureOfTheOtherSideIsOne) {
  const PairResult verdict = verdict_with([&](Link& link) {
    say(link, joined());
    say(link, report(SideResult::Kind::kFailed, "cuStreamQuery: uncorrectable ECC error"));
  });

  EXPECT_EQ(verdict.status, CheckStatus::kFail);
  EXPECT_THAT(verdict.details, HasSubstr("cuStreamQuery: uncorrectable ECC error (node-b)"));
}

TEST_F(PairTest, AFailureOfWhoHasNotJoinedIsNotBelieved) {
  const PairResult verdict = verdict_with(
      [&](Link& link) { say(link, report(SideResult::Kind::kFailed, "it is node-a's fault")); });

  EXPECT_EQ(verdict.status, CheckStatus::kError);
  EXPECT_THAT(verdict.details, HasSubstr("disconnected without reporting a result"));
}

TEST_F(PairTest, WhoSaysWhatItMayNotIsTakenForGone) {
  for (const std::string nonsense :
       {"{\"joined\":true}\n{\"joined\":true}\n", "{\"joined\":true}\nhello\n",
        "{\"joined\":true}\n{\"ready\":true}\n"}) {
    port_ = support::free_port();
    const PairResult verdict = verdict_with([&](Link& link) {
      EXPECT_TRUE(link.send(nonsense, soon()));
      // The played side has nothing more to do and waits for rank 0.
      static_cast<void>(link.receive(soon()));
    });
    EXPECT_EQ(verdict.status, CheckStatus::kError) << nonsense << verdict.details;
  }
}

TEST_F(PairTest, AllReduceIsGivenUpOnceTheOtherSideHasFailed) {
  FakeAllReduce stuck;
  stuck.on_run = [](std::uint64_t, unsigned, const GivesUp& gives_up) -> Status {
    if (!support::poll_until(gives_up)) return {};
    return fail(ErrorKind::kCancelled, "given up");
  };
  const PairResult verdict = verdict_with(
      [&](Link& link) {
        say(link, joined());
        say(link, report(SideResult::Kind::kHangs, "stuck"));
      },
      stuck);

  EXPECT_EQ(verdict.status, CheckStatus::kFail);
  EXPECT_THAT(verdict.details, HasSubstr("stuck (node-b)"));
}

// NCCL fails on this side whenever the other process ends, for any reason.
TEST_F(PairTest, AnErrorOfNcclBecauseTheOtherSideHasEndedTellsNothing) {
  std::atomic<bool> is_running = false;
  FakeAllReduce broken;
  broken.on_run = [&](std::uint64_t, unsigned, const GivesUp& gives_up) -> Status {
    is_running = true;
    EXPECT_TRUE(support::poll_until(gives_up));
    return fail(ErrorKind::kUnavailable, "ncclAllReduce: remote process exited");
  };
  const PairResult verdict = verdict_with(
      [&](Link& link) {
        say(link, joined());
        EXPECT_TRUE(support::poll_until([&] { return is_running.load(); }));
        link.hang_up();
      },
      broken);

  EXPECT_EQ(verdict.status, CheckStatus::kError);
  EXPECT_THAT(verdict.details, AllOf(HasSubstr("disconnected without reporting a result"),
                                     HasSubstr("here: ncclAllReduce: remote process exited")));
}

TEST_F(PairTest, WhoCannotJoinSaysSoAndTellsNothing) {
  FakeAllReduce broken;
  broken.on_join = [] { return fail(ErrorKind::kUnavailable, "ncclCommInitRank: no network"); };
  std::string heard;
  const PairResult verdict =
      verdict_with([&](Link& link) { heard = link.receive(soon()).value_or("nothing"); }, broken);

  EXPECT_EQ(verdict.status, CheckStatus::kError);
  EXPECT_THAT(heard, AllOf(HasSubstr("untold"), HasSubstr("ncclCommInitRank: no network")));
}

TEST_F(PairTest, WhoeverWatchesTheTimeEndsAHangAndTheOtherSideIsTold) {
  std::atomic<bool> is_running = false;
  std::atomic<bool> is_over = false;
  FakeAllReduce stuck;
  stuck.on_run = [&](std::uint64_t, unsigned, const GivesUp&) -> Status {
    is_running = true;
    EXPECT_TRUE(support::poll_until([&] { return is_over.load(); }));
    return fail(ErrorKind::kCancelled, "the test is over");
  };
  Pair pair(options(0), "node-a", clock_, log_);
  std::jthread side([&] { static_cast<void>(run(pair, stuck)); });
  Link link = let_in();
  say(link, joined());
  EXPECT_TRUE(support::poll_until([&] { return is_running.load(); }));
  EXPECT_FALSE(pair.is_left_alone());

  const PairResult verdict = pair.end_now();

  EXPECT_EQ(verdict.status, CheckStatus::kFail);
  EXPECT_THAT(verdict.details, AllOf(HasSubstr("still running all_reduce"), HasSubstr("(node-a)")));
  EXPECT_THAT(link.receive(soon()).value_or(""), HasSubstr("joined"));
  EXPECT_THAT(link.receive(soon()).value_or(""), HasSubstr("hangs"));
  link.hang_up();
  EXPECT_TRUE(support::poll_until([&] { return pair.is_left_alone(); }));
  is_over = true;
}

TEST_F(PairTest, BeforeTheOtherSideHasComeNobodyCanTell) {
  Pair pair(options(0), "node-a", clock_, log_);

  EXPECT_FALSE(pair.is_left_alone());
  EXPECT_EQ(pair.end_now().status, CheckStatus::kError);
}

TEST_F(PairTest, GpusInUseAreLookedAtAgainForAMinute) {
  for (const auto& [join_timeout, looks] :
       std::vector<std::pair<std::chrono::seconds, int>>{{5min, 13}, {12s, 4}, {0s, 1}}) {
    fakes::FakeClock clock(fakes::FakeClock::Mode::kAutoAdvance);
    Options patient = options(0);
    patient.timeout = 10min;
    patient.join_timeout = join_timeout;
    const auto begin = clock.steady();
    int looked = 0;
    Pair pair(patient, "node-a", clock, log_);

    const PairResult verdict = pair.run([&]() -> Result<std::unique_ptr<AllReduce>> {
      ++looked;
      return fail(ErrorKind::kBlocked, "pid 4711 uses the GPU");
    });

    EXPECT_EQ(verdict.status, CheckStatus::kError);
    EXPECT_EQ(verdict.details, "pid 4711 uses the GPU");
    EXPECT_EQ(looked, looks);
    EXPECT_EQ(clock.steady() - begin, std::min<std::chrono::seconds>(join_timeout, 60s));
  }
}

TEST_F(PairTest, GpusThatSomebodyLetsGoOfAreTaken) {
  fakes::FakeClock clock(fakes::FakeClock::Mode::kAutoAdvance);
  FakeAllReduce little;
  little.bytes_free = 0;  // so that it ends before it waits for the other side
  int looked = 0;
  Pair pair(options(0), "node-a", clock, log_);

  const PairResult verdict = pair.run([&]() -> Result<std::unique_ptr<AllReduce>> {
    if (++looked < 3) return fail(ErrorKind::kBlocked, "pid 4711 uses the GPU");
    return std::make_unique<FakeAllReduce>(little);
  });

  EXPECT_EQ(looked, 3);
  EXPECT_EQ(verdict.details, "the GPUs have too little free memory");
}

TEST_F(PairTest, GpusThatCannotBeHadAreNotWaitedFor) {
  fakes::FakeClock clock(fakes::FakeClock::Mode::kAutoAdvance);
  int looked = 0;
  Pair pair(options(0), "node-a", clock, log_);

  const PairResult verdict = pair.run([&]() -> Result<std::unique_ptr<AllReduce>> {
    ++looked;
    return fail(ErrorKind::kRefused, "0000:4e:00 is in MIG mode");
  });

  EXPECT_EQ(looked, 1);
  EXPECT_EQ(verdict.status, CheckStatus::kError);
}

TEST_F(PairTest, RankOneThatCameAndWentIsWaitedForAgain) {
  Pair pair(options(0), "node-a", clock_, log_);
  PairResult verdict;
  std::jthread side([&] { verdict = run(pair); });
  {
    Link early = knock();
    greet(early);
    EXPECT_TRUE(early.receive(soon()));
  }  // before it was ready
  Link link = let_in();
  say(link, joined());
  say(link, report(SideResult::Kind::kUnknown, "the second one"));
  side.join();

  EXPECT_THAT(verdict.details, HasSubstr("the second one"));
}

TEST_F(PairTest, WhatWasSaidToAnotherMeetingIsNoProof) {
  Pair pair(options(0), "node-a", clock_, log_);
  PairResult verdict;
  std::jthread side([&] { verdict = run(pair); });
  std::string all;
  {
    Link recorded = knock();
    say(recorded, greeting_of_rank_1(make_nonce()));
    while (const auto line = recorded.receive(soon())) all += *line;
  }
  Link link = let_in();
  say(link, joined());
  say(link, report(SideResult::Kind::kUnknown, "after the recorded one"));
  side.join();

  EXPECT_THAT(all, AllOf(HasSubstr("refused"), Not(HasSubstr("\"id\""))));
  EXPECT_THAT(verdict.details, HasSubstr("after the recorded one"));
}

TEST_F(PairTest, WhoSaysNothingHoldsTheListenerUpForSecondsOnly) {
  Pair pair(options(0), "node-a", clock_, log_);
  PairResult verdict;
  std::jthread side([&] { verdict = run(pair); });
  const Link silent = knock();
  Link link = let_in();
  say(link, joined());
  say(link, report(SideResult::Kind::kUnknown, "after the silent one"));
  side.join();

  EXPECT_THAT(verdict.details, HasSubstr("after the silent one"));
}

}  // namespace
}  // namespace gpuward::exporter::nccl_pair
