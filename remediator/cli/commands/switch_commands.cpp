#include "remediator/cli/commands/switch_commands.h"

#include <utility>

#include "core/kube/redo_on_conflict.h"
#include "remediator/cluster/gates/switch_position.h"
#include "remediator/tell/texts/last_command.h"

namespace gpuward::remediator {
namespace {

struct Turned {
  bool was_so = false;     // already in that position; nothing was written
  std::string since = {};  // the annotation of an existing stop: since when, who, why
};

// Any value other than "true" and "false" also stops gpuward, but must be written again.
bool says(const kube::ConfigMap& config_map, bool is_stopped) {
  const auto entry = config_map.data.find(std::string(kStopKey));
  return entry != config_map.data.end() && entry->second == (is_stopped ? "true" : "false");
}

Status write_switch(const std::string& ns, const std::string& stopped, Result<kube::ConfigMap> read,
                    kube::Api& api) {
  const bool is_new = !read;
  kube::ConfigMap next = is_new ? kube::ConfigMap{} : *std::move(read);
  next.meta.ns = ns;
  next.meta.name = kSwitchName;
  next.data[std::string(kStopKey)] = stopped.empty() ? "false" : "true";
  next.meta.annotations.erase(std::string(kStoppedAnnotation));
  if (!stopped.empty()) next.meta.annotations.emplace(kStoppedAnnotation, stopped);
  const auto written = is_new ? api.create_config_map(next) : api.update_config_map(next);
  return written ? Status() : std::unexpected(written.error());
}

// `stopped` is the annotation; empty: gpuward is started.
Result<Turned> turn(const CommandFlags& flags, const std::string& stopped, kube::Api& api,
                    Clock& clock) {
  const std::string& ns = flags.state_namespace;
  const auto turned = kube::redo_on_conflict(clock, [&]() -> Result<Turned> {
    auto read = api.get_config_map(ns, kSwitchName);
    if (!read && read.error().kind != ErrorKind::kNotFound) return std::unexpected(read.error());
    if (read && says(*read, !stopped.empty())) {
      const auto since = read->meta.annotations.find(std::string(kStoppedAnnotation));
      return Turned{.was_so = true,
                    .since = since == read->meta.annotations.end() ? "" : since->second};
    }
    auto written = write_switch(ns, stopped, std::move(read), api);
    return written ? Result<Turned>(Turned{}) : std::unexpected(written.error());
  });
  return turned ? turned : with_context("changing the stop switch", turned.error());
}

}  // namespace

Result<std::string> stop_fleet(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const std::string stopped = to_rfc3339(clock.wall()) + " by " +
                              caller_of(flags.context_user, api) +
                              (flags.reason.empty() ? "" : ": " + flags.reason);
  const auto turned = turn(flags, stopped, api, clock);
  if (!turned) return std::unexpected(turned.error());
  const std::string to_go_on = " To resume: gpuwardctl start\n";
  if (turned->was_so) {
    return "Already stopped" + (turned->since.empty() ? "" : " since " + turned->since) + "." +
           to_go_on;
  }
  return "Stopped: gpuward takes no new steps in this cluster." + to_go_on;
}

Result<std::string> start_fleet(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto turned = turn(flags, "", api, clock);
  if (!turned) return std::unexpected(turned.error());
  return std::string(turned->was_so ? "Already started" : "Started") +
         ": gpuward follows its policy again. To see what it does: gpuwardctl status\n";
}

}  // namespace gpuward::remediator
