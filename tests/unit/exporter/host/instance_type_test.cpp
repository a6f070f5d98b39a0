#include "exporter/host/instance_type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "core/http/server/server.h"
#include "tests/support/environment.h"

namespace gpuward::exporter {
namespace {

using support::Environment;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Gives its answers one after the other, and records the requests.
class ScriptedMetadata final : public http::Client {
 public:
  explicit ScriptedMetadata(std::deque<Result<http::ClientResponse>> answers)
      : answers_(std::move(answers)) {}

  Result<http::ClientResponse> send(const http::ClientRequest& request) override {
    asked.push_back(request);
    if (answers_.empty()) return fail(ErrorKind::kInternal, "asked too often");
    auto answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }
  Result<http::ClientResponse> stream(
      const http::ClientRequest& request, std::chrono::milliseconds /*idle*/,
      std::stop_token /*stop*/,
      const std::function<bool(std::string_view)>& /*on_bytes*/) override {
    return send(request);
  }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const auto& request : asked) all.push_back(request.method + " " + request.url);
    return all;
  }
  std::vector<http::ClientRequest> asked;

 private:
  std::deque<Result<http::ClientResponse>> answers_;
};

http::ClientResponse answer(int status, std::string body = "") {
  http::ClientResponse response;
  response.status = status;
  response.body = std::move(body);
  return response;
}
std::unexpected<Error> nobody() { return fail(ErrorKind::kUnavailable, "connection refused"); }
std::unexpected<Error> too_late() { return fail(ErrorKind::kTimeout, "no answer"); }

constexpr char kPut[] = "PUT http://169.254.169.254/latest/api/token";
constexpr char kGet[] = "GET http://169.254.169.254/latest/meta-data/instance-type";

InstanceTypeQuestion with_label(Result<std::string> label) {
  InstanceTypeQuestion question;
  question.node_label = [label = std::move(label)] { return label; };
  return question;
}

TEST(InstanceType, IsAskedOfVersion2WithAToken) {
  ScriptedMetadata metadata({answer(200, "dG9rZW4="), answer(200, "p5.48xlarge")});
  const InstanceType found = find_instance_type({}, metadata);
  EXPECT_EQ(found.type, "p5.48xlarge");
  EXPECT_EQ(found.source, InstanceTypeSource::kMetadataV2);
  EXPECT_THAT(metadata.lines(), ElementsAre(kPut, kGet));
  EXPECT_THAT(metadata.asked[1].headers,
              ElementsAre(std::pair("X-aws-ec2-metadata-token", "dG9rZW4=")));
  for (const auto& request : metadata.asked) EXPECT_LE(request.timeout.count(), 2000);
}

TEST(InstanceType, IsAskedOfVersion1IfThereIsNoVersion2) {
  for (const int status : {403, 404, 405}) {
    ScriptedMetadata metadata({answer(status), answer(200, "p4d.24xlarge\n")});
    const InstanceType found = find_instance_type({}, metadata);
    EXPECT_EQ(found.type, "p4d.24xlarge") << status;
    EXPECT_EQ(found.source, InstanceTypeSource::kMetadataV1);
    EXPECT_TRUE(metadata.asked[1].headers.empty());
  }
}

// In a pod the answer to the PUT does not travel further than the hop limit.
TEST(InstanceType, IsAskedOfVersion1IfTheTokenNeverComes) {
  ScriptedMetadata metadata({too_late(), answer(200, "p4d.24xlarge")});
  EXPECT_EQ(find_instance_type({}, metadata).source, InstanceTypeSource::kMetadataV1);
}

TEST(InstanceType, IsNotAskedOfVersion1IfNobodyListensOrItIsSwitchedOff) {
  ScriptedMetadata refused({nobody()});
  EXPECT_EQ(find_instance_type({}, refused).source, InstanceTypeSource::kUnknown);
  EXPECT_EQ(refused.asked.size(), 1U);
  ScriptedMetadata late({too_late()});
  InstanceTypeQuestion question;
  question.asks_metadata_v1 = false;
  EXPECT_EQ(find_instance_type(question, late).source, InstanceTypeSource::kUnknown);
}

