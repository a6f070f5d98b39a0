#include "remediator/cli/ctl/words.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/command_line/client_file_options.h"
#include "core/command_line/output_option.h"
#include "core/runtime/yaml_scalars.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;

// Adds a flag for a time such as 30m.
CLI::Option* add_time(CLI::App& command, const std::string& name, milliseconds& out,
                      const std::string& preset, const std::string& about,
                      milliseconds longest = milliseconds::max()) {
  return command
      .add_option_function<std::string>(
          name,
          [name, &out, longest](const std::string& word) {
            const auto time = parse_duration(word);
            if (!time || time->count() <= 0)
              throw CLI::ValidationError(name, "must be a time such as 2s, 30m, 12h or 7d");
            if (*time > longest)
              throw CLI::ValidationError(name, "must be at most " + to_duration_text(longest));
            out = *time;
          },
          about)
      ->default_str(preset);
}

void add_watch(CLI::App& command, CommandFlags& flags) {
  command.add_flag("-w,--watch", flags.watches, "Check every 2 s and print changes, until Ctrl-C");
}

// Accepts `node/gpu-01` of kubectl, and `remediation.gpuward.dev/NAME` of `list -o name`.
std::string without_kind(const std::string& word) {
  constexpr std::array<std::string_view, 7> kKinds = {"node",
                                                      "nodes",
                                                      "no",
                                                      "remediation",
                                                      "remediations",
                                                      "remediation.gpuward.dev",
                                                      "remediations.gpuward.dev"};
  const auto slash = word.find('/');
  if (slash == std::string::npos) return word;
  const bool is_kind = std::ranges::find(kKinds, word.substr(0, slash)) != kKinds.end();
  return is_kind ? word.substr(slash + 1) : word;
}

template <typename Names>
CLI::Option* add_node_option(CLI::App& command, const std::string& word, Names& out,
                             const std::string& about) {
  return command.add_option(word, out, about)->transform(without_kind)->type_name(kNodeType);
}

void add_label(const std::string& word, kube::Labels& labels) {
  const auto equals = word.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw CLI::ValidationError("--labels", "each must be key=value");
  labels[word.substr(0, equals)] = word.substr(equals + 1);
}

}  // namespace

void add_cluster_words(CLI::App& app, CommandFlags& flags) {
  app.add_option("--kubeconfig", flags.kubeconfig,
                 "Kubeconfig; default: $KUBECONFIG, ~/.kube/config, the pod's account")
      ->group(kClusterGroup);
  app.add_option("--context", flags.context, "Context of the kubeconfig")->group(kClusterGroup);
  CLI::Option* const as =
      app.add_option("--as", flags.as_user, "User to act as (impersonation)")->group(kClusterGroup);
  app.add_option("--as-group", flags.as_groups, "Group to act as; may be repeated")
      ->needs(as)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(kClusterGroup);
  app.add_option("-n,--namespace", flags.state_namespace, "Namespace of the remediator")
      ->envname("POD_NAMESPACE")
      ->capture_default_str()
      ->group(kClusterGroup);
  add_time(app, "--request-timeout", flags.request_timeout, "2s",
           "How long to wait for the API server's first answer")
      ->group(kClusterGroup);
}

void add_status_words(CLI::App& command, CommandFlags& flags) {
  add_output_option(command, flags.output, {"table", "wide", "json", "yaml"});
  command.add_flag("--exit-code", flags.exit_code,
                   "Fail if a source is not connected, no replica leads, steps are stopped or the "
                   "breaker is open");
  add_watch(command, flags);
}

void add_doctor_words(CLI::App& command, CommandFlags& flags) {
  add_node_option(command, "node", flags.node, "Name of a node; default: the whole fleet");
  add_time(command, "--wait", flags.wait, "0s", "How long to wait for all links to work");
  add_output_words(command, flags);
}

void add_list_words(CLI::App& command, CommandFlags& flags) {
  ListFlags& list = flags.list;
  add_node_option(command, "node", list.names, "Nodes or remediations; default: all");
  command.add_flag("--all", list.is_all, "List closed remediations too");
  add_output_option(command, flags.output, {"table", "wide", "json", "yaml", "name", "nodes"});
  command.add_option("-l,--selector", list.selector,
                     "Labels of the remediations: key=value,key!=value,key in (a,b),key,!key");
  command.add_option("--sort-by", list.sort_by,
                     "Path of a field to sort by, such as .metadata.creationTimestamp");
  command.add_flag("--no-headers", list.has_no_headers,
                   "Print only the rows: no headers, no excluded nodes");
  add_watch(command, flags);
}

void add_output_words(CLI::App& command, CommandFlags& flags) {
  add_output_option(command, flags.output);
}

void add_node_words(CLI::App& command, CommandFlags& flags) {
  add_node_option(command, "node", flags.node, "Name of the node")->required();
}

void add_explain_words(CLI::App& command, CommandFlags& flags) {
  add_node_words(command, flags);
  add_output_words(command, flags);
}

