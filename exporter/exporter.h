// The whole exporter: kernel log, GPU worker, machine, kubelet and checks write into the store, and
// pages, node and state file are made from it. Made by main(); its threads end with it, within
// seconds.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/http/server/health_listener.h"
#include "core/http/server/server.h"
#include "core/http/server/web_config.h"
#include "core/model/result.h"
#include "core/runtime/clock.h"
#include "core/runtime/files.h"
#include "core/runtime/log.h"
#include "exporter/amd_health/service.h"
#include "exporter/checks/runner.h"
#include "exporter/config/flags.h"
#include "exporter/config/settings.h"
#include "exporter/pods/watcher.h"
#include "exporter/publish/loki_pusher.h"
#include "exporter/publish/publisher.h"
#include "exporter/store/state_saver.h"
#include "exporter/store/store.h"
#include "exporter/watch/announcement_watcher.h"
#include "exporter/watch/drills.h"
#include "exporter/watch/gpu_check.h"
#include "exporter/watch/gpu_releases.h"
#include "exporter/watch/gpu_watcher.h"
#include "exporter/watch/host_watcher.h"
#include "exporter/watch/kernel_log_watcher.h"
#include "exporter/watch/node_link.h"

namespace gpuward::exporter {

class Exporter {
 public:
  // kInvalid for a configuration that cannot work; kUnavailable if an address is in use. Clock and
  // log must outlive it.
  [[nodiscard]] static Result<std::unique_ptr<Exporter>> start(const Flags& flags, Clock& clock,
                                                               Log& log);

  // Main thread. Reads the configuration and the GPUs again. If the configuration is wrong, logs
  // the error and keeps the old one.
  void reload();
  // Main thread, right after start() and then once a second. The first call lets the GPUs be
  // opened, unless a label of the Node asks for them. Handles changed files, and findings that have
  // expired or that an operator has declared repaired.
  void tick();
  // Main thread, after tick(). Returns true if the program should exit and be started again, and
  // logs the reason.
  [[nodiscard]] bool wants_restart() const;

  [[nodiscard]] const std::vector<int>& ports() const { return server_->ports(); }
  // nullptr without --web.health-address.
  [[nodiscard]] const http::HealthListener* health() const { return health_.get(); }

 private:
  Exporter(const Flags& flags, Settings settings, State state, Clock& clock, Log& log);
  [[nodiscard]] Status serve(const Flags& flags, const http::WebConfig& web);
  [[nodiscard]] Status watch_gpus(const Flags& flags);
  [[nodiscard]] Status open_loki(const Flags& flags);
  [[nodiscard]] KernelLogWatcher::Tap tap_for_loki();
  void watch_the_rest(const Flags& flags, const std::string& boot_id, FindingEvents known);
  void take_clear_requests();
  void release_gpus();

  Clock& clock_;
  Log& log_;
  SettingsSources settings_sources_;
  ClearRequests clear_requests_;
  std::string clear_fault_;  // the last one logged
  std::vector<FileWatch> watches_;
  CurrentPolicy policy_;
  // The order matters: the last state is saved after the last record has been read, and no thread
  // uses a publisher that is gone.
  Store store_;
  std::unique_ptr<StateSaver> saver_;
  Drills drills_;
  GpuCheck gpu_check_;
  std::unique_ptr<GpuReleases> releases_;
  std::unique_ptr<GpuWatcher> gpus_;
  std::unique_ptr<LokiPusher> loki_;  // outlives the watcher, which feeds it
  std::unique_ptr<KernelLogWatcher> kernel_log_;
  std::unique_ptr<NodeLink> node_;
  Clock::Steady opens_gpus_by_;  // even if the API server does not answer
  std::unique_ptr<HostWatcher> host_;
  std::unique_ptr<AnnouncementWatcher> announcements_;
  std::unique_ptr<PodResourcesWatcher> pods_;
  std::unique_ptr<AmdHealthService> amd_health_;
  std::unique_ptr<CheckRunner> checks_;
  std::unique_ptr<Publisher> publisher_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::HealthListener> health_;
};

// Reads every file that the flags name like start(), for --check-config.
[[nodiscard]] Status check_configuration(const Flags& flags);

}  // namespace gpuward::exporter
