#include "core/http/client/stoppable.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "tests/support/wait.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

// Sends `first`, and then nothing until the client has gone.
Route endless(const std::string& first) {
  const Handler handler = [first](const Request&) {
    Response response;
    response.stream = [first](BodyWriter& body) {
      body.write(first);
      (void)support::poll_until([&] { return !body.write(""); });
    };
    return response;
  };
  return {"/ask", {"GET"}, handler};
}

Route saying(int status, const std::string& text) {
  const Handler handler = [=](const Request&) {
    Response response;
    response.status = status;
    response.body = std::make_shared<const std::string>(text);
    return response;
  };
  return {"/ask", {"GET"}, handler};
}

class Stoppable : public ::testing::Test {
 protected:
  Result<ClientResponse> ask(const TestServer& server) {
    ClientRequest request = get_request(server.url("/ask"));
    request.timeout = timeout_;
    request.max_response_bytes = 64;
    return send_until_stopped(client_, request, lasting_clock(), stop_.get_token());
  }
  CurlClient client_;
  std::stop_source stop_;
  milliseconds timeout_{20'000};
};

TEST_F(Stoppable, AnswersAsSendDoes) {
  const auto well = ask(TestServer({saying(200, "yes")}));
  ASSERT_TRUE(well) << well.error().message;
  EXPECT_EQ(well->body, "yes");
  const auto refused = ask(TestServer({saying(403, "no")}));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(refused->body, "no");
}

TEST_F(Stoppable, EndsAtAStopInTheMiddleOfTheAnswer) {
  const TestServer server({endless("half")});
  std::jthread stopper([this] { stop_.request_stop(); });
  const auto answer = ask(server);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kCancelled);
}

TEST_F(Stoppable, EndsIfTheAnswerDoesNot) {
  timeout_ = milliseconds(200);
  const auto answer = ask(TestServer({endless("half")}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTimeout);
}

TEST_F(Stoppable, EndsIfTheAnswerIsTooLarge) {
  const auto answer = ask(TestServer({endless(std::string(65, 'x'))}));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace gpuward::http
