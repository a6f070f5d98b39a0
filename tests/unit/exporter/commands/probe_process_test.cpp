// `gpuward-exporter probe`, the real program, against a real server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/runtime/clock.h"
#include "tests/places.inc"
#include "tests/support/temp_dir.h"
#include "tests/unit/core/http/test_server.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

support::Process::Outcome probe(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {exporter_binary().string(), "probe"});
  auto outcome = support::Process::run({.argv = std::move(arguments)});
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome.value_or(support::Process::Outcome{});
}

TEST(Probe, EndsAtTheAnswerThatIsWishedFor) {
  const http::TestServer server({http::get_route("/metrics", "gpuward_up 1\n")});
  EXPECT_EQ(probe({server.url("/metrics"), "--expect=gpuward_up 1"}).exit_code, 0);
  EXPECT_EQ(probe({server.url("/nothing"), "--status=404"}).exit_code, 0);
}

TEST(Probe, SaysWhatWasWrongLast) {
  const http::TestServer server({http::get_route("/metrics", "gpuward_up 0\n")});
  const auto other = probe({server.url("/metrics"), "--expect=gpuward_up 1", "--timeout=1"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.output, HasSubstr("the answer does not contain `gpuward_up 1`"));
  EXPECT_THAT(probe({server.url("/nothing"), "--timeout=1"}).output,
              HasSubstr("the HTTP status is 404, not 200"));
  const auto wrong = probe({"gpuward"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error_output, HasSubstr("http"));
}

// If no server listens on the address yet, the probe waits for the answer.
TEST(Probe, TriesAgainUntilItIsAnswered) {
  std::atomic<int> asked = 0;
  http::Route route = http::get_route("/late", "");
  route.handler = [&asked](const http::Request&) {
    return http::Response::text(++asked < 3 ? 503 : 200, "");
  };
  const http::TestServer server({route});
  EXPECT_EQ(probe({server.url("/late")}).exit_code, 0);
  EXPECT_EQ(asked, 3);
}

TEST(Probe, PostsTheTimeWithItsToken) {
  std::string body, token;
  http::Route route = http::echo_route();
  route.handler = [&](const http::Request& request) {
    body = request.body;
    token = http::header_value(request.headers, "Authorization");
    return http::Response::text(200, "");
  };
  http::TestServer server({route});
  const support::TempDir folder;
  const auto file = folder.write("token", "secret\n");
  const auto before = std::chrono::floor<std::chrono::seconds>(lasting_clock().wall());
  EXPECT_EQ(probe({server.url("/echo"), "--body=from $(NOW) to $(NOW)",
                   "--probe.bearer-token-file=" + file.string()})
                .exit_code,
            0);
  server.stop();  // now its threads have written
  EXPECT_EQ(token, "Bearer secret");
  EXPECT_THAT(body, MatchesRegex("from [0-9T:-]+Z to [0-9T:-]+Z"));
  const auto now = parse_rfc3339(body.substr(5, 20));
  ASSERT_TRUE(now) << body;
  EXPECT_GE(*now, before);
  EXPECT_LE(*now, lasting_clock().wall());
}

}  // namespace
}  // namespace gpuward::exporter
