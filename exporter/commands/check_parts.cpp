#include "exporter/commands/check_parts.h"

#include <utility>

#include "core/kube/connection.h"
#include "exporter/config/identity.h"
#include "exporter/host/boot.h"
#include "exporter/host/instance_type.h"
#include "exporter/watch/gpu_source.h"
#include "exporter/watch/node_link.h"

namespace gpuward::exporter {
namespace {

std::string instance_type(const Flags& flags, const Settings& settings, Clock& clock) {
  const auto node_label = [&]() -> Result<std::string> {
    if (flags.node_name.empty()) return fail(ErrorKind::kNotFound, "--node.name is not set");
    auto cluster = kube::find_cluster(flags.kubeconfig, flags.kube_context);
    if (!cluster) return std::unexpected(cluster.error());
    kube::Connection connection(*std::move(cluster), user_agent(), clock);
    return instance_type_at(connection, flags.node_name);
  };
  return named_by_firmware(learn_instance_type(settings.checks.instance_type, node_label),
                           machine_of(flags), settings.checks.profiles)
      .type;
}

}  // namespace

CheckParts check_parts(const Flags& flags, Settings settings, Clock& clock, Log& log) {
  CheckParts parts;
  parts.host = node_trees(flags);
  parts.host_name = host_name();
  parts.boot_id = read_boot(flags.host).id;
  parts.machine = machine_of(flags);
  parts.state_path = flags.state_path;
  parts.instance_type = instance_type(flags, settings, clock);
  const GpuTimes times{settings.checks.gpu_interval, settings.checks.gpu_timeout};
  parts.make_gpu_source = [&flags, &clock, &log, times] {
    return make_gpu_source(flags, [times] { return times; }, clock, log);
  };
  parts.policy = *CurrentPolicy(std::move(settings)).get();
  return parts;
}

}  // namespace gpuward::exporter
