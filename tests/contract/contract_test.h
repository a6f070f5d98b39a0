// The fixture of all contract cases: an Api as the admin on the target, and names that no other
// case uses, because all cases share one server.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>

#include "core/kube/api.h"
#include "core/kube/config.h"
#include "core/runtime/clock.h"
#include "core/runtime/json.h"
#include "tests/contract/target.h"
#include "tests/fakes/kube_objects.h"
#include "tests/support/require.h"

namespace gpuward::contract {

// An Api with all that it depends on.
class Connection {
 public:
  Connection(const Target& target, Role role, int page_size = 100)
      : config_(target.config(role)),
        credentials_(kube::make_credentials(config_, clock_)),
        client_(kube::make_http_client(config_, *credentials_)),
        api(options(config_, page_size), *client_, *credentials_, clock_) {}

 private:
  static kube::ApiOptions options(const kube::ClusterConfig& config, int page_size) {
    kube::ApiOptions made;
    made.server = config.server;
    made.page_size = page_size;
    return made;
  }
  SystemClock clock_;
  kube::ClusterConfig config_;
  std::unique_ptr<kube::Credentials> credentials_;
  std::unique_ptr<http::Client> client_;

 public:
  kube::Api api;
};

class ContractTest : public ::testing::TestWithParam<TargetKind> {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE_IN(GetParam() == TargetKind::kFake ? kTest : kLanding,
                       why_unavailable(GetParam()));
    const auto started = target_of(GetParam());
    ASSERT_TRUE(started) << started.error().message;
    target_ = *started;
    connection_ = std::make_unique<Connection>(*target_, Role::kAdmin);
  }

  [[nodiscard]] Target& target() { return *target_; }
  [[nodiscard]] kube::Api& api() { return connection_->api; }

  // "nodes-keep-foreign-taints": the prefix of this case's own names.
  static std::string own_name(const std::string& suffix = "") {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    name.resize(std::min(name.find('/'), name.size()));
    std::string lower;
    for (const char c : name) {
      if (std::isupper(static_cast<unsigned char>(c)) != 0 && !lower.empty()) lower += '-';
      lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return lower + suffix;
  }

  // A raw request that must succeed.
  Json must(const std::string& method, const std::string& path, const Json& body = nullptr) {
    auto answer = target().request(method, path, body);
    if (answer) return std::move(*answer);
    ADD_FAILURE() << answer.error().message;
    return nullptr;
  }

  // A node of this case without the taint that admission puts on every new one.
  kube::Node make_node(const std::string& name = own_name()) {
    must("POST", "/api/v1/nodes", fakes::ready_node(name));
    must("PATCH", "/api/v1/nodes/" + name, {{"spec", {{"taints", nullptr}}}});
    auto node = api().get_node(name);
    EXPECT_TRUE(node) << node.error().message;
    return node.value_or(kube::Node());
  }

 private:
  Target* target_ = nullptr;
  std::unique_ptr<Connection> connection_;
};

inline std::string kind_name(const ::testing::TestParamInfo<TargetKind>& info) {
  return info.param == TargetKind::kFake ? "Fake" : "Real";
}

// Runs the cases of `suite` on every target.
#define GPUWARD_CONTRACT(suite)            \
  INSTANTIATE_TEST_SUITE_P(OnEvery, suite, \
                           ::testing::Values(TargetKind::kFake, TargetKind::kReal), kind_name)

}  // namespace gpuward::contract
