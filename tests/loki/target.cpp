#include "tests/loki/target.h"

#include <filesystem>

#include "core/runtime/json.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/wait.h"

namespace gpuward::loki {
namespace {

class FakeTarget final : public Target {
 public:
  FakeTarget(Clock& clock, const Limits& limits) : loki_(clock) {
    loki_.require_tenant(kTenant);
    if (limits.lines != 0) loki_.limit_lines(limits.lines);
    if (limits.range.count() != 0) loki_.limit_range(limits.range);
  }
  void push(const fakes::FakeLoki::Labels& labels, std::int64_t at,
            const std::string& text) override {
    loki_.push(labels, at, text);
  }
  void go_away() override { loki_.fail_with(Error{ErrorKind::kTimeout, "no answer"}); }
  void come_back() override { loki_.fail_with(std::nullopt); }
  void set_ahead(std::chrono::seconds ahead) override { loki_.set_ahead(ahead); }
  http::Client& client() override { return loki_; }

 private:
  fakes::FakeLoki loki_;
};

// A single process that keeps its lines in files. It sends nothing off the machine.
std::string config_of(const std::filesystem::path& folder, int port, const Limits& limits) {
  std::string text = R"(
auth_enabled: true
target: all
analytics: {reporting_enabled: false}
server:
  http_listen_address: 127.0.0.1
  http_listen_port: )" +
                     std::to_string(port) + R"(
  grpc_listen_address: 127.0.0.1
  grpc_listen_port: )" +
                     std::to_string(support::free_port()) + R"(
  log_level: warn
common:
  instance_addr: 127.0.0.1
  path_prefix: )" + folder.string() +
                     R"(
  replication_factor: 1
  ring: {kvstore: {store: inmemory}}
  storage:
    filesystem:
      chunks_directory: )" +
                     (folder / "chunks").string() + R"(
      rules_directory: )" +
                     (folder / "rules").string() + R"(
schema_config:
  configs:
    - {from: 2024-01-01, store: tsdb, object_store: filesystem, schema: v13, index: {prefix: index_, period: 24h}}
frontend: {scheduler_dns_lookup_period: 100ms}
frontend_worker: {dns_lookup_duration: 100ms}
ingester:
  lifecycler: {min_ready_duration: 0s, final_sleep: 0s}
limits_config:
  allow_structured_metadata: true
)";
  if (limits.lines != 0)
    text += "  max_entries_limit_per_query: " + std::to_string(limits.lines) + "\n";
  if (limits.range.count() != 0)
    text += "  max_query_length: " + std::to_string(limits.range.count()) + "m\n";
  return text + limits.others;
}

bool has_real() { return support::why_not_built(support::kLoki, "loki").empty(); }

}  // namespace

RealLoki::RealLoki(const Limits& limits)
    : port_(support::free_port()),
      config_(folder_.write("loki.yaml", config_of(folder_.path(), port_, limits)).string()) {
  come_back();
}

std::string RealLoki::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

void RealLoki::push(const fakes::FakeLoki::Labels& labels, std::int64_t at,
                    const std::string& text) {
  const Json values = Json::array({Json::array({std::to_string(at), text})});
  const Json body = {{"streams", Json::array({{{"stream", labels}, {"values", values}}})}};
  http::ClientRequest request;
  request.method = "POST";
  request.url = url() + "/loki/api/v1/push";
  request.headers = {{"Content-Type", "application/json"}, {"X-Scope-OrgID", kTenant}};
  request.body = dump_json(body);
  request.timeout = support::kGenerousRequest;
  const auto answer = client_.send(request);
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  ASSERT_EQ(answer->status, 204) << answer->body;
}

void RealLoki::go_away() { process_.reset(); }

void RealLoki::come_back() {
  auto process =
      support::Process::spawn({.argv = {(support::folder_of(support::kLoki) / "loki").string(),
                                        "-config.file=" + config_}});
  ASSERT_TRUE(process.has_value()) << process.error().message;
  process_ = *std::move(process);
  ASSERT_TRUE(support::wait_until(
      [this] { return support::http_get(url() + "/ready").status == 200; }, "Loki is ready"))
      << said();
}

std::unique_ptr<Target> start_target(const std::string& kind, Clock& clock, const Limits& limits) {
  if (kind == kFake) return std::make_unique<FakeTarget>(clock, limits);
  return std::make_unique<RealLoki>(limits);
}

std::vector<const char*> both_kinds() {
  return has_real() ? std::vector{kFake, kReal} : std::vector{kFake};
}

std::vector<const char*> real_kinds() {
  return has_real() ? std::vector{kReal} : std::vector<const char*>();
}

}  // namespace gpuward::loki
