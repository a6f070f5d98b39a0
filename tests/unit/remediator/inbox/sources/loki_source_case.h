// A LokiSource with a cluster in memory. The derived fixture chooses the Loki: the fake one here,
// the fake or a real one in tests/loki.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "remediator/inbox/sources/loki_source.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_kube.h"
#include "tests/fakes/fake_loki.h"
#include "tests/fakes/in_process_client.h"
#include "tests/unit/remediator/inbox/sources/source_fakes.h"

namespace gpuward::remediator {

class NobodysCredentials final : public kube::Credentials {
 public:
  Result<std::string> authorization() override { return std::string(); }
  void reject(const std::string&) override {}
};

class LokiSourceCase {
 protected:
  LokiSourceCase() : policy_(Policy{}) {
    kube_.create("/api/v1/namespaces", {{"metadata", {{"name", "gpuward"}}}});
  }
  ~LokiSourceCase() = default;
  LokiSourceCase(const LokiSourceCase&) = delete;
  LokiSourceCase& operator=(const LokiSourceCase&) = delete;

  virtual void push_line(const fakes::FakeLoki::Labels& labels, std::int64_t at,
                         const std::string& text) = 0;

  // Starts another process of the remediator; `client` must outlive it.
  void restart_on(const LokiPlace& place, http::Client& client) {
    source_ = std::make_unique<LokiSource>(
        LokiSettings{.place = place, .namespaces = {"train"}, .state_namespace = "gpuward"}, client,
        api_, policy_, known_, clock_);
  }
  [[nodiscard]] std::int64_t now() const {
    return std::chrono::nanoseconds(clock_.wall().time_since_epoch()).count();
  }
  void push_kernel(const std::string& text, std::chrono::nanoseconds ago,
                   const std::string& node = "gpu-01") {
    push_line({{"k8s_daemonset_name", "dmesg"}, {"k8s_node_name", node}}, now() - ago.count(),
              text);
  }
  void push(int xid, std::chrono::nanoseconds ago = {}, const std::string& node = "gpu-01") {
    push_kernel("NVRM: Xid (PCI:0000:4e:00): " + std::to_string(xid) + ", pid=1, name=x, y", ago,
                node);
  }
  // Looks once, and records the signals.
  SourceFindings look() {
    auto found = source_->look();
    EXPECT_TRUE(found.has_value()) << (found ? "" : found.error().message);
    const auto settled = source_->settle();
    EXPECT_TRUE(settled.has_value()) << (settled ? "" : settled.error().message);
    return found ? *found : SourceFindings();
  }
  std::vector<AlertSignal> look_until_done() {
    std::vector<AlertSignal> signals;
    for (int i = 0; i < 200; ++i) {
      const auto found = look();
      signals.insert(signals.end(), found.signals.begin(), found.signals.end());
      if (!found.has_more) return signals;
    }
    ADD_FAILURE() << "it has always more";
    return signals;
  }

  fakes::FakeClock clock_;
  fakes::FakeKube kube_{clock_};
  CurrentPolicy policy_;
  ListedEvidence known_;
  std::unique_ptr<LokiSource> source_;

 private:
  static kube::ApiOptions one_request() {
    kube::ApiOptions options;
    options.server = "http://fake";
    options.retry_deadline = std::chrono::milliseconds(0);
    return options;
  }
  fakes::InProcessClient http_{kube_};
  NobodysCredentials credentials_;
  kube::Api api_{one_request(), http_, credentials_, clock_};
};

}  // namespace gpuward::remediator
