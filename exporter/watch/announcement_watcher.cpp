#include "exporter/watch/announcement_watcher.h"

#include <algorithm>
#include <exception>
#include <tuple>
#include <utility>

#include "core/kube/node_announcements.h"
#include "exporter/checks/check/finding_codes.h"
#include "exporter/pods/users.h"

namespace gpuward::exporter {
namespace {

// How often unchanged announcements are published again, with the time of the last reading.
constexpr std::chrono::minutes kRepeat{1};

const FindingCode& code_row_of(AnnouncementKind kind) {
  return row_of(static_cast<Code>(static_cast<std::size_t>(Code::kAnnouncedRebalance) +
                                  static_cast<std::size_t>(kind)));
}

// Returns one finding for each kind: the first to begin.
std::vector<Finding> findings_of(const std::vector<Announcement>& list, WallTime now) {
  std::vector<Finding> findings;
  for (const Announcement& one : list) {
    const FindingCode& row = code_row_of(one.kind);
    if (std::ranges::find(findings, row.code, &Finding::code) != findings.end()) continue;
    Finding finding;
    finding.check = row.check;
    finding.code = row.code;
    finding.severity = row.severity;
    finding.cleared_by = row.cleared_by;
    finding.evidence = Evidence::kMeasured;
    finding.line = summary_of(one);
    finding.why = row.meaning;
    finding.first_seen = one.first_seen;
    finding.last_seen = now;
    finding.count = 1;
    finding.workload = one.workload;
    findings.push_back(std::move(finding));
  }
  return findings;
}

CheckResult result_of(const std::vector<Announcement>& list, WallTime now) {
  CheckResult result;
  result.check = kAnnouncementsCheck;
  result.started = now;
  result.findings = findings_of(list, now);
  result.status = list.empty() ? CheckStatus::kPass : CheckStatus::kWarn;
  result.severity = list.empty() ? Severity::kNone : Severity::kMonitor;
  for (const Announcement& one : list)
    result.details += (result.details.empty() ? "" : "; ") + summary_of(one);
  if (list.empty()) result.details = "the cloud has announced no event for this machine";
  return result;
}

std::string users_of_all(const Snapshot& snapshot) {
  std::vector<Workload> users;
  for (const auto& [device, its] : snapshot.workloads.by_device)
    users.insert(users.end(), its.begin(), its.end());
  std::ranges::sort(users);
  const auto [first, last] = std::ranges::unique(users);
  users.erase(first, last);
  return workload_of(users);
}

bool says_the_same(const Announced& a, Announced b) {
  b.last_read = a.last_read;
  return a == b;
}

}  // namespace

AnnouncementWatcher::AnnouncementWatcher(HostPaths host, std::unique_ptr<http::Client> http,
                                         Store& store, const CurrentPolicy& policy, Clock& clock,
                                         Log& log)
    : host_(std::move(host)),
      http_(std::move(http)),
      store_(store),
      policy_(policy),
      clock_(clock),
      log_(log) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

AnnouncementWatcher::~AnnouncementWatcher() {
  thread_.request_stop();
  thread_.join();
}

void AnnouncementWatcher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const AnnouncementSettings settings = policy_.get()->settings.announcements;
    try {
      look(settings);
    } catch (const std::exception& error) {
      log_.error("Failed to process announcements, retrying", {{"error", error.what()}});
    }
    clock_.sleep_for(settings.interval, stop);
  }
}

void AnnouncementWatcher::look(const AnnouncementSettings& settings) {
  // One time for the whole reading, so that all first_seen times agree.
  const WallTime now = clock_.wall();
  choose(settings);
  if (!cloud_) {
    known_.is_read = true;  // there is no source of announcements
    publish(now);
    return;
  }
  const std::string& endpoint = settings.endpoint.empty() ? cloud_->endpoint : settings.endpoint;
  auto read = cloud_->read(*http_, endpoint, known_.list, now);
  report(read ? std::nullopt : std::optional(read.error().message));
  if (read) {
    take(*std::move(read), now);
  } else {
    if (!answered_) answered_ = clock_.steady();  // the time starts with the first request
    known_.is_stale = clock_.steady() - *answered_ >= kStaleAfter;
  }
  publish(now);
}

void AnnouncementWatcher::choose(const AnnouncementSettings& settings) {
  if (chosen_ == settings.cloud) return;
  chosen_ = settings.cloud;
  cloud_ = chosen_ == "auto" ? cloud_of(host_) : cloud_named(chosen_);
  known_ = {};
  known_.cloud = cloud_ ? cloud_->name : "";
  answered_.reset();
}

void AnnouncementWatcher::take(ReadAnnouncements read, WallTime now) {
  const Snapshot snapshot = store_.snapshot();
  for (Announcement& one : read.list) complete(one, snapshot, now);
  std::ranges::sort(read.list, {},
                    [](const Announcement& one) { return std::tie(one.start, one.id); });
  for (const std::string& doubt : read.doubts) {
    if (std::ranges::find(doubts_, doubt) == doubts_.end())
      log_.warn("Ignored an unrecognized announcement", {{"announcement", doubt}});
  }
  doubts_ = std::move(read.doubts);
  for (const Announcement& one : read.list) {
    const auto before = std::ranges::find(known_.list, one.id, &Announcement::id);
    if (before != known_.list.end() && before->start == one.start) continue;
    log_.warn("The cloud has announced an event for this machine",
              {{"announcement", summary_of(one)}, {"workload", one.workload}});
  }
  known_.list = std::move(read.list);
  known_.is_read = true;
  known_.is_stale = false;
  known_.last_read = now;
  answered_ = clock_.steady();
}

// Adds what is already known of it, even from before a restart.
void AnnouncementWatcher::complete(Announcement& one, const Snapshot& snapshot,
                                   WallTime now) const {
  one.first_seen = now;
  const auto before = std::ranges::find(known_.list, one.id, &Announcement::id);
  const auto found = snapshot.state.findings.find({std::string(kAnnouncementsCheck),
                                                   std::string(code_row_of(one.kind).code), "",
                                                   Evidence::kMeasured});
  if (before != known_.list.end()) {
    one.first_seen = before->first_seen;
    one.workload = before->workload;
  } else if (!known_.is_read && found != snapshot.state.findings.end()) {
    one.first_seen = found->second.first_seen;
    one.workload = found->second.workload;
  }
  if (one.workload.empty()) one.workload = users_of_all(snapshot);
}

void AnnouncementWatcher::report(const std::optional<std::string>& fault) {
  if (fault && !known_.fault) {
    log_.warn("Cannot read the cloud's announcements, keeping the known ones",
              {{"cloud", known_.cloud},
               {"error", *fault},
               {"hint",
                "let the pod use the host network, or raise the hop limit of the metadata "
                "service to 2"}});
  } else if (!fault && known_.fault) {
    log_.info("Reading the cloud's announcements", {{"cloud", known_.cloud}});
  }
  known_.fault = fault;
}

void AnnouncementWatcher::publish(WallTime at) {
  const auto now = clock_.steady();
  const bool is_due = published_at_ && now - *published_at_ >= kRepeat;
  if (published_at_ && !is_due && says_the_same(published_, known_)) return;
  const bool is_certain = known_.is_read && !known_.fault;
  // Outside of a cloud, only the announcements of an earlier cloud are removed.
  const bool has_result = store_.state().checks.contains(std::string(kAnnouncementsCheck));
  std::optional<CheckResult> result;
  if (is_certain && (cloud_ || has_result)) result = result_of(known_.list, at);
  store_.set_announced(known_, result);
  published_ = known_;
  published_at_ = now;
}

}  // namespace gpuward::exporter
