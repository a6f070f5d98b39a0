// The Lokis that the cases of this folder query: the fake, and a real one if `./dev test --loki`
// has built it, so that the fake's answers in unit tests also hold for a real Loki.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/http/client/client.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "remediator/inbox/sources/loki_api.h"
#include "tests/fakes/fake_loki.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::loki {

inline constexpr const char* kFake = "Fake";
inline constexpr const char* kReal = "Real";
inline constexpr const char* kTenant = "gpus";

// The limits that an administrator has set; 0: Loki's own default.
struct Limits {
  std::size_t lines = 0;          // max_entries_limit_per_query
  std::chrono::minutes range{0};  // max_query_length
  std::string others = {};  // more of limits_config and the text after it, which the fake ignores
};

class Target {
 public:
  virtual ~Target() = default;
  virtual void push(const fakes::FakeLoki::Labels& labels, std::int64_t at,
                    const std::string& text) = 0;
  // Stops it, so that queries fail, and starts it again with its lines.
  virtual void go_away() = 0;
  virtual void come_back() = 0;
  // Sets its clock ahead of the test's, after that was set; a real one's clock is the machine's.
  virtual void set_ahead(std::chrono::seconds) {}
  [[nodiscard]] virtual http::Client& client() = 0;
  [[nodiscard]] virtual std::string url() const { return "http://loki"; }
};

// Has only the tenant kTenant. The fake has the time of `clock`, the real one that of the machine.
[[nodiscard]] std::unique_ptr<Target> start_target(const std::string& kind, Clock& clock,
                                                   const Limits& limits = {});

// A process of the real server with its data in its own folder.
class RealLoki final : public Target {
 public:
  explicit RealLoki(const Limits& limits);
  void push(const fakes::FakeLoki::Labels& labels, std::int64_t at,
            const std::string& text) override;
  void go_away() override;
  void come_back() override;
  [[nodiscard]] http::Client& client() override { return client_; }
  [[nodiscard]] std::string url() const override;
  [[nodiscard]] std::string said() const { return process_ ? process_->error_output() : ""; }

 private:
  support::TempDir folder_;
  int port_;
  std::string config_;
  http::CurlClient client_;
  std::unique_ptr<support::Process> process_;
};

// The kinds for a suite: both, or only the fake if there is no real one.
[[nodiscard]] std::vector<const char*> both_kinds();
// The real one, or none.
[[nodiscard]] std::vector<const char*> real_kinds();

#define GPUWARD_ON_LOKI(suite, kinds)                             \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);           \
  INSTANTIATE_TEST_SUITE_P(On, suite, ::testing::ValuesIn(kinds), \
                           [](const auto& each) { return std::string(each.param); })

}  // namespace gpuward::loki