TEST(InstanceType, ComesFromTheLabelIfNoMetadataAnswers) {
  ScriptedMetadata metadata({too_late(), too_late()});
  const InstanceType found = find_instance_type(with_label("ml.p5.48xlarge"), metadata);
  EXPECT_EQ(found.type, "ml.p5.48xlarge");
  EXPECT_EQ(found.source, InstanceTypeSource::kNodeLabel);
  EXPECT_THAT(found.misses, ElementsAre(HasSubstr("IMDSv2"), HasSubstr("IMDSv1")));
}

// The replaced suite passed 7 of 8 GPUs if it could reach no metadata service.
TEST(InstanceType, ThatNobodyKnowsIsSaidNotPassedOver) {
  ScriptedMetadata metadata({too_late(), too_late()});
  const InstanceType found =
      find_instance_type(with_label(fail(ErrorKind::kForbidden, "nodes is forbidden")), metadata);
  EXPECT_EQ(found.type, "");
  EXPECT_EQ(found.source, InstanceTypeSource::kUnknown);
  EXPECT_EQ(to_string(found.source), "unknown");
  EXPECT_THAT(found.misses, ElementsAre(HasSubstr("no answer"), HasSubstr("no answer"),
                                        HasSubstr("nodes is forbidden")));
}

TEST(InstanceType, IsNoneIfTheLabelIsNotSet) {
  ScriptedMetadata metadata({nobody()});
  const InstanceType found = find_instance_type(with_label(""), metadata);
  EXPECT_EQ(found.source, InstanceTypeSource::kUnknown);
  EXPECT_THAT(found.misses.back(), HasSubstr("node.kubernetes.io/instance-type is not set"));
}

TEST(InstanceType, OfAnotherCloudMayBeALabel) {
  ScriptedMetadata metadata({answer(400)});
  EXPECT_EQ(find_instance_type(with_label("Standard_ND96isr_H100_v5"), metadata).type,
            "Standard_ND96isr_H100_v5");
}

TEST(InstanceType, ThatIsConfiguredIsNotAskedFor) {
  ScriptedMetadata metadata({});
  InstanceTypeQuestion question = with_label("p4d.24xlarge");
  question.configured = "p5.48xlarge";
  const InstanceType found = find_instance_type(question, metadata);
  EXPECT_EQ(found.type, "p5.48xlarge");
  EXPECT_EQ(found.source, InstanceTypeSource::kConfigured);
  EXPECT_THAT(metadata.asked, IsEmpty());
}

// A captive portal, a proxy, another cloud's service.
TEST(InstanceType, IsNeverAPageOrATokenThatIsOne) {
  for (const std::string& page :
       {std::string("<html><body>Sign in</body></html>"), std::string(), std::string("p5"),
        std::string("p5.48xlarge and more"), std::string(100, 'a') + ".b", std::string("..")}) {
    ScriptedMetadata type({answer(200, "token"), answer(200, page)});
    EXPECT_EQ(find_instance_type({}, type).type, "") << page;
    ScriptedMetadata first({answer(404), answer(200, page)});
    EXPECT_EQ(find_instance_type({}, first).type, "") << page;
  }
  ScriptedMetadata token({answer(200, "<html>\r\nX: y")});
  const InstanceType found = find_instance_type({}, token);
  EXPECT_EQ(found.type, "");
  EXPECT_EQ(token.asked.size(), 1U);
  EXPECT_EQ(found.misses.front().find("html"), std::string::npos);
}

TEST(InstanceType, HasTheShapeThatEc2GivesIt) {
  for (const char* const type : {"p5.48xlarge", "ml.p5.48xlarge", "p6-b200.48xlarge", "g6.xlarge",
                                 "u-6tb1.112xlarge", "mac2-m2pro.metal"})
    EXPECT_TRUE(is_ec2_instance_type(type)) << type;
  for (const char* const type : {"", ".", "p5.", ".48xlarge", "P5.48XLARGE", "p5.48xlarge\nX"})
    EXPECT_FALSE(is_ec2_instance_type(type)) << type;
}

