// Asks the cloud, on its own thread, for its plans for this machine, and keeps them in the store
// until the cloud says that they are over. Sends no request outside of the clouds that the firmware
// names. Made by the composition root.
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
  // After this time without an answer the announcements are no longer reliable.
  static constexpr std::chrono::minutes kStaleAfter{10};

  // Sends the first request at once. All references must outlive it.
  AnnouncementWatcher(HostPaths host, std::unique_ptr<http::Client> http, Store& store,
                      const CurrentPolicy& policy, Clock& clock, Log& log);
  // Returns within the few seconds that a request may take.
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
  std::string chosen_;  // the setting of cloud_; empty: not chosen yet
  std::optional<Cloud> cloud_;
  Announced known_, published_;
  std::optional<Clock::Steady> answered_, published_at_;
  std::vector<std::string> doubts_;  // the last ones logged
  std::jthread thread_;
};

}  // namespace gpuward::exporter
