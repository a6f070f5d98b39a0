// Tests against a gRPC server that shares no code with gpuward: grpcio, and messages by protoc from
// its own proto file.
#include "exporter/pods/kubelet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/runtime/files.h"
#include "exporter/pods/grpc_call.h"
#include "tests/places.inc"
#include "tests/support/deadline.h"
#include "tests/support/kubelet_socket.h"
#include "tests/support/require.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using support::KubeletSocket;
using testing::ElementsAre;
using testing::HasSubstr;

std::string json_sample() {
  return *read_file(std::string(GPUWARD_SOURCE_DIR) + "/tests/testdata/pod_resources/list.json");
}

Error error_of(const std::string& answer, std::chrono::milliseconds timeout = support::kGenerous) {
  const KubeletSocket server(answer);
  const auto workloads = Kubelet(server.path(), timeout).list({});
  return workloads ? Error{ErrorKind::kInternal, "no error", {}} : workloads.error();
}

class KubeletTest : public testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE(KubeletSocket::why_unavailable()); }
};

TEST_F(KubeletTest, SaysWhoUsesWhichGpu) {
  const KubeletSocket server(json_sample());

  const auto workloads = Kubelet(server.path()).list({});

  ASSERT_TRUE(workloads.has_value()) << workloads.error().message;
  EXPECT_EQ(workloads->by_device.size(), 4U);
  EXPECT_THAT(workloads->by_device.at("MIG-1b2c3d44-0000-4000-8000-000000000007"),
              ElementsAre(Workload{"team-b", "small", "main"}));
}

TEST_F(KubeletTest, CanBeAskedAgainAndAgain) {
  const KubeletSocket server(R"({"pod_resources": []})");
  Kubelet kubelet(server.path());

  for (int i = 0; i < 3; ++i) EXPECT_TRUE(kubelet.list({}).has_value());
}

TEST_F(KubeletTest, AnswersWithManyPodsOverManyFrames) {
  std::string pods;
  for (int i = 0; i < 2000; ++i) {
    pods +=
        (i == 0 ? "" : ",") +
        (R"({"name": "pod-)" + std::to_string(i) +
         R"(", "namespace": "ns", "containers": [{"name": "c", "devices": [{"resource_name": )" +
         R"("nvidia.com/gpu", "device_ids": ["GPU-)" + std::to_string(i % 8) + R"("]}]}]})");
  }
  const KubeletSocket server(R"({"pod_resources": [)" + pods + "]}");

  const auto workloads = Kubelet(server.path()).list({});

  ASSERT_TRUE(workloads.has_value()) << workloads.error().message;
  EXPECT_EQ(workloads->by_device.at("GPU-7").size(), 250U);
}

TEST_F(KubeletTest, RefusesWithItsOwnWords) {
  const Error error = error_of("status:PERMISSION_DENIED:not for you");

  EXPECT_EQ(error.kind, ErrorKind::kForbidden);
  EXPECT_THAT(error.message, HasSubstr("not for you"));
  EXPECT_THAT(error.message, HasSubstr("kubelet.sock"));
}

TEST_F(KubeletTest, IsOverloaded) {
  EXPECT_EQ(error_of("status:RESOURCE_EXHAUSTED:rejected by rate limit").kind,
            ErrorKind::kOverloaded);
}

TEST_F(KubeletTest, DoesNotServeThisVersion) {
  EXPECT_EQ(error_of("status:UNIMPLEMENTED:unknown service").kind, ErrorKind::kNotFound);
}

TEST_F(KubeletTest, SendsBytesThatAreNoMessage) {
  EXPECT_EQ(error_of("raw:0aff").kind, ErrorKind::kInvalid);
}

TEST_F(KubeletTest, HangsAndIsGivenUp) {
  EXPECT_EQ(error_of("hang", 300ms).kind, ErrorKind::kTimeout);
}

TEST_F(KubeletTest, IsNotWaitedForAfterAStop) {
  const KubeletSocket server("hang");
  std::stop_source stop;
  const std::jthread stopper([&stop] { stop.request_stop(); });

  const auto workloads = Kubelet(server.path(), 2 * support::kGenerous).list(stop.get_token());

  ASSERT_FALSE(workloads.has_value());
  EXPECT_EQ(workloads.error().kind, ErrorKind::kCancelled);
}

TEST_F(KubeletTest, MayNotSendMoreThanTheCap) {
  const KubeletSocket server(json_sample());
  http::CurlClient client;

  const auto answer = call_grpc(client,
                                {.socket = server.path(),
                                 .method = "/v1.PodResourcesLister/List",
                                 .message = "",
                                 .max_response_bytes = 100},
                                {});

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().kind, ErrorKind::kTooLarge);
}

TEST_F(KubeletTest, HasGoneAwaySinceItWasAsked) {
  KubeletSocket server(json_sample());
  Kubelet kubelet(server.path());
  ASSERT_TRUE(kubelet.list({}).has_value());

  server.stop();

  EXPECT_FALSE(kubelet.list({}).has_value());
}

TEST(Kubelet, IsNotThere) {
  const support::TempDir folder;

  const auto workloads = Kubelet(folder / "kubelet.sock").list({});

  ASSERT_FALSE(workloads.has_value());
  EXPECT_EQ(workloads.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(workloads.error().message, HasSubstr("the socket does not exist"));
}

TEST(Kubelet, IsAFileAndNoSocket) {
  const support::TempDir folder;

  const auto workloads = Kubelet(folder.write("kubelet.sock", "")).list({});

  ASSERT_FALSE(workloads.has_value());
  EXPECT_EQ(workloads.error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace gpuward::exporter
