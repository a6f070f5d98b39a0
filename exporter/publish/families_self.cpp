#include "core/metrics/process.h"
#include "exporter/publish/families.h"
#include "exporter/publish/gpu_labels.h"

namespace gpuward::exporter {
namespace {

using metrics::counter;
using metrics::Family;
using metrics::gauge;
using metrics::Type;

void append_kernel_log(const Snapshot& snapshot, Families& families) {
  const LogNumbers& log = snapshot.log;
  const auto add = [&](const char* name, const char* help, std::uint64_t value) {
    families.push_back(counter(name, help, static_cast<double>(value)));
  };
  add("gpuward_kernel_log_lines_total", "Records read from the kernel log.", log.lines);
  add("gpuward_kernel_log_bytes_total", "Bytes read from the kernel log.", log.bytes);
  add("gpuward_kernel_log_gaps_total", "Times that records were gone before they could be read.",
      log.gaps);
  add("gpuward_kernel_log_lost_records_total", "Records that were gone before they could be read.",
      log.lost_records);
  add("gpuward_kernel_log_user_space_lines_total",
      "Records that user space has written into the kernel log.", log.user_space_lines);
  add("gpuward_kernel_log_dropped_events_total",
      "Events not counted because there are too many distinct ones.",
      snapshot.state.dropped_events);
  families.push_back(counter("gpuward_kernel_log_parse_seconds_total",
                             "Time spent on reading events out of records.",
                             std::chrono::duration<double>(log.parse_time).count()));
  families.push_back(gauge("gpuward_kernel_log_up", "Whether the kernel log can be read.",
                           to_number(!snapshot.health.kernel_log_fault)));
}

// What we write to our own Node object; nothing where nobody writes.
void append_node_publishing(const std::optional<NodePublishing>& node, Families& families) {
  if (!node) return;
  families.push_back(gauge("gpuward_node_publishing_up",
                           "Whether labels, taint, annotation and condition of the node say what "
                           "they should.",
                           to_number(!node->fault)));
  families.push_back(
      gauge("gpuward_node_tainted",
            "Whether the node bears the exporter's own taint, as it was last read or written.",
            to_number(node->is_tainted)));
  families.push_back(counter("gpuward_node_publishing_failures_total",
                             "Times the node could not be read or written.",
                             static_cast<double>(node->failures)));
  families.push_back(gauge("gpuward_node_publishing_last_success_timestamp_seconds",
                           "When the node was last found or made as it should be; 0: never.",
                           to_seconds(node->last_success)));
}

}  // namespace

void append_self_families(const Snapshot& snapshot, Families& families) {
  append_kernel_log(snapshot, families);
  const Health& health = snapshot.health;
  families.push_back(gauge("gpuward_inventory_up", "Whether the GPUs of the node are known.",
                           to_number(!health.inventory_fault)));
  families.push_back(gauge("gpuward_state_last_save_successful",
                           "Whether what must survive a restart could be saved.",
                           to_number(!health.state_fault)));
  families.push_back(
      gauge("gpuward_state_set_aside",
            "Whether the state could not be read at the start, so that counting began anew.",
            to_number(health.was_state_set_aside)));
  families.push_back(gauge("gpuward_config_last_reload_successful",
                           "Whether the newest configuration is the one in force.",
                           to_number(health.was_last_reload_good)));
  families.push_back(gauge("gpuward_config_last_reload_success_timestamp_seconds",
                           "When the configuration in force was loaded.",
                           to_seconds(health.last_good_reload)));
  append_node_publishing(health.node, families);
  Family boot{"gpuward_boot_info", "The boot that this is.", Type::kGauge, {}};
  boot.samples.push_back({{{"boot_id", snapshot.state.boot_id}}, 1});
  families.push_back(std::move(boot));
}

}  // namespace gpuward::exporter