void add_approve_words(CLI::App& command, CommandFlags& flags) {
  add_node_words(command, flags);
  command.add_option("token", flags.token, "The token that `list` and `explain` show")->required();
}

void add_stop_words(CLI::App& command, CommandFlags& flags) {
  CLI::Option* const words = command.add_option_function<std::vector<std::string>>(
      "reason",
      [&flags](const std::vector<std::string>& given) {
        flags.reason = CLI::detail::join(given, " ");
      },
      "The reason that `status` shows: one word or several");
  command.add_option("--reason", flags.reason, "The reason as a single argument")->excludes(words);
}

void add_reset_words(CLI::App& command, CommandFlags& flags) {
  add_confirmation_words(command, flags);
  command.add_option("--taint", flags.taint, "Its key")->capture_default_str();
  command.add_flag("--cancel", flags.cancels,
                   "Also cancel open remediations (otherwise nodes with one are refused)");
}

void add_confirmation_words(CLI::App& command, CommandFlags& flags) {
  command.add_flag("--dry-run", flags.dry_run, "Print what would change, and change nothing");
  command.add_flag("--yes", flags.is_confirmed, "Do not ask for confirmation");
}

void add_confirmed_node_words(CLI::App& command, CommandFlags& flags) {
  add_node_words(command, flags);
  add_confirmation_words(command, flags);
}

void add_exclude_words(CLI::App& command, CommandFlags& flags) {
  add_excluded_words(command, flags);
  add_time(command, "--for", flags.exclusion.lasts, "30m", "How long: 30m, 12h, 7d; at most 366d",
           kLongestExclusion);
  command.add_option("--reason", flags.exclusion.reason, "The reason that `exclusions list` shows");
}

void add_excluded_words(CLI::App& command, CommandFlags& flags) {
  add_node_option(command, "name", flags.exclusion.subject, "Name of a node or ID of an instance")
      ->required();
}

void add_import_words(CLI::App& command, CommandFlags& flags) {
  command.add_option("file", flags.exclusion.file, "Its JSON file")->required();
}

void add_policy_words(CLI::App& command, CommandFlags& flags) {
  command
      .add_option("file", flags.policy_file,
                  "YAML file with the policy, a ConfigMap or Helm values; - for standard input")
      ->required();
  command.add_option_function<std::string>(
      "--mode",
      [&flags](const std::string& word) {
        flags.mode = parse_mode(word);
        if (!flags.mode)
          throw CLI::ValidationError("--mode", "must be one of observe, taint, cordon, full");
      },
      "observe, taint, cordon or full; overrides the policy file");
}

void add_policy_explain_words(CLI::App& command, CommandFlags& flags) {
  add_policy_words(command, flags);
  CLI::Option* const labels = command
                                  .add_option_function<std::vector<std::string>>(
                                      "--labels",
                                      [&flags](const std::vector<std::string>& words) {
                                        for (const std::string& word : words)
                                          add_label(word, flags.labels);
                                      },
                                      "Labels of the node: key=value,key=value")
                                  ->delimiter(',');
  add_node_option(command, "--node", flags.node, "Read the labels from this node of the cluster")
      ->excludes(labels);
  command.add_option_function<std::string>(
      "--severity",
      [&flags](const std::string& word) {
        flags.severity = parse_severity(word);
        if (!flags.severity || *flags.severity == Severity::kNone)
          throw CLI::ValidationError("--severity",
                                     "must be one of isolate, reboot, reset, monitor");
      },
      "isolate, reboot, reset or monitor; default: all");
}

void add_replay_words(CLI::App& command, CommandFlags& flags) {
  add_policy_words(command, flags);
  CLI::Option* const history =
      command.add_option("--history", flags.replay.history,
                         "File with the response of Prometheus' /api/v1/query_range to "
                         "ALERTS{alertstate=\"firing\"}, instead of --prometheus.url");
  command.add_option_function<std::string>(
      "--prometheus.url",
      [&flags](const std::string& url) {
        if (!url.starts_with("http://") && !url.starts_with("https://"))
          throw CLI::ValidationError("--prometheus.url", "must begin with http:// or https://");
        flags.replay.prometheus_url = url;
      },
      "Prometheus to read the history of the alerts from");
  add_client_file_options(command, "--prometheus", flags.replay.prometheus_files);
  add_time(command, "--since", flags.replay.since, "7d",
           "How far back to query Prometheus: 12h, 30d")
      ->excludes(history);
  command.add_option("--nodes", flags.replay.nodes,
                     "Output of `kubectl get nodes -o json`, instead of --kubeconfig");
  command.add_flag("--approve", flags.replay.approves_all,
                   "Approve each step that waits for approval");
  add_output_words(command, flags);
}

void add_runbook_words(CLI::App& command, CommandFlags& flags) {
  command.add_option("alert", flags.alert, "Name of the alert; default: list all")
      ->type_name(kAlertType);
  add_output_option(command, flags.output, {"table", "name"});
}

}  // namespace gpuward::remediator
