#include "remediator/commands/switch_commands.h"

#include <utility>

#include "core/kube/redo_on_conflict.h"
#include "remediator/guards/switch_position.h"

namespace gpuward::remediator {
namespace {

// `stopped` is the annotation; empty: it goes on.
Status set_switch(const std::string& ns, const std::string& stopped, kube::Api& api) {
  auto config_map = api.get_config_map(ns, kSwitchName);
  const bool is_new = !config_map && config_map.error().kind == ErrorKind::kNotFound;
  if (!config_map && !is_new) return std::unexpected(config_map.error());
  kube::ConfigMap next = is_new ? kube::ConfigMap{} : *std::move(config_map);
  next.meta.ns = ns;
  next.meta.name = kSwitchName;
  next.data[std::string(kStopKey)] = stopped.empty() ? "false" : "true";
  next.meta.annotations.erase(std::string(kStoppedAnnotation));
  if (!stopped.empty()) next.meta.annotations.emplace(kStoppedAnnotation, stopped);
  const auto written = is_new ? api.create_config_map(next) : api.update_config_map(next);
  return written ? Status() : std::unexpected(written.error());
}

Status turn(const CommandFlags& flags, const std::string& stopped, kube::Api& api, Clock& clock) {
  const auto done = kube::redo_on_conflict(
      clock, [&] { return set_switch(flags.state_namespace, stopped, api); });
  return done ? done : with_context("turning the stop switch", done.error());
}

}  // namespace

Result<std::string> stop_fleet(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const auto name = api.who_am_i();
  if (!name) return with_context("asking the API server who you are", name.error());
  const std::string stopped =
      to_rfc3339(clock.wall()) + " by " + *name + (flags.reason.empty() ? "" : ": " + flags.reason);
  if (auto done = turn(flags, stopped, api, clock); !done) return std::unexpected(done.error());
  return "Stopped: gpuward begins no step on any node of this cluster. To go on: gpuwardctl "
         "start\n";
}

Result<std::string> start_fleet(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  if (auto done = turn(flags, "", api, clock); !done) return std::unexpected(done.error());
  return "Started: gpuward goes on as its policy says. What it does: gpuwardctl status\n";
}

}  // namespace gpuward::remediator
