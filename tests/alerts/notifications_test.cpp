// The simulated month's model of Alertmanager's groups, inhibitions and repeats: a real
// Alertmanager sends the same on the shipped routes, whose times are shortened.
#include "tests/alerts/month/notifications.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "core/runtime/files.h"
#include "tests/alerts/alert_rules.h"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/notify/receiver.h"

namespace gpuward::alerts {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::system_clock;

// A message to operators: the alerts that fire and those that have ended.
struct Message {
  std::set<std::string> firing, resolved;
  friend bool operator==(const Message&, const Message&) = default;
};

void PrintTo(const Message& message, std::ostream* out) {
  *out << "firing:";
  for (const std::string& name : message.firing) *out << " " << name;
  *out << "; resolved:";
  for (const std::string& name : message.resolved) *out << " " << name;
}

std::string shortened(std::string config, const std::string& url, const std::string& token) {
  const auto replace = [&config](const char* what, const std::string& by) {
    config = std::regex_replace(config, std::regex(what), by);
  };
  replace("group_wait: \\w+", "group_wait: 1s");
  replace("group_interval: \\w+", "group_interval: 2s");
  replace("repeat_interval: \\w+", "repeat_interval: 5s");
  replace("http://gpuward-remediator[^ \n]*", "http://127.0.0.1:9/");
  replace("- name: pager", "- name: pager\n    webhook_configs: [{url: '" + url + "'}]");
  replace("/etc/alertmanager/gpuward-token", token);
  return config;
}

class Scene {
 public:
  explicit Scene(const std::string& which)
      : address_("127.0.0.1:" + std::to_string(support::free_port())) {
    config_ = shortened(*read_file(alerts_folder() / "alertmanager.yaml"), pager_.url(),
                        folder_.write("token", "secret").string());
    auto process = support::Process::spawn(
        {.argv = {support::program_of(which, "prometheus-alertmanager"),
                  "--config.file=" + folder_.write("alertmanager.yaml", config_).string(),
                  "--storage.path=" + (folder_ / "data").string(),
                  "--web.listen-address=" + address_, "--cluster.listen-address="}});
    if (process) process_ = *std::move(process);
  }
  [[nodiscard]] bool is_ready() const {
    return support::wait_until(
        [&] { return support::http_get("http://" + address_ + "/-/ready").status == 200; },
        "Alertmanager is ready");
  }

  // Each waits for the message that follows, so that the next one has the whole interval to arrive.
  void fire(const std::string& name, Labels labels) {
    labels["alertname"] = name;
    alerts_.push_back({.labels = labels, .firing = {{now(), kOpen}}});
    post(labels, false);
    await_message();
  }
  void end(const std::vector<std::string>& names) {
    for (AlertHistory& alert : alerts_) {
      if (std::ranges::find(names, alert.labels["alertname"]) == names.end()) continue;
      if (alert.firing.back().to == kOpen) alert.firing.back().to = now();
      post(alert.labels, true);
    }
    await_message();
  }
  void fire_again(const std::string& name) {
    for (AlertHistory& alert : alerts_) {
      if (alert.labels["alertname"] != name) continue;
      alert.firing.push_back({now(), kOpen});
      post(alert.labels, false);
    }
    await_message();
  }
  void await_message() {
    ++messages_;
    EXPECT_TRUE(support::wait_until([&] { return pager_.requests().size() >= messages_; },
                                    std::to_string(messages_) + " messages"));
  }

