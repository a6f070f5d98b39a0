#include "bench/fleet_watch.h"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <utility>

#include "core/runtime/json.h"

namespace gpuward::bench {
namespace {

using std::chrono::minutes;
using std::chrono::steady_clock;

constexpr std::size_t kKubeletThreads = 4;
constexpr const char* kPods = "/api/v1/namespaces/default/pods/";

std::string name_of(const Json& object) { return string_at(member_at(object, "metadata"), "name"); }

}  // namespace

Watch::Watch(const FleetCluster& cluster, std::string collection, kube::InformerHandlers handlers) {
  auto config = kube::load_kubeconfig(cluster.plane().kubeconfig().string(), "");
  if (!config) throw std::runtime_error(config.error().message);
  connection_ = std::make_unique<kube::Connection>(std::move(*config), "fleet_bench", clock_);
  api_ = connection_->make_api({});
  auto synced = std::make_shared<std::promise<void>>();
  handlers.on_synced = [synced, is_first = true](const auto&, const auto&) mutable {
    if (std::exchange(is_first, false)) synced->set_value();
  };
  thread_ = std::jthread([this, collection = std::move(collection),
                          handlers = std::move(handlers)](const std::stop_token& stop) {
    kube::Informer(*api_, clock_, collection, handlers).run(stop);
  });
  synced->get_future().wait();
}

MarkedNodes::MarkedNodes(const FleetCluster& cluster, std::string taint_key)
    : taint_key_(std::move(taint_key)) {
  kube::InformerHandlers handlers;
  handlers.on_upsert = [this](const Json& object) { look_at(object); };
  handlers.on_delete = [](const std::string&) {};
  watch_ = std::make_unique<Watch>(cluster, "/api/v1/nodes", std::move(handlers));
}

void MarkedNodes::look_at(const Json& object) {
  const Json& spec = member_at(object, "spec");
  const Json& taints = member_at(spec, "taints");
  const bool is_tainted = taints.is_array() && std::ranges::any_of(taints, [&](const Json& taint) {
                            return string_at(taint, "key") == taint_key_;
                          });
  if (!is_tainted || !spec.contains("unschedulable")) return;
  {
    const std::lock_guard lock(mutex_);
    names_.insert(name_of(object));
  }
  changed_.notify_one();
}

SteadyTime MarkedNodes::wait_for(std::size_t count) {
  std::unique_lock lock(mutex_);
  const bool are_there =
      changed_.wait_for(lock, minutes(5), [&] { return names_.size() >= count; });
  if (!are_there) {
    throw std::runtime_error("only " + std::to_string(names_.size()) + " of " +
                             std::to_string(count) + " nodes were marked");
  }
  return steady_clock::now();
}

Kubelets::Kubelets(const FleetCluster& cluster) : cluster_(cluster) {
  kube::InformerHandlers handlers;
  handlers.on_upsert = [this](const Json& object) { look_at(object); };
  handlers.on_delete = [this](const std::string&) {
    const std::lock_guard lock(mutex_);
    ++gone_;
    last_gone_ = steady_clock::now();
    changed_.notify_all();
  };
  watch_ = std::make_unique<Watch>(cluster, "/api/v1/pods", std::move(handlers));
  for (std::size_t i = 0; i < kKubeletThreads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { end_pods(stop); });
  }
}

Kubelets::~Kubelets() {
  watch_.reset();
  for (std::jthread& thread : threads_) thread.request_stop();
}

void Kubelets::look_at(const Json& object) {
  if (!member_at(object, "metadata").contains("deletionTimestamp")) return;
  std::string name = name_of(object);
  const std::lock_guard lock(mutex_);
  if (!told_.insert(name).second) return;
  if (!first_told_) first_told_ = steady_clock::now();
  ending_.push_back(std::move(name));
  changed_.notify_all();
}

void Kubelets::end_pods(const std::stop_token& stop) {
  Writer writer(cluster_.plane(), cluster_.plane().admin_token());
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !ending_.empty(); })) {
    const std::string name = std::move(ending_.front());
    ending_.pop_front();
    lock.unlock();
    writer.write("DELETE", kPods + name, R"({"gracePeriodSeconds":0})");
    lock.lock();
  }
}

Kubelets::Span Kubelets::wait_for(std::size_t gone) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, minutes(10), [&] { return gone_ >= gone; })) {
    throw std::runtime_error("only " + std::to_string(gone_) + " of " + std::to_string(gone) +
                             " pods have gone");
  }
  gone_ = 0;
  return {*std::exchange(first_told_, std::nullopt), last_gone_};
}

}  // namespace gpuward::bench
