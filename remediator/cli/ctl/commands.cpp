#include "remediator/cli/ctl/commands.h"

#include <array>
#include <utility>

#include "remediator/cli/commands/cluster_access.h"
#include "remediator/cli/commands/doctor.h"
#include "remediator/cli/commands/exclusion_commands.h"
#include "remediator/cli/commands/explain.h"
#include "remediator/cli/commands/fleet_status.h"
#include "remediator/cli/commands/list_command.h"
#include "remediator/cli/commands/operator_commands.h"
#include "remediator/cli/commands/policy_commands.h"
#include "remediator/cli/commands/replay_command.h"
#include "remediator/cli/commands/reset_command.h"
#include "remediator/cli/commands/runbook_command.h"
#include "remediator/cli/commands/switch_commands.h"
#include "remediator/cli/commands/version_command.h"
#include "remediator/cli/ctl/words.h"

namespace gpuward::remediator {
namespace {

constexpr std::string_view kLook = "Look";
constexpr std::string_view kNode = "Act on one node";
constexpr std::string_view kAll = "Act on all nodes";
constexpr std::string_view kPolicy = "Try a policy";
constexpr std::string_view kOther = "Other";
constexpr std::array kGroups{kLook, kNode, kAll, kPolicy, kOther};

Result<CommandOutput> output_of(Result<std::string> text) {
  if (!text) return std::unexpected(text.error());
  return CommandOutput{*std::move(text)};
}

Result<CommandOutput> output_of(Result<ResetResult> reset) {
  if (!reset) return std::unexpected(reset.error());
  return CommandOutput{.text = std::move(reset->table), .all_done = reset->all_done};
}

Result<CommandOutput> output_of(Result<RemediationList> list) {
  if (!list) return std::unexpected(list.error());
  return CommandOutput{.text = std::move(list->text), .ageless = std::move(list->ageless)};
}

Result<CommandOutput> output_of(Result<ShownStatus> shown) {
  if (!shown) return std::unexpected(shown.error());
  return CommandOutput{.text = std::move(shown->text),
                       .all_done = shown->is_in_order,
                       .ageless = std::move(shown->ageless)};
}

Result<CommandOutput> output_of(Result<Diagnosis> diagnosis) {
  if (!diagnosis) return std::unexpected(diagnosis.error());
  return CommandOutput{.text = std::move(diagnosis->text), .all_done = diagnosis->is_connected};
}

Result<Foreseen> output_of(Result<Foreseen> foreseen) { return foreseen; }

// A command that needs the cluster.
template <auto kCommand>
auto in_cluster(const CommandFlags& flags, Clock& clock)
    -> decltype(output_of(kCommand(flags, std::declval<kube::Api&>(), clock))) {
  const auto cluster = ClusterAccess::open(flags, clock);
  if (!cluster) return std::unexpected(cluster.error());
  CommandFlags in_context = flags;
  in_context.context_user = (*cluster)->user();
  return output_of(kCommand(in_context, (*cluster)->api(), clock));
}

// A command that needs no cluster, or only sometimes.
template <auto kCommand>
Result<CommandOutput> alone(const CommandFlags& flags, Clock& clock) {
  return output_of(kCommand(flags, clock));
}

constexpr std::array kCommands{
    CtlCommand{"status", kLook, "Show the fleet: leader, open and held remediations, budgets",
               "gpuwardctl status\ngpuwardctl status --watch", add_status_words,
               in_cluster<show_status>, true},
    CtlCommand{"list", kLook, "List the open remediations and the excluded nodes",
               "gpuwardctl list --watch\ngpuwardctl list gpu-01 --all -o wide\n"
               "gpuwardctl list --all --sort-by=.metadata.creationTimestamp",
               add_list_words, in_cluster<list_remediations>, true},
    CtlCommand{"explain", kLook, "Explain the state of a node and the reason for it",
               "gpuwardctl explain gpu-01", add_explain_words, in_cluster<explain_node>, true},
    CtlCommand{"doctor", kLook,
               "Check each link from a finding to its remediation and name the broken one",
               "gpuwardctl doctor\ngpuwardctl doctor gpu-01", add_doctor_words,
               in_cluster<run_doctor>, true},
    CtlCommand{"breaker", kLook, "Show whether the circuit breaker is open",
               "gpuwardctl breaker\ngpuwardctl breaker close", add_output_words,
               in_cluster<show_breaker>, true},
    CtlCommand{"breaker close", kAll, "Close the circuit breaker, so that steps can begin",
               "gpuwardctl breaker close --dry-run\ngpuwardctl breaker close",
               add_confirmation_words, in_cluster<close_the_breaker>, false, true,
               in_cluster<foresee_breaker_close>},
    CtlCommand{"runbook", kLook, "Print the runbook of an alert, or list all",
               "gpuwardctl runbook\ngpuwardctl runbook GpuFallenOffBus", add_runbook_words,
               alone<run_runbook_command>, false, false},
    CtlCommand{"approve", kNode, "Approve the pending step of a node (valid for one hour)",
               "gpuwardctl approve gpu-01 3f2a9c41d0", add_approve_words, in_cluster<approve_step>},
    CtlCommand{"pause", kNode, "Pause the remediation of a node; its taint and cordon stay",
               "gpuwardctl pause gpu-01", add_node_words, in_cluster<pause_node>},
    CtlCommand{"resume", kNode, "Resume a paused remediation", "gpuwardctl resume gpu-01",
               add_node_words, in_cluster<resume_node>},
    CtlCommand{
        "cancel", kNode, "Remove gpuward's taint and cordon from a node and close its remediation",
        "gpuwardctl cancel gpu-01 --dry-run\ngpuwardctl cancel gpu-01", add_confirmed_node_words,
        in_cluster<cancel_node>, false, true, in_cluster<foresee_cancel>},
    CtlCommand{"machine-replaced", kNode, "Record that the machine behind a node was replaced",
               "gpuwardctl machine-replaced gpu-01", add_confirmed_node_words,
               in_cluster<note_machine_replaced>, false, true,
               in_cluster<foresee_machine_replaced>},
    CtlCommand{"exclude", kNode, "Exclude a node or an instance from gpuward for a limited time",
               "gpuwardctl exclude gpu-01 --for 12h --reason firmware\n"
               "gpuwardctl exclude i-0123456789abcdef0",
               add_exclude_words, in_cluster<add_exclusion>},
    CtlCommand{"exclusions", kLook, "Manage exclusions: list, remove, import",
               "gpuwardctl exclusions list", nullptr, nullptr},
    CtlCommand{"exclusions list", kLook, "List exclusions with their reason and expiry",
               "gpuwardctl exclusions list", add_output_words, in_cluster<list_exclusions>},
    CtlCommand{"exclusions remove", kNode, "Remove an exclusion before it expires",
               "gpuwardctl exclusions remove gpu-01", add_excluded_words,
               in_cluster<remove_exclusion>},
    CtlCommand{"exclusions import", kAll,
               "Import exclusions from the EKS resilience monitor (JSON)",
               "gpuwardctl exclusions import exclusions.json", add_import_words,
               in_cluster<import_exclusions>},
    CtlCommand{"stop", kAll, "Stop all steps on all nodes, until `start`",
               "gpuwardctl stop network maintenance\ngpuwardctl stop --reason maintenance",
               add_stop_words, in_cluster<stop_fleet>},
    CtlCommand{"start", kAll, "Resume after `stop`", "gpuwardctl start", nullptr,
               in_cluster<start_fleet>},
    CtlCommand{"reset", kAll, "Remove one of gpuward's taints from all nodes",
               "gpuwardctl reset --dry-run\n"
               "gpuwardctl reset --taint trainy.konduktor.ai/faulty --cancel",
               add_reset_words, in_cluster<reset_taints>, false, true, in_cluster<foresee_reset>},
    CtlCommand{"policy", kPolicy, "Look at a policy file: check, explain, schema",
               "gpuwardctl policy check policy.yaml", nullptr, nullptr, false, false},
    CtlCommand{
        "policy check", kPolicy, "Check a policy file and name each error with its line",
        "gpuwardctl policy check policy.yaml\n"
        "kubectl -n gpuward get configmap gpuward-remediator -o yaml | gpuwardctl policy check -",
        add_policy_words, alone<check_policy>, false, false},
    CtlCommand{"policy explain", kPolicy, "Show the steps of a policy for a node",
               "gpuwardctl policy explain policy.yaml --labels pool=a100,zone=a --severity reset\n"
               "gpuwardctl policy explain policy.yaml --node gpu-01",
               add_policy_explain_words, alone<explain_policy_file>},
    CtlCommand{"policy schema", kPolicy, "Print the JSON Schema of a policy, for your editor",
               "gpuwardctl policy schema > policy.schema.json", nullptr, alone<print_policy_schema>,
               false, false},
    CtlCommand{"replay", kPolicy, "Replay past alerts against a policy",
               "gpuwardctl replay policy.yaml --prometheus.url http://prometheus:9090 --since 30d\n"
               "gpuwardctl replay policy.yaml --history history.json --nodes nodes.json -o json",
               add_replay_words, alone<run_replay>},
    CtlCommand{"version", kOther, "Print the versions of this program and of the remediator",
               "gpuwardctl version", nullptr, alone<print_version>},
};

}  // namespace

std::span<const CtlCommand> ctl_commands() { return kCommands; }

std::span<const std::string_view> ctl_groups() { return kGroups; }

}  // namespace gpuward::remediator
