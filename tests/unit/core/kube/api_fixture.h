// An Api over a scripted client and a clock that jumps, with credentials that a test can renew.
// Used by the unit tests of core/kube.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/kube/api.h"
#include "core/runtime/json.h"
#include "tests/fakes/fake_clock.h"
#include "tests/unit/core/kube/scripted_client.h"

namespace gpuward::kube {

class RenewableCredentials final : public Credentials {
 public:
  Result<std::string> authorization() override { return "Bearer " + token; }
  void reject(const std::string& authorization) override {
    rejected.push_back(authorization);
    if (!after_rejection.empty()) token = after_rejection;
  }
  std::string token = "one";
  std::string after_rejection;
  std::vector<std::string> rejected;
};

class ApiTest : public ::testing::Test {
 protected:
  static ApiOptions options() {
    ApiOptions made;
    made.server = "https://api:6443";
    made.jitter_seed = 7;
    return made;
  }
  [[nodiscard]] Json sent(std::size_t request) const {
    return parse_json(client.requests.at(request).body).value_or(Json());
  }
  [[nodiscard]] const std::string& url(std::size_t request) const {
    return client.requests.at(request).url;
  }

  ScriptedClient client;
  RenewableCredentials credentials;
  fakes::FakeClock clock{fakes::FakeClock::Mode::kAutoAdvance};
  Api api{options(), client, credentials, clock};
};

inline std::string node_json(const std::string& version = "5", const std::string& more = "") {
  return R"({"kind":"Node","metadata":{"name":"n1","uid":"u1","resourceVersion":")" + version +
         R"("})" + more + "}";
}

inline constexpr const char* kStatusSuccess = R"({"kind":"Status","status":"Success"})";

}  // namespace gpuward::kube
