#include "remediator/cluster/api_times.h"

#include <gmock/gmock.h>

#include "core/metrics/text_format.h"
#include "tests/fakes/fake_clock.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

// Answers with the result and after the time that the test sets.
class SlowClient final : public http::Client {
 public:
  explicit SlowClient(fakes::FakeClock& clock) : clock_(clock) {}
  Result<http::ClientResponse> send(const http::ClientRequest&) override {
    clock_.advance(takes);
    if (status == 0) return fail(ErrorKind::kTimeout, "late");
    return http::ClientResponse{.status = status, .headers = {}, .body = "x"};
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest&, milliseconds, std::stop_token,
      const std::function<bool(std::string_view)>& on_bytes) override {
    clock_.advance(takes);
    (void)on_bytes("piece");
    return http::ClientResponse{.status = 200, .headers = {}, .body = {}};
  }
  int status = 200;
  milliseconds takes{0};

 private:
  fakes::FakeClock& clock_;
};

class ApiTimesTest : public ::testing::Test {
 protected:
  Result<http::ClientResponse> ask(const std::string& method, int status, milliseconds takes) {
    behind_.status = status;
    behind_.takes = takes;
    http::ClientRequest request;
    request.method = method;
    return times_.send(request);
  }
  std::string text() { return metrics::to_text({times_.family()}); }
  static std::string name(const std::string& what) {
    return "gpuward_remediator_api_request_duration_seconds_" + what;
  }

  fakes::FakeClock clock_;
  SlowClient behind_{clock_};
  ApiTimes times_{behind_, clock_};
};

TEST_F(ApiTimesTest, AreCountedByVerbAndClassOfTheCode) {
  const auto answer = ask("PATCH", 409, milliseconds(300));

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "x");
  EXPECT_THAT(text(), HasSubstr(name("bucket{verb=\"patch\",code=\"4xx\",le=\"0.1\"} 0")));
  EXPECT_THAT(text(), HasSubstr(name("bucket{verb=\"patch\",code=\"4xx\",le=\"0.5\"} 1")));
  EXPECT_THAT(text(), HasSubstr(name("sum{verb=\"patch\",code=\"4xx\"} 0.3")));
}

TEST_F(ApiTimesTest, HaveARowForNoAnswer) {
  EXPECT_FALSE(ask("GET", 0, milliseconds(12'000)));

  EXPECT_THAT(text(), HasSubstr(name("count{verb=\"get\",code=\"none\"} 1")));
}

TEST_F(ApiTimesTest, AreThereAtZeroFromTheStart) {
  EXPECT_THAT(text(), HasSubstr(name("count{verb=\"delete\",code=\"5xx\"} 0")));
}

TEST_F(ApiTimesTest, LeaveOutWatchesButHandThemOn) {
  behind_.takes = milliseconds(60'000);
  std::string heard;

  const auto ended = times_.stream({}, milliseconds(1), {}, [&](std::string_view bytes) {
    heard = bytes;
    return true;
  });

  EXPECT_TRUE(ended);
  EXPECT_EQ(heard, "piece");
  EXPECT_THAT(text(), Not(HasSubstr("\"} 1\n")));
}

}  // namespace
}  // namespace gpuward::remediator
