#include "remediator/cli/ctl/watch.h"

#include <gmock/gmock.h>

#include <deque>
#include <string>
#include <vector>

#include "tests/fakes/fake_clock.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using Answers = std::deque<Result<CommandOutput>>;

// The results of the next runs of the command. The last one repeats forever.
Answers& answers() {
  static Answers all;
  return all;
}

Result<CommandOutput> answer(const CommandFlags& /*flags*/, Clock& /*clock*/) {
  auto next = answers().front();
  if (answers().size() > 1) answers().pop_front();
  return next;
}

class WatchCommand : public ::testing::Test {
 protected:
  // Returns the texts that the command showed until there were `most`.
  std::vector<std::string> shown(Answers all, std::size_t most) {
    answers() = std::move(all);
    std::vector<std::string> texts;
    std::stop_source over;
    outcome_ = watch_command({.command = &command_, .flags = {}}, clock_, over.get_token(),
                             [&](const std::string& text) {
                               texts.push_back(text);
                               if (texts.size() == most) over.request_stop();
                               return true;
                             });
    return texts;
  }

  fakes::FakeClock clock_{fakes::FakeClock::Mode::kAutoAdvance};
  CtlCommand command_{
      .name = "a", .group = "", .summary = "", .examples = "", .add_words = nullptr, .run = answer};
  Status outcome_;
};

TEST_F(WatchCommand, ShowsWhatHasChanged) {
  const auto begin = clock_.steady();

  EXPECT_THAT(shown({CommandOutput{"1"}, CommandOutput{"1"}, CommandOutput{"2"}}, 2),
              ElementsAre("1", "2"));

  EXPECT_TRUE(outcome_);
  EXPECT_EQ(clock_.steady() - begin, 2 * kBetweenLooks);
}

TEST_F(WatchCommand, ShowsNothingIfOnlyAgesHaveChanged) {
  EXPECT_THAT(shown({CommandOutput{.text = "held 3s", .ageless = "held"},
                     CommandOutput{.text = "held 5s", .ageless = "held"},
                     CommandOutput{.text = "done 7s", .ageless = "done"}},
                    2),
              ElementsAre("held 3s", "done 7s"));
}

TEST_F(WatchCommand, EndsWithTheErrorOfTheFirstLook) {
  EXPECT_THAT(shown({fail(ErrorKind::kNotFound, "no such file")}, 1), ElementsAre());
  EXPECT_EQ(outcome_.error().kind, ErrorKind::kNotFound);
}

TEST_F(WatchCommand, ShowsALaterErrorAndGoesOn) {
  EXPECT_THAT(
      shown({CommandOutput{"1"}, fail(ErrorKind::kTimeout, "no answer"), CommandOutput{"1"}}, 3),
      ElementsAre("1", "error: no answer\n", "1"));
}

TEST_F(WatchCommand, EndsIfNobodyReads) {
  answers() = {CommandOutput{"1"}};
  int times = 0;

  EXPECT_TRUE(watch_command({.command = &command_, .flags = {}}, clock_, {},
                            [&](const std::string&) { return ++times < 1; }));

  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace gpuward::remediator
