#include "exporter/watch/host_watcher.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "exporter/host/pci.h"
#include "exporter/host/rdma.h"

namespace gpuward::exporter {
namespace {

constexpr std::chrono::milliseconds kInterval{30'000};
// The time until the next try if the type is unknown. A node's label may come later than the
// exporter.
constexpr std::chrono::minutes kAskAgain{10};

void count_devices(const HostPaths& host, InstanceFacts& facts) {
  const auto devices = list_pci_devices(host);
  if (!devices) return;
  facts.gpus_on_pci = facts.efa_on_pci = 0;
  for (const PciDevice& device : *devices) {
    if (is_nvidia_gpu(device) || is_amd_gpu(device)) ++*facts.gpus_on_pci;
    if (is_efa(device)) ++*facts.efa_on_pci;
  }
}

}  // namespace

HostWatcher::HostWatcher(HostPaths host, AskInstanceType ask, Store& store,
                         const CurrentPolicy& policy, Clock& clock, Log& log)
    : host_(std::move(host)),
      ask_(std::move(ask)),
      store_(store),
      policy_(policy),
      clock_(clock),
      log_(log) {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

HostWatcher::~HostWatcher() {
  thread_.request_stop();
  thread_.join();
}

void HostWatcher::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    try {
      look();
    } catch (const std::exception& error) {
      log_.error("Failed to read machine data, retrying", {{"error", error.what()}});
    }
    clock_.sleep_for(kInterval, stop);
  }
}

void HostWatcher::look() {
  const auto policy = policy_.get();
  const CheckSettings& settings = policy->settings.checks;
  store_.set_rdma(read_rdma(host_));
  // Findings from before a restart must not wait for a metadata service that does not answer.
  if (known_type().source == InstanceTypeSource::kRemembered) publish(settings);
  find_type(settings);
  publish(settings);
}

InstanceType HostWatcher::known_type() const {
  const State state = store_.snapshot().state;
  const KnownMachine& known = state.machine;
  const bool is_of_this_boot = !state.boot_id.empty() && known.type_boot_id == state.boot_id;
  if (!type_.type.empty() || !configured_.empty() || !is_of_this_boot) return type_;
  return {known.instance_type, InstanceTypeSource::kRemembered, {}};
}

void HostWatcher::publish(const CheckSettings& settings) {
  const InstanceType type = known_type();
  InstanceFacts facts;
  count_devices(host_, facts);
  facts.type = type.type;
  facts.source = to_string(type.source);
  if (const auto profile = settings.profiles.find(type.type)) {
    facts.has_profile = true;
    facts.gpus_expected = profile->gpus;
    facts.efa_expected = profile->efa_devices;
  }
  store_.set_instance(std::move(facts));
}

void HostWatcher::find_type(const CheckSettings& settings) {
  const bool is_settled = !type_.type.empty() && configured_ == settings.instance_type;
  const bool is_early =
      asked_ && configured_ == settings.instance_type && clock_.steady() - *asked_ < kAskAgain;
  if (is_settled || is_early) return;
  configured_ = settings.instance_type;
  asked_ = clock_.steady();
  type_ = ask_(configured_);
  if (type_.type.empty()) {
    std::string misses;
    for (const std::string& miss : type_.misses) misses += (misses.empty() ? "" : "; ") + miss;
    log_.warn("Instance type is unknown: expecting the hardware seen on this machine before",
              {{"asked", misses}, {"remembered", known_type().type}});
    return;
  }
  log_.info("Detected instance type",
            {{"instance_type", type_.type}, {"source", std::string(to_string(type_.source))}});
  if (settings.profiles.find(type_.type)) return;
  log_.warn("No profile for this instance type: expecting the hardware seen on this machine before",
            {{"instance_type", type_.type}});
}

}  // namespace gpuward::exporter
