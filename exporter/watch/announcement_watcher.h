// Asks the cloud, on a thread of its own, what it plans for this machine, and keeps it in the store
// until the cloud says that it is over. Outside of a cloud that the firmware names nobody is asked.
// Made by the composition root.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/http/client/client.h"
#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "exporter/announcements/cloud.h"
#include "exporter/config/settings.h"
#include "exporter/host/host_paths.h"
#include "exporter/store/store.h"

namespace gpuward::exporter {

class AnnouncementWatcher {
 public:
  // Without an answer for so long nobody can rely on what was announced.
  static constexpr std::chrono::minutes kStaleAfter{10};

  // Asks at once. All references must outlive it.
  AnnouncementWatcher(HostPaths host, std::unique_ptr<http::Client> http, Store& store,
                      const CurrentPolicy& policy, Clock& clock, Log& log);
  // Within the few seconds that a question may take.
  ~AnnouncementWatcher();
  AnnouncementWatcher(const AnnouncementWatcher&) = delete;
  AnnouncementWatcher& operator=(const AnnouncementWatcher&) = delete;

 private:
  void run(const std::stop_token& stop);
  void look(const AnnouncementSettings& settings);
  void choose(const AnnouncementSettings& settings);
  void take(ReadAnnouncements read, WallTime now);
  void complete(Announcement& one, const Snapshot& snapshot, WallTime now) const;
  void report(const std::optional<std::string>& fault);
  void publish(WallTime at);

  HostPaths host_;
  std::unique_ptr<http::Client> http_;
  Store& store_;
  const CurrentPolicy& policy_;
  Clock& clock_;
  Log& log_;
  std::string chosen_;  // by which setting; empty: not yet
  std::optional<Cloud> cloud_;
  Announced known_, published_;
  std::optional<Clock::Steady> answered_, published_at_;
  std::vector<std::string> doubts_;  // the last that were logged
  std::jthread thread_;
};

}  // namespace gpuward::exporter
