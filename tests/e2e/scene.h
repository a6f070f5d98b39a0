// The setup of the e2e test: a Stack with a real control plane and three nodes with different
// faults, one of which has passed the whole flow.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/result.h"
#include "tests/e2e/cluster.h"
#include "tests/e2e/kernel_log.h"
#include "tests/e2e/passage.h"
#include "tests/e2e/stack.h"
#include "tests/e2e/watch.h"
#include "tests/support/temp_dir.h"

namespace gpuward::e2e {

inline constexpr const char* kBroken = "gpu-broken";      // its GPU falls off the bus
inline constexpr const char* kHarmless = "gpu-harmless";  // a program on it fails
inline constexpr const char* kSilent = "gpu-silent";      // its exporter dies

class Scene {
 public:
  // Why it cannot be set up on this machine; empty if it can. `neighbours`: the versions of
  // Prometheus and Alertmanager.
  [[nodiscard]] static std::string why_impossible(const std::string& neighbours);
  // Returns once the broken node is cordoned; the events of the other two still continue then.
  [[nodiscard]] static Result<std::unique_ptr<Scene>> set(const std::string& neighbours);

  // The output of kubectl, from both streams.
  [[nodiscard]] std::string kubectl(std::vector<std::string> arguments) const;
  [[nodiscard]] Watch watch() const { return {*stack_, *cluster_}; }
  [[nodiscard]] Stack& stack() { return *stack_; }
  // Writes one more line into the kernel log of a node.
  [[nodiscard]] Status write(const std::string& node, std::string_view line) const {
    return logs_.at(node).write(line);
  }
  [[nodiscard]] const Passage& passage() const { return passage_; }
  // The state of a node before any fault.
  [[nodiscard]] const NodeView& before(const std::string& node) const { return before_.at(node); }
  [[nodiscard]] std::string node_version(const std::string& node) const;

 private:
  Scene() = default;
  [[nodiscard]] Status build(const std::string& neighbours);
  [[nodiscard]] Status open_logs();
  [[nodiscard]] Status start_stack(const std::string& neighbours);
  [[nodiscard]] Status let_it_happen();

  // Members end in reverse order.
  support::TempDir folder_;
  std::map<std::string, KernelLog> logs_;
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Stack> stack_;
  std::map<std::string, NodeView> before_;
  Passage passage_;
};

}  // namespace gpuward::e2e
