#include "exporter/commands/all.h"

#include <array>

#include "exporter/commands/amd_health_command.h"
#include "exporter/commands/check_command.h"
#include "exporter/commands/collect_evidence_command.h"
#include "exporter/commands/config_command.h"
#include "exporter/commands/findings_command.h"
#include "exporter/commands/gpu_release_command.h"
#include "exporter/commands/gpu_reset_command.h"
#include "exporter/commands/gpu_users_command.h"
#include "exporter/commands/gpu_worker_command.h"
#include "exporter/commands/inject_command.h"
#include "exporter/commands/nccl_pair_command.h"
#include "exporter/commands/node_reboot_command.h"
#include "exporter/commands/parse_log_command.h"
#include "exporter/commands/preflight_command.h"
#include "exporter/commands/probe_command.h"
#include "exporter/commands/quarantine_command.h"
#include "exporter/commands/self_test_command.h"
#include "exporter/commands/sweep_command.h"

namespace gpuward::exporter {

std::span<const AddCommand> all_commands() {
  static const std::array<AddCommand, 18> kCommands{
      add_parse_log_command,  add_findings_command,    add_check_command,
      add_preflight_command,  add_sweep_command,       add_quarantine_command,
      add_nccl_pair_command,  add_gpu_users_command,   add_gpu_release_command,
      add_gpu_reset_command,  add_node_reboot_command, add_collect_evidence_command,
      add_amd_health_command, add_self_test_command,   add_gpu_worker_command,
      add_inject_command,     add_config_command,      add_probe_command};
  return kCommands;
}

}  // namespace gpuward::exporter
