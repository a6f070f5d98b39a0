#include "tests/alerts/month/notifications.h"

#include <algorithm>
#include <optional>

namespace gpuward::alerts {
namespace {

using Indexes = std::set<std::size_t>;

// Alertmanager's default: --data.retention.
constexpr seconds kRetention = std::chrono::hours(120);

std::vector<std::string> values_of(const Labels& labels, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) values.push_back(label_of(labels, name));
  return values;
}

// Decides which alerts inhibit which others.
class Inhibitor {
 public:
  Inhibitor(const Routing& routing, const std::vector<AlertHistory>& alerts) : alerts_(alerts) {
    sources_of_.resize(alerts.size());
    for (const Inhibition& rule : routing.inhibitions) add(rule);
  }
  [[nodiscard]] bool mutes(std::size_t alert, seconds at) const {
    return std::ranges::any_of(sources_of_[alert],
                               [&](std::size_t source) { return alerts_[source].fires(at); });
  }

 private:
  // An alert that is both source and target of a rule is not inhibited by another one of that kind.
  void add(const Inhibition& rule) {
    std::map<std::vector<std::string>, Indexes> sources;
    for (std::size_t i = 0; i < alerts_.size(); ++i) {
      const Labels& labels = alerts_[i].labels;
      if (all_match(rule.source, labels)) sources[values_of(labels, rule.equal)].insert(i);
    }
    for (std::size_t i = 0; i < alerts_.size(); ++i) {
      const Labels& labels = alerts_[i].labels;
      if (!all_match(rule.target, labels)) continue;
      const bool is_both = all_match(rule.source, labels);
      for (const std::size_t source : sources[values_of(labels, rule.equal)]) {
        if (!is_both || !all_match(rule.target, alerts_[source].labels)) {
          sources_of_[i].push_back(source);
        }
      }
    }
  }
  const std::vector<AlertHistory>& alerts_;
  std::vector<std::vector<std::size_t>> sources_of_;
};

// The alerts of one route with the same labels of `group_by`.
class Group {
 public:
  Group(const Route& route, Labels labels, const Inhibitor& inhibitor,
        const std::vector<AlertHistory>& alerts)
      : route_(route), labels_(std::move(labels)), inhibitor_(inhibitor), alerts_(alerts) {}

  void add(std::size_t alert) { members_.push_back(alert); }

  [[nodiscard]] std::vector<Notification> run() {
    std::vector<Notification> sent;
    for (auto begin = next_start(seconds(-1)); begin; begin = next_start(flushed_)) {
      flushed_ = *begin - seconds(1);
      for (seconds at = *begin + route_.group_wait;; at += route_.group_interval) {
        if (auto one = flush(at)) sent.push_back(*std::move(one));
        if (!any_fires(at)) break;
      }
    }
    return sent;
  }

 private:
  struct LogEntry {
    seconds at{};
    Indexes firing, resolved;
  };

  [[nodiscard]] std::optional<seconds> next_start(seconds after) const {
    std::optional<seconds> first;
    for (const std::size_t member : members_) {
      for (const Span& span : alerts_[member].firing) {
        if (span.from > after && (!first || span.from < *first)) first = span.from;
      }
    }
    return first;
  }
  [[nodiscard]] bool any_fires(seconds at) const {
    return std::ranges::any_of(members_, [&](std::size_t i) { return alerts_[i].fires(at); });
  }
  // Whether it has ended since the last flush, which has dropped earlier ended ones.
  [[nodiscard]] bool has_ended(std::size_t member, seconds at) const {
    return std::ranges::any_of(alerts_[member].firing, [&](const Span& span) {
      return span.to > flushed_ && span.to <= at;
    });
  }
  std::optional<Notification> flush(seconds at) {
    Notification now{.at = at, .receiver = route_.receiver, .group = labels_};
    for (const std::size_t member : members_) {
      if (inhibitor_.mutes(member, at)) continue;
      if (alerts_[member].fires(at)) {
        now.firing.insert(member);
      } else if (has_ended(member, at)) {
        now.resolved.insert(member);
      }
    }
    flushed_ = at;
    if (now.firing.empty() && now.resolved.empty()) return std::nullopt;
    if (log_ && at - log_->at >= kRetention) log_.reset();
    const auto why = reason(now);
    if (!why) return std::nullopt;
    now.why = *why;
    std::ranges::set_difference(now.firing, log_ ? log_->firing : Indexes{},
                                std::inserter(now.added, now.added.end()));
    // an alert that the log has forgotten although the receiver knows it
    if (now.why == Why::kNew && std::ranges::includes(told_, now.added)) now.why = Why::kRepeat;
    told_ = now.firing;
    log_ = LogEntry{.at = at, .firing = now.firing, .resolved = now.resolved};
    return now;
  }
  [[nodiscard]] std::optional<Why> reason(const Notification& now) const {
    if (!log_) return now.firing.empty() ? std::nullopt : std::optional(Why::kNew);
    if (!std::ranges::includes(log_->firing, now.firing)) return Why::kNew;
    if (now.firing.empty()) {
      return log_->firing.empty() ? std::nullopt : std::optional(Why::kResolved);
    }
    if (!std::ranges::includes(log_->resolved, now.resolved)) return Why::kResolved;
    if (now.at - log_->at > route_.repeat_interval) return Why::kRepeat;
    return std::nullopt;
  }

  const Route& route_;
  Labels labels_;
  const Inhibitor& inhibitor_;
  const std::vector<AlertHistory>& alerts_;
  std::vector<std::size_t> members_;
  seconds flushed_{-1};
  std::optional<LogEntry> log_;
  Indexes told_;
};

}  // namespace

std::vector<Notification> notifications(const Routing& routing,
                                        const std::vector<AlertHistory>& alerts) {
  const Inhibitor inhibitor(routing, alerts);
  std::map<std::pair<const Route*, std::vector<std::string>>, Group> groups;
  for (std::size_t i = 0; i < alerts.size(); ++i) {
    for (const Route* route : routing.routes_of(alerts[i].labels)) {
      const auto values = values_of(alerts[i].labels, route->group_by);
      Labels labels;
      for (std::size_t k = 0; k < values.size(); ++k) labels[route->group_by[k]] = values[k];
      groups.try_emplace({route, values}, *route, labels, inhibitor, alerts).first->second.add(i);
    }
  }
  std::vector<Notification> all;
  for (auto& [key, group] : groups) std::ranges::move(group.run(), std::back_inserter(all));
  std::ranges::stable_sort(all, {}, &Notification::at);
  return all;
}

}  // namespace gpuward::alerts
