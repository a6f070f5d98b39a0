#include "exporter/publish/node/node_publisher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "exporter/publish/node/labelled_gpus.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr BackoffPolicy kRetry{
    .first = milliseconds(1'000), .longest = milliseconds(60'000), .factor = 2.0};
constexpr kube::ApiDeadlines kDeadlines{milliseconds(5'000), milliseconds(15'000)};
// For calls that must not delay the rest, such as Events and the last status before the end.
constexpr kube::ApiDeadlines kBriefDeadlines{milliseconds(2'000), milliseconds(2'000)};
constexpr milliseconds kShortestWait{10};
// Changes within this time are written together.
constexpr milliseconds kBurst{100};

// These errors stay until an operator changes RBAC, a policy or the node, so one try a cycle is
// enough.
bool is_lasting(ErrorKind kind) {
  return kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid ||
         kind == ErrorKind::kNotFound || kind == ErrorKind::kGone;
}

std::string advice_for(ErrorKind kind) {
  if (kind == ErrorKind::kForbidden || kind == ErrorKind::kInvalid) {
    return "grant get and patch on nodes and patch on nodes/status, or allow these keys in the "
           "admission policy: manifests/exporter-rbac.yaml, manifests/exporter-admission.yaml";
  }
  if (kind == ErrorKind::kNotFound) return "check that NODE_NAME is the name of this node";
  if (kind == ErrorKind::kGone)
    return "the Node object now belongs to another machine; restart the exporter on this one";
  return "trying again";
}

}  // namespace

NodePublisher::NodePublisher(NodePublisherOptions options, const MakeApi& make_api, Store& store,
                             Clock& clock, Log& log)
    : options_(std::move(options)),
      store_(store),
      clock_(clock),
      log_(log),
      settings_(options_.settings),
      cycle_(options_.cycle),
      api_(make_api(kDeadlines, stopping_.get_token())),
      brief_api_(make_api(kBriefDeadlines, {})),
      writer_(*api_, clock, options_.node, options_.boot_id),
      events_(*brief_api_, options_.node, options_.events, clock, log),
      next_cycle_(clock.steady()),
      not_before_(clock.steady()),
      backoff_(kRetry) {
  store_.update_health([](Health& health) { health.node.emplace(); });
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

NodePublisher::~NodePublisher() {
  stopping_.request_stop();
  thread_.request_stop();
  thread_.join();
  const NodeKeys keys = keys_of(settings_);
  if (!keys.has_labels) return;
  if (const auto said = writer_.say_stopped(*brief_api_, keys.names()); !said)
    log_.warn("Failed to mark the exporter as stopped on the node",
              {{"error", said.error().message}});
}

void NodePublisher::configure(NodeSettings settings, milliseconds cycle) {
  {
    const std::lock_guard lock(mutex_);
    settings_ = settings;
    cycle_ = cycle;
  }
  store_.touch();
}

NodePublisher::Plan NodePublisher::plan() const {
  const std::lock_guard lock(mutex_);
  return {keys_of(settings_), settings_, cycle_};
}

void NodePublisher::run(const std::stop_token& stop) {
  std::uint64_t seen = store_.version();
  while (!stop.stop_requested()) {
    milliseconds wait = kShortestWait;
    try {
      const Snapshot snapshot = store_.snapshot();
      wait = publish_if_due(snapshot, stop);
      wait = std::min(wait, tell_findings(snapshot));
    } catch (const std::exception& error) {
      record(fail(ErrorKind::kInternal, std::string("publishing the node: ") + error.what()));
    }
    seen = store_.wait_for_change(seen, std::max(wait, kShortestWait), stop);
    clock_.sleep_for(kBurst, stop);
  }
}

milliseconds NodePublisher::publish_if_due(const Snapshot& snapshot, const std::stop_token& stop) {
  const Plan plan = this->plan();
  NodeWish wish = wish_of(snapshot, plan.settings.untold_node);
  const bool is_changed =
      !published_ || differ_in_substance(*published_, wish) || published_settings_ != plan.settings;
  const auto now = clock_.steady();
  const bool is_due = is_changed || now >= next_cycle_;
  if (is_due && now >= not_before_) {
    const Status status = writer_.write(wish, plan.keys, options_.heartbeat, stop);
    if (stop.stop_requested()) return {};
    if (status) {
      if (is_changed) announce(wish);
      published_ = std::move(wish);
      published_settings_ = plan.settings;
      next_cycle_ = clock_.steady() + std::min(plan.cycle, options_.heartbeat);
    }
    record(status);
    if (status) store_.learn_labelled_gpus(gpus_by_labels(writer_.labels()));
    return until(status ? next_cycle_ : not_before_);
  }
  return until(is_due ? not_before_ : next_cycle_);
}

// Runs only after a successful write of the node, because its name may belong to another machine.
milliseconds NodePublisher::tell_findings(const Snapshot& snapshot) {
  const Plan plan = this->plan();
  if (!plan.keys.has_events) {
    events_.forget(snapshot);
    return plan.cycle;
  }
  if (!published_ || !complaint_.empty()) return plan.cycle;
  return events_.tell(snapshot, writer_.uid(), plan.cycle);
}

milliseconds NodePublisher::until(Clock::Steady time) const {
  return std::chrono::ceil<milliseconds>(time - clock_.steady());
}

void NodePublisher::announce(const NodeWish& wish) {
  const bool is_news =
      !published_ || published_->status != wish.status || published_->severity != wish.severity;
  if (!is_news) return;
  log_.info("Published node status", {{"node", options_.node},
                                      {"status", std::string(to_string(wish.status))},
                                      {"severity", std::string(severity_word(wish.severity))},
                                      {"condition", wish.condition}});
}

void NodePublisher::record(const Status& status) {
  const auto now = clock_.steady();
  if (status) {
    backoff_.reset();
    not_before_ = now;
    if (!complaint_.empty()) log_.info("Node is writable again");
    complaint_.clear();
  } else {
    not_before_ = now + (is_lasting(status.error().kind) ? plan().cycle : backoff_.next());
    complain(status.error());
  }
  store_.update_health([&](Health& health) {
    if (!health.node) health.node.emplace();
    health.node->is_tainted = writer_.is_tainted();
    if (status) {
      health.node->fault.reset();
      health.node->last_success = clock_.wall();
    } else {
      health.node->fault = status.error().message;
      ++health.node->failures;
    }
  });
}

// Logs once for each kind of error, so that a server that is down for a day gives one line.
void NodePublisher::complain(const Error& error) {
  std::string complaint = advice_for(error.kind);
  if (complaint == complaint_) return;
  log_.error("Failed to publish node status",
             {{"node", options_.node}, {"error", error.message}, {"advice", complaint}});
  complaint_ = std::move(complaint);
}

Result<std::string> instance_type_label(kube::Api& api, std::string_view node) {
  constexpr const char* kLabel = "node.kubernetes.io/instance-type";
  const auto seen = api.get_node(node);
  if (!seen) return std::unexpected(seen.error());
  const auto found = seen->meta.labels.find(kLabel);
  if (found == seen->meta.labels.end())
    return fail(ErrorKind::kNotFound,
                "node " + std::string(node) + " has no label " + std::string(kLabel));
  return found->second;
}

}  // namespace gpuward::exporter
