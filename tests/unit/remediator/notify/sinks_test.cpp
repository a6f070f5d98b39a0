// The sinks against a web server: their requests, their handling of each answer, and that no error
// contains a secret.
#include <gmock/gmock.h>

#include "core/aws/client.h"
#include "core/runtime/files.h"
#include "remediator/notify/sink.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/remediator/notify/receiver.h"

namespace gpuward::remediator {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class SinksTest : public ::testing::Test {
 protected:
  SinkSettings to(const std::string& kind) {
    SinkSettings settings;
    settings.name = "oncall";
    settings.kind = kind;
    settings.url_file = write("url", receiver_.url() + "\n");
    settings.text = "{{message}}";
    return settings;
  }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file_atomically(folder_ / name, text));
    return folder_ / name;
  }
  std::unique_ptr<Sink> open(const SinkSettings& settings) {
    auto sink = open_sink(settings, {.aws = aws_});
    EXPECT_TRUE(sink) << sink.error().message;
    return std::move(*sink);
  }
  Error deliver_in_vain(const SinkSettings& settings) {
    const auto said = open(settings)->deliver(event_, stop_.get_token());
    EXPECT_FALSE(said);
    return said ? Error{} : said.error();
  }

  support::TempDir folder_;
  SystemClock clock_;
  http::CurlClient http_;
  aws::AwsClient aws_{http_, {}, clock_};
  Receiver receiver_;
  std::stop_source stop_;
  NotificationEvent event_{.id = "1", .node_name = "gpu-01", .message = "it is <broken>"};
};

TEST_F(SinksTest, TheWebhookGetsTheWholeEventAndTheTextAsJson) {
  SinkSettings settings = to("webhook");
  settings.bearer_token_file = write("token", "open-sesame\n");

  ASSERT_TRUE(open(settings)->deliver(event_, stop_.get_token()));

  ASSERT_THAT(receiver_.requests(), SizeIs(1));
  EXPECT_EQ(receiver_.requests()[0].header("Content-Type"), "application/json");
  EXPECT_EQ(receiver_.requests()[0].header("Authorization"), "Bearer open-sesame");
  EXPECT_EQ(receiver_.events()[0]["node_name"], "gpu-01");
  EXPECT_EQ(receiver_.events()[0]["text"], "it is <broken>");
}

TEST_F(SinksTest, SlackGetsTheTextAlone) {
  ASSERT_TRUE(open(to("slack"))->deliver(event_, stop_.get_token()));

  EXPECT_EQ(receiver_.events()[0], Json({{"text", "it is &lt;broken&gt;"}}));
}

TEST_F(SinksTest, AddressesAreReadAgainWhenTheirFileChanges) {
  const auto sink = open(to("slack"));
  Receiver other;
  write("url", other.url());

  ASSERT_TRUE(sink->deliver(event_, stop_.get_token()));

  EXPECT_THAT(other.requests(), SizeIs(1));
  write("url", "not a URL");
  ASSERT_TRUE(sink->deliver(event_, stop_.get_token())) << "what was good stays in force";
  EXPECT_THAT(other.requests(), SizeIs(2));
}

TEST_F(SinksTest, AnAnswerSaysWhetherItIsWorthTryingAgain) {
  for (const int status : {400, 413, 415, 422}) {
    receiver_.answer(status);
    EXPECT_EQ(deliver_in_vain(to("webhook")).kind, ErrorKind::kInvalid) << status;
  }
  for (const int status : {401, 403, 404, 429, 500, 503}) {
    receiver_.answer(status);
    EXPECT_EQ(deliver_in_vain(to("webhook")).kind, ErrorKind::kUnavailable) << status;
  }
  receiver_.answer(429);
  EXPECT_EQ(deliver_in_vain(to("webhook")).retry_after, std::chrono::seconds(7));
}

TEST_F(SinksTest, RedirectsAreNotFollowed) {
  Receiver elsewhere;
  receiver_.answer(307, elsewhere.url());

  EXPECT_THAT(deliver_in_vain(to("webhook")).message, HasSubstr("307"));

  EXPECT_THAT(elsewhere.requests(), SizeIs(0));
}

TEST_F(SinksTest, NoErrorHoldsASecret) {
  receiver_.answer(500);
  EXPECT_THAT(deliver_in_vain(to("slack")).message,
              AllOf(Not(HasSubstr("secret")), Not(HasSubstr("hooks"))));
  SinkSettings settings = to("slack");
  for (const std::string url : {"http://127.0.0.1:1/secret?token=secret",
                                "https://secret:secret@127.0.0.1:1/", "https://[secret/secret"}) {
    settings.url_file = write("url", url);
    EXPECT_THAT(deliver_in_vain(settings).message, Not(HasSubstr("secret"))) << url;
  }
}

TEST_F(SinksTest, AreNotOpenedIfTheirFilesAreNoGood) {
  SinkSettings settings = to("slack");
  for (const std::string content : {"", "ftp://secret/x", "http://a/secret\nhttp://b/secret"}) {
    settings.url_file = write("url", content);
    const auto sink = open_sink(settings, {.aws = aws_});
    ASSERT_FALSE(sink);
    EXPECT_THAT(sink.error().message,
                AllOf(HasSubstr("the sink oncall: "), HasSubstr("/url"), Not(HasSubstr("secret"))));
  }
  settings.url_file = folder_ / "missing";
  EXPECT_FALSE(open_sink(settings, {.aws = aws_}));
  settings.kind = "pigeon";
  EXPECT_THAT(open_sink(settings, {.aws = aws_}).error().message, HasSubstr("an unknown kind"));
}

TEST_F(SinksTest, AnAddressThatIsASecretIsNotSentInTheClear) {
  for (const std::string kind : {"slack", "webhook"}) {
    SinkSettings settings = to(kind);
    settings.url_file = write("url", "http://chat.example/hooks/secret\n");
    const auto sink = open_sink(settings, {.aws = aws_});
    ASSERT_FALSE(sink);
    EXPECT_EQ(sink.error().message,
              "the sink oncall: credentials would be sent unencrypted to chat.example: use "
              "https://, or set credentials_over_http to allow it");
    settings.credentials_over_http = true;
    EXPECT_TRUE(open_sink(settings, {.aws = aws_}));
  }
}

TEST_F(SinksTest, AnAddressThatBecomesPlainIsNotUsed) {
  const auto sink = open(to("slack"));
  write("url", "http://192.0.2.1/hooks/secret\n");

  const auto said = sink->deliver(event_, stop_.get_token());

  ASSERT_FALSE(said);
  EXPECT_THAT(said.error().message, HasSubstr("unencrypted to 192.0.2.1"));
}

TEST_F(SinksTest, ARequestEndsWithTheProgram) {
  stop_.request_stop();

  const auto said = open(to("webhook"))->deliver(event_, stop_.get_token());

  EXPECT_FALSE(said);
}

}  // namespace
}  // namespace gpuward::remediator
