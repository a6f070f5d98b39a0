// The fake against a real kube-apiserver, request by request: the other tests would believe any
// wrong answer of the fake.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/runtime/clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/in_process_client.h"
#include "tests/support/control_plane.h"
#include "tests/support/require.h"
#include "tests/unit/fakes/differential.h"

namespace gpuward::fakes {
namespace {

class FakeMatchesReal : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!support::ControlPlane::why_unavailable().empty()) return;
    auto started = support::ControlPlane::start();
    ASSERT_TRUE(started) << started.error().message;
    real_ = *std::move(started);
  }
  static void TearDownTestSuite() { real_.reset(); }
  static std::unique_ptr<support::ControlPlane> real_;
};

std::unique_ptr<support::ControlPlane> FakeMatchesReal::real_;

http::ClientRequest request_of(const Step& step, const std::string& server) {
  http::ClientRequest request;
  request.method = step.method;
  request.url = server + step.path;
  request.body = step.body;
  if (!step.content_type.empty()) request.headers.emplace_back("Content-Type", step.content_type);
  return request;
}

http::ClientResponse or_failure(Result<http::ClientResponse> response) {
  if (response) return *std::move(response);
  http::ClientResponse failed;
  failed.body = response.error().message;
  return failed;
}

// Plays the cases on both and compares answer by answer.
void compare(const std::vector<Case>& cases, const support::ControlPlane& plane) {
  SystemClock clock;
  FakeKube kube(clock);
  InProcessClient in_process(kube);
  http::ClientTls tls;
  tls.ca_pem = plane.ca_pem();
  http::CurlClient over_network(tls);
  Player fake([&](const Step& step) {
    return or_failure(in_process.send(request_of(step, "http://fake")));
  });
  Player real([&](const Step& step) {
    http::ClientRequest request = request_of(step, plane.url());
    request.headers.emplace_back("Authorization", "Bearer " + plane.admin_token());
    return or_failure(over_network.send(request));
  });

  for (const Case& one : cases) {
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
      const Step& step = one.steps[i];
      EXPECT_EQ(fake.play(step), real.play(step))
          << one.name << ", step " << i << ": " << step.method << " " << step.path << " "
          << step.body;
    }
  }
}

TEST_F(FakeMatchesReal, InWhatItSaysOfNodes) {
  GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
  compare(node_cases(), *real_);
}

TEST_F(FakeMatchesReal, InListsAndSelectors) {
  GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
  compare(list_cases(), *real_);
}

TEST_F(FakeMatchesReal, InLeasesMapsEventsAndPods) {
  GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
  compare(object_cases(), *real_);
}

TEST_F(FakeMatchesReal, InEvictionsAndBudgets) {
  GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
  compare(eviction_cases(), *real_);
}

TEST_F(FakeMatchesReal, InCustomResources) {
  GPUWARD_REQUIRE_IN(kLanding, support::ControlPlane::why_unavailable());
  compare(custom_cases(), *real_);
}

}  // namespace
}  // namespace gpuward::fakes
