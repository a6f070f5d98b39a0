#include "exporter/publish/families.h"

namespace gpuward::exporter {
namespace {

using enum metrics::Type;

void append_kernel_log(const Snapshot& snapshot, Families& families) {
  const LogNumbers& log = snapshot.log;
  declare(families,
          {"gpuward_kernel_log_up",
           "Whether the kernel log can be read. While it cannot be read, findings do not change."},
          !snapshot.health.kernel_log_fault);
  declare(families,
          {"gpuward_kernel_log_lines_total", "Records read from the kernel log.", kCounter},
          log.lines);
  declare(families, {"gpuward_kernel_log_bytes_total", "Bytes read from the kernel log.", kCounter},
          log.bytes);
  declare(families,
          {"gpuward_kernel_log_gaps_total",
           "How many times records were overwritten before they could be read.", kCounter},
          log.gaps);
  declare(families,
          {"gpuward_kernel_log_lost_records_total",
           "Records that were overwritten before they could be read.", kCounter},
          log.lost_records);
  declare(families,
          {"gpuward_kernel_log_user_space_lines_total",
           "Records written by programs, not by the kernel.", kCounter},
          log.user_space_lines);
  declare(families,
          {"gpuward_kernel_log_history_events_total",
           "Events of an earlier boot, or more than 2 h old when the exporter starts without a "
           "saved position. They are counted and listed, but justify no action until a reading "
           "confirms them.",
           kCounter},
          log.history_events);
  declare(families,
          {"gpuward_kernel_log_unknown_headers_total",
           "Lines of a text log that contain a GPU event but have an unknown header: gpuward does "
           "not count the event.",
           kCounter},
          log.unknown_headers);
  declare(families,
          {"gpuward_kernel_log_dropped_events_total",
           "Events not counted because there are too many distinct ones (4096 series); known codes "
           "on known GPUs are never dropped.",
           kCounter},
          snapshot.state.dropped_events);
  declare(families,
          {"gpuward_kernel_log_parse_seconds_total", "Time spent parsing records.", kCounter},
          log.parse_time);
}

// The writes to this node's Node object; no series if the exporter writes none.
void append_node_publishing(const std::optional<NodePublishing>& node, Families& families) {
  constexpr std::string_view kNobodyWrites = "when node publishing is off";
  if (!node) return;
  declare(families,
          {"gpuward_node_publishing_up",
           "Whether labels, taint, annotations and condition of the node are up to date.",
           kGauge,
           {},
           kNobodyWrites},
          !node->fault);
  declare(families,
          {"gpuward_node_tainted",
           "Whether the node has the exporter's own taint, as it was last read or written.",
           kGauge,
           {},
           kNobodyWrites},
          node->is_tainted);
  declare(families,
          {"gpuward_node_publishing_failures_total",
           "How many times the node could not be read or written.",
           kCounter,
           {},
           kNobodyWrites},
          node->failures);
  declare(
      families,
      {"gpuward_node_publishing_last_success_timestamp_seconds",
       "When labels, taint, annotations and condition of the node were last up to date; 0: never.",
       kGauge,
       {},
       kNobodyWrites},
      node->last_success);
}

void append_loki_pushing(const std::optional<LokiPushing>& loki, Families& families) {
  constexpr std::string_view kNobodySends = "without `--loki.push-url`";
  if (!loki) return;
  declare(families,
          {"gpuward_loki_push_up",
           "Whether Loki accepted the last kernel lines that were sent to it.",
           kGauge,
           {},
           kNobodySends},
          !loki->fault);
  auto& lines = declare(families, {"gpuward_loki_push_lines_total",
                                   "Kernel lines by result: `sent`, or `lost` because Loki refused "
                                   "them or too many were waiting.",
                                   kCounter,
                                   {"result"},
                                   kNobodySends});
  lines.add({"sent"}, loki->sent);
  lines.add({"lost"}, loki->lost);
}

}  // namespace

void append_self_families(const Snapshot& snapshot, Families& families) {
  append_kernel_log(snapshot, families);
  const Health& health = snapshot.health;
  declare(families, {"gpuward_inventory_up", "Whether the GPUs of the node are known."},
          !health.inventory_fault);
  append_node_publishing(health.node, families);
  append_loki_pushing(health.loki, families);
  declare(families,
          {"gpuward_state_last_save_successful",
           "Whether the counters, findings and log position could be saved. At 0, a restart would "
           "count the events that are still in the kernel log a second time."},
          !health.state_fault);
  declare(
      families,
      {"gpuward_state_set_aside",
       "1 if the state was unreadable at startup and the exporter uses the previous save; 2 if the "
       "previous save was unreadable too: counters start at 0, saved findings are lost, and old "
       "kernel log lines count as history. The unreadable file is `state.json.broken`."},
      static_cast<double>(health.state_found));
  declare(families,
          {"gpuward_config_last_reload_successful",
           "0 while the newest configuration is invalid and the previous one is in force."},
          health.was_last_reload_good);
  declare(families,
          {"gpuward_config_last_reload_success_timestamp_seconds",
           "When the configuration in force was read."},
          health.last_good_reload);
  declare(families, {"gpuward_boot_info", "1; each boot has its own series.", kGauge, {"boot_id"}})
      .add({snapshot.state.boot_id}, 1);
}

}  // namespace gpuward::exporter
