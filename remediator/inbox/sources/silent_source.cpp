#include "remediator/inbox/sources/silent_source.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/runtime/text.h"
#include "remediator/model/error_class.h"
#include "remediator/model/silent_alerts.h"

namespace gpuward::remediator {
namespace {

constexpr std::size_t kLongestStory = 1024;

// The last known facts, each with its source and its age.
std::string story_of(const NodeSign& node, const Result<NodeScrapes>& scrapes, WallTime now) {
  std::string text = "Ready is " + (node.ready.empty() ? "absent" : node.ready) + " since " +
                     to_rfc3339(*node.since);
  if (node.heartbeat)
    text += "; Kubernetes: the kubelet last reported its status at " + to_rfc3339(*node.heartbeat);
  if (!scrapes) return text + "; Prometheus: " + scrapes.error().message;
  const NodeScrapes& seen = *scrapes;
  text += "; Prometheus: the exporter ";
  if (seen.seen_at) {
    text += "was last scraped at " + to_rfc3339(*seen.seen_at) + " (" +
            seconds_text(*seen.seen_at, now) + " earlier)";
    if (seen.severity) text += " with severity " + std::string(to_string(*seen.severity));
  } else {
    text += "was not scraped within the last day";
  }
  const int others = seen.others_up + seen.others_down;
  text += ", and " + std::to_string(seen.others_up) + " of " + std::to_string(others) +
          " other targets on the node " + (seen.others_up == 1 ? "is" : "are") + " up";
  return text;
}

// A status from before the finding began is an old view of the node, and does not end it.
bool is_back(const NodeSign& node, const AlertSignal& known, WallTime now) {
  return !node.is_silent() && node.since && *node.since >= known.starts_at &&
         now - *node.since >= kBackFor;
}

AlertSignal end_of(AlertSignal known, WallTime at) {
  known.firing = false;
  known.ends_at = at;
  return known;
}

}  // namespace

// A node that Prometheus reads is not dead, even if its kubelet is. If that is unknown, the node
// counts as silent: without proofs that leads no further than the cordon.
AlertSignal SilentSource::signal_of(const NodeSign& node, const SilentRules& rules) {
  const Result<NodeScrapes> scrapes =
      scrapes_ != nullptr ? scrapes_->of(node.node, node.address)
                          : fail(ErrorKind::kNotFound, "--prometheus.url is not set");
  const bool is_read = scrapes && scrapes->exporter.value_or(false);
  const Severity severity = is_read ? rules.kubelet : kSilentSeverity;
  return {.node = node.node,
          .severity = severity,
          .alertname = std::string(is_read ? kKubeletAlert : kSilentAlert),
          .fingerprint = is_read ? kKubeletFingerprint : kSilentFingerprint,
          .firing = true,
          // An alert that is older than its Node would be another machine's.
          .starts_at = std::max(*node.since, node.created.value_or(*node.since)),
          .ends_at = {},
          .foreign = true,
          .error_class = error_class_of({}, severity),
          .advice =
              to_valid_utf8(story_of(node, scrapes, clock_.wall()) + told_of(node), kLongestStory)};
}

// Only a new Remediation gets the text. A source that did not answer is skipped for the rest of
// this check.
std::string SilentSource::told_of(const NodeSign& node) {
  if (node.is_recorded) return {};
  const auto known = told_.find(node.node);
  if (known != told_.end() && known->second.since == *node.since) return known->second.text;
  Told& told = told_[node.node] = {*node.since, {}};
  for (std::size_t i = 0; i < last_known_.size(); ++i) {
    if (did_not_answer_[i]) continue;
    const auto clause = last_known_[i]->of(node);
    did_not_answer_[i] = !clause;
    if (!clause) told.text += "; " + clause.error().message;
    if (clause && !clause->empty()) told.text += "; " + *clause;
  }
  return told.text;
}

Result<SourceFindings> SilentSource::look() {
  const auto now = clock_.wall();
  const auto policy = policy_.get();
  const SilentRules& rules = policy->silent;
  SourceFindings findings;
  const std::vector<NodeSign> nodes = nodes_.signs(now);
  if (rules.is_on && !nodes_.is_current(clock_.steady())) {
    findings.complaint = Error{ErrorKind::kUnavailable,
                               "no contact with the API server: no node is treated as silent"};
    return findings;
  }
  const SilentNodes silent(nodes, rules, policy->startup_grace, now);
  did_not_answer_.assign(last_known_.size(), false);
  std::erase_if(told_, [&](const auto& told) {
    const auto node = std::ranges::find(nodes, told.first, &NodeSign::node);
    return node == nodes.end() || !node->is_silent();
  });
  findings.read = static_cast<std::size_t>(std::ranges::count_if(nodes, &NodeSign::has_gpus));
  findings.nodes = {{"share", 0}, {"together", 0}, {"silent", 0}, {"flapping", 0}};
  for (const NodeSign& node : nodes) {
    if (!node.has_gpus) continue;
    if (rules.is_on && node.recent >= kFlapping) ++findings.nodes["flapping"];
    const bool is_due =
        rules.is_on && silent.counts(node) && node.since && now - *node.since >= rules.after;
    if (!is_due) continue;
    if (const auto why = silent.objection(node)) {
      ++findings.nodes[why->rule == kSilentShareRule ? "share" : "together"];
      continue;
    }
    ++findings.nodes["silent"];
    findings.signals.push_back(signal_of(node, rules));
  }
  for (AlertSignal& known : known_.firing_from(kSilentOrigin)) {
    const auto node = std::ranges::find(nodes, known.node, &NodeSign::node);
    if (node == nodes.end()) continue;
    // Only one of the node's two findings is true.
    const auto other = std::ranges::find_if(findings.signals, [&](const AlertSignal& signal) {
      return signal.firing && signal.node == known.node && signal.fingerprint != known.fingerprint;
    });
    if (is_back(*node, known, now)) {
      findings.signals.push_back(end_of(std::move(known), *node->since));
    } else if (other != findings.signals.end()) {
      findings.signals.push_back(end_of(std::move(known), now));
    }
  }
  return findings;
}

}  // namespace gpuward::remediator