  [[nodiscard]] std::vector<Message> sent() const {
    std::vector<Message> out;
    for (const Json& event : pager_.events()) {
      Message message;
      for (const Json& alert : event.at("alerts")) {
        auto& names = alert.at("status") == "firing" ? message.firing : message.resolved;
        names.insert(alert.at("labels").at("alertname"));
      }
      out.push_back(std::move(message));
    }
    return out;
  }
  [[nodiscard]] std::vector<Message> foretold() const {
    const seconds until = now();
    Routing routing = read_routing(config_);
    for (Route& route : routing.routes) {
      for (seconds* time : {&route.group_wait, &route.group_interval, &route.repeat_interval}) {
        *time *= 1000;
      }
    }
    std::vector<Message> out;
    for (const Notification& one : notifications(routing, alerts_)) {
      if (one.receiver != "pager" || one.at > until) continue;
      Message message;
      for (const auto i : one.firing)
        message.firing.insert(label_of(alerts_[i].labels, "alertname"));
      for (const auto i : one.resolved) {
        message.resolved.insert(label_of(alerts_[i].labels, "alertname"));
      }
      out.push_back(std::move(message));
    }
    return out;
  }

 private:
  static constexpr seconds kOpen = std::chrono::hours(100'000);

  // A second of the model is a millisecond of real time.
  [[nodiscard]] seconds now() const {
    return seconds(
        std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_).count());
  }
  void post(const Labels& labels, bool has_ended) const {
    Json alert{{"labels", labels},
               {"startsAt", time_text(Clock::now() - std::chrono::milliseconds(1))}};
    // Much later than the time after which Alertmanager would resolve it by itself.
    alert["endsAt"] = time_text(Clock::now() + std::chrono::hours(has_ended ? 0 : 1));
    EXPECT_EQ(
        support::http_post("http://" + address_ + "/api/v2/alerts", Json::array({alert}).dump())
            .status,
        200);
  }
  [[nodiscard]] static std::string time_text(Clock::time_point time) {
    const auto since = time.time_since_epoch();
    const std::time_t whole = std::chrono::duration_cast<std::chrono::seconds>(since).count();
    std::tm parts{};
    ::gmtime_r(&whole, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
    const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
    const std::string digits = std::to_string(1000 + rest).substr(1);
    return std::string(text.data()) + "." + digits + "Z";
  }

  support::TempDir folder_;
  remediator::Receiver pager_;
  std::string address_, config_;
  Clock::time_point start_ = Clock::now();
  std::unique_ptr<support::Process> process_;
  std::vector<AlertHistory> alerts_;
  std::size_t messages_ = 0;
};

class Notifications : public ::testing::TestWithParam<const char*> {};
GPUWARD_ON_DEBIANS_AND_NEWER(Notifications);

TEST_P(Notifications, AreThoseThatARealAlertmanagerSends) {
  GPUWARD_REQUIRE_IN(support::tier_of(GetParam()),
                     support::why_no_program_of(GetParam(), "prometheus-alertmanager"));
  Scene scene(GetParam());
  ASSERT_TRUE(scene.is_ready());
  const Labels detail{{"node", "gpu-1"}, {"severity", "warning"}, {"hidden_by", "node"}};

  scene.fire("GpuThermalSlowdown", detail);
  // Inhibits the detail, and is sent instead.
  scene.fire("GpuNodeNeedsReset",
             {{"node", "gpu-1"}, {"severity", "warning"}, {"remediation", "reset"}});
  scene.end({"GpuNodeNeedsReset", "GpuThermalSlowdown"});
  scene.fire_again("GpuThermalSlowdown");
  scene.fire("GpuPcieDegraded", detail);
  scene.await_message();  // the repeat
  scene.end({"GpuThermalSlowdown"});
  scene.fire("GpuExporterDown", {{"node", "gpu-1"}, {"severity", "warning"}});

  // On a busy machine a repeat may come before the messages are read.
  auto sent = scene.sent();
  ASSERT_GE(sent.size(), 8U);
  sent.resize(8);
  EXPECT_EQ(sent, scene.foretold());
  EXPECT_EQ(sent[1], (Message{.firing = {"GpuNodeNeedsReset"}, .resolved = {}}));
  EXPECT_EQ(sent[3], (Message{.firing = {"GpuThermalSlowdown"}, .resolved = {}}));
  EXPECT_EQ(sent[4], sent[5]);
  EXPECT_EQ(sent[7], (Message{.firing = {"GpuExporterDown"}, .resolved = {}}));
}

}  // namespace
}  // namespace gpuward::alerts
