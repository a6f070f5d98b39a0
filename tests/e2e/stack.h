// The whole flow on loopback, each part a real program: gpuward-exporter for each node, Prometheus,
// Alertmanager, gpuward-remediator, in mode cordon unless the policy says otherwise. Used by the
// e2e test and by the demo, which use other clusters, kernel logs and checks.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/model/result.h"
#include "tests/e2e/cluster.h"
#include "tests/e2e/kernel_log.h"
#include "tests/support/neighbours.h"
#include "tests/support/process.h"

namespace gpuward::e2e {

struct StackNode {
  std::string name;
  const KernelLog* log = nullptr;  // outlives the Stack
  // Its exporter's flags, instead of the simulated GPUs.
  std::vector<std::string> flags = {};
  std::map<std::string, std::string> environment = {};
  // With a kubeconfig the exporter writes its findings on its Node, without a taint.
  std::filesystem::path kubeconfig = {};
};

struct StackOptions {
  const Cluster* cluster = nullptr;  // outlives the Stack, as does the folder
  std::filesystem::path folder;
  std::vector<StackNode> nodes;
  std::string policy = {};  // the remediator's; empty: none, in mode cordon
  std::map<std::string, std::string> environment =
      {};                                      // the remediator's, in addition to the Stack's own
  std::string neighbours = support::kDebians;  // the versions of Prometheus and Alertmanager
  int alertmanagers = 1;                       // if more, each sends each alert to the remediator
  std::stop_token stop = {};                   // ends waiting with kCancelled
};

// Why a Stack cannot run on this machine; empty if it can.
[[nodiscard]] std::string why_no_stack(const std::string& neighbours = support::kDebians);

class Stack {
 public:
  // Returns once Prometheus has scraped every exporter and found every Alertmanager. Spawns from
  // the calling thread, which must outlive the Stack. Errors carry the end of the log of the part
  // that failed.
  [[nodiscard]] static Result<std::unique_ptr<Stack>> start(const StackOptions& options);

  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack();  // stop()

  [[nodiscard]] std::string exporter_url(const std::string& node) const;
  [[nodiscard]] std::string prometheus_url() const;
  [[nodiscard]] std::string alertmanager_url(int which = 0) const;
  [[nodiscard]] std::string webhook_url() const;
  [[nodiscard]] std::string telemetry_url() const;  // the remediator's
  [[nodiscard]] const std::string& webhook_token() const { return token_; }
  [[nodiscard]] const std::stop_token& stop_token() const { return options_.stop; }
  [[nodiscard]] std::filesystem::path audit_file() const { return options_.folder / "audit.jsonl"; }

  // The GPUs that the node simulates; its exporter reads the file again when it changes.
  [[nodiscard]] std::filesystem::path scenario_file(const std::string& node) const {
    return options_.folder / ("gpus-of-" + node + ".yaml");
  }

  [[nodiscard]] Status stop_exporter(const std::string& node);
  [[nodiscard]] Status restart_exporter(const std::string& node);
  [[nodiscard]] Status restart_remediator();
  // Kills it with kill -9 and starts another one.
  [[nodiscard]] Status crash_remediator();
  // Ends every part, the remediator first, so that it does not act on the end of another. Returns
  // the parts that did not end within support::kTimeToStop, or not with exit code 0.
  std::vector<std::string> stop();
  // The end of every part's log, for the message of a failed test.
  [[nodiscard]] std::string logs() const;

 private:
  explicit Stack(const StackOptions& options);
  [[nodiscard]] Status start_all();
  [[nodiscard]] Status start_exporter(const StackNode& node);
  [[nodiscard]] Status start_remediator();
  [[nodiscard]] Status start_alertmanager(int which);
  [[nodiscard]] Status start_prometheus();
  [[nodiscard]] Status stop_part(const std::string& name);
  [[nodiscard]] Status wait_until_watching() const;
  [[nodiscard]] Status start_part(const std::string& name, std::vector<std::string> argv,
                                  const std::string& ready_url,
                                  std::map<std::string, std::string> environment = {});
  [[nodiscard]] std::string address(const std::string& part) const;
  StackOptions options_;
  std::string token_;
  std::map<std::string, int> ports_;  // by part
  std::map<std::string, std::unique_ptr<support::Process>> parts_;
};

}  // namespace gpuward::e2e