TEST(InstanceTypeQuestion, IsWhatTheEnvironmentSays) {
  const Environment url("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1/");
  const Environment off("AWS_EC2_METADATA_DISABLED", "True");
  const Environment v1("AWS_EC2_METADATA_V1_DISABLED", "true");
  const InstanceTypeQuestion question = instance_type_question();
  EXPECT_EQ(question.metadata_url, "http://127.0.0.1:1");
  EXPECT_FALSE(question.asks_metadata_v1);
  ASSERT_FALSE(question.asks_metadata);
  ScriptedMetadata metadata({});
  EXPECT_THAT(find_instance_type(question, metadata).misses,
              ElementsAre(HasSubstr("AWS_EC2_METADATA_DISABLED")));
}

// Over a real connection, with the header that the real service demands.
TEST(InstanceTypeQuestion, IsAnsweredOverHttp) {
  const auto token = [](const http::Request& request) {
    const bool asks = !request.header("x-aws-ec2-metadata-token-ttl-seconds").empty();
    return asks ? http::Response::text(200, "secret") : http::Response::text(400, "");
  };
  const auto type = [](const http::Request& request) {
    const bool knows = request.header("x-aws-ec2-metadata-token") == "secret";
    return knows ? http::Response::text(200, "p5en.48xlarge") : http::Response::text(401, "");
  };
  using http::Access;
  using http::Match;
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  auto server = http::Server::start(
      options, {{"/latest/api/token", {"PUT"}, token, Access::kOpen, Match::kExact},
                {"/latest/meta-data/instance-type", {"GET"}, type, Access::kOpen, Match::kExact}});
  ASSERT_TRUE(server) << server.error().message;
  const Environment url("AWS_EC2_METADATA_SERVICE_ENDPOINT",
                        "http://127.0.0.1:" + std::to_string((*server)->ports().front()));
  http::CurlClient client;
  const InstanceType found = find_instance_type(instance_type_question(), client);
  EXPECT_EQ(found.type, "p5en.48xlarge");
  EXPECT_EQ(found.source, InstanceTypeSource::kMetadataV2);
  EXPECT_THAT(found.misses, IsEmpty());
}

const Machine kDgx{"uuid", "DGXA100 920-23687-2530-000"};

TEST(InstanceType, IsTheMachinesOwnNameIfNoProfileHasTheOneThatWasFound) {
  const InstanceProfiles profiles = InstanceProfiles::built_in();
  for (const InstanceType& found :
       {InstanceType{}, InstanceType{"k3s", InstanceTypeSource::kNodeLabel, {}}}) {
    const InstanceType named = named_by_firmware(found, kDgx, profiles);
    EXPECT_EQ(named.type, "DGXA100");
    EXPECT_EQ(to_string(named.source), "firmware");
  }
}

TEST(InstanceType, OfAProfileOrOfTheConfigurationStaysWhateverTheFirmwareSays) {
  const InstanceProfiles profiles = InstanceProfiles::built_in();
  const InstanceType cloud{"p5.48xlarge", InstanceTypeSource::kMetadataV2, {}};
  EXPECT_EQ(named_by_firmware(cloud, kDgx, profiles).type, "p5.48xlarge");
  const InstanceType own{"my-type", InstanceTypeSource::kConfigured, {}};
  EXPECT_EQ(named_by_firmware(own, kDgx, profiles).type, "my-type");
  const InstanceType label{"k3s", InstanceTypeSource::kNodeLabel, {}};
  EXPECT_EQ(named_by_firmware(label, {"uuid", "PowerEdge R760xa"}, profiles).type, "k3s");
}

}  // namespace
}  // namespace gpuward::exporter
