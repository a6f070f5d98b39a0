#include "remediator/inbox/sources/job_nodes.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <span>

#include "core/kube/gpu_pods.h"
#include "core/runtime/text.h"
#include "remediator/model/job_kinds.h"
#include "remediator/model/pod_facts.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kMostJobs = 2, kMostSaid = 3;

std::set<std::string> jobs_of(const std::vector<kube::Pod>& pods) {
  std::set<std::string> jobs;
  for (const kube::Pod& pod : pods) {
    if (std::string job = job_of(pod); !job.empty() && !kube::has_ended(pod))
      jobs.insert(std::move(job));
  }
  return jobs;
}

// Sorted by name.
std::vector<std::string> others_in(const std::vector<kube::Pod>& pods, const std::string& node) {
  std::set<std::string> names;
  for (const kube::Pod& pod : pods) {
    if (!pod.node_name.empty() && pod.node_name != node && !kube::has_ended(pod))
      names.insert(pod.node_name);
  }
  return {names.begin(), names.end()};
}

std::string shown(const std::vector<std::string>& said) {
  return list_first(std::span(said).first(std::min(said.size(), kMostSaid)), said.size());
}

}  // namespace

std::vector<std::string> JobNodes::said_of(const std::vector<std::string>& nodes) const {
  const auto signs = nodes_.signs(clock_.wall());
  const auto evidence = known_.firing_from("");
  std::vector<std::string> said;
  for (const std::string& name : nodes) {
    std::set<std::string> words;
    const auto sign = std::ranges::find(signs, name, &NodeSign::node);
    if (sign != signs.end() && sign->is_silent()) words.insert("not Ready");
    for (const AlertSignal& alert : evidence) {
      if (alert.node == name)
        words.insert(alert.alertname + " (" + std::string(to_string(alert.severity)) + ")");
    }
    const std::vector<std::string> all(words.begin(), words.end());
    if (!all.empty()) said.push_back(name + ": " + list_first(all, all.size()));
  }
  return said;
}

Result<std::string> JobNodes::of(const NodeSign& node) {
  const auto pods = api_.list_pods_on(node.node);
  if (!pods) return with_context("reading the node's pods", pods.error());
  std::string text;
  std::size_t asked = 0;
  for (const std::string& job : jobs_of(*pods)) {
    const auto known = parse_torn_job(job);
    const std::string_view label = known ? job_label(known->word) : std::string_view();
    if (label.empty() || asked == kMostJobs) continue;
    ++asked;
    const auto all = api_.list_pods(known->ns, std::string(label) + "=" + known->name);
    if (!all) return with_context("reading the pods of " + job, all.error());
    const auto others = others_in(*all, node.node);
    if (others.empty()) continue;
    const auto said = said_of(others);
    text += (text.empty() ? "" : "; ") + job + " runs on " + std::to_string(others.size()) +
            (others.size() == 1 ? " other node (" : " other nodes (") +
            (said.empty() ? "nothing reported" : "reported: " + shown(said)) + ")";
  }
  return text;
}

}  // namespace gpuward::remediator
