#include "remediator/cli/commands/exclusion_commands.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/command_line/closest.h"
#include "core/runtime/files.h"
#include "remediator/cli/commands/command_json.h"
#include "remediator/cluster/exclusion_store.h"
#include "remediator/cluster/exclusions_json.h"
#include "remediator/cluster/remediation_store.h"
#include "remediator/tell/texts/excluded.h"
#include "remediator/tell/texts/last_command.h"

namespace gpuward::remediator {
namespace {

// Returns the names of nodes and ids of instances that can be excluded: those in the cluster and
// those in Remediations.
Result<std::vector<std::string>> known_subjects(kube::Api& api) {
  const auto nodes = api.list_nodes();
  if (!nodes) return with_context("reading the nodes", nodes.error());
  std::vector<std::string> names;
  for (const kube::Node& node : *nodes) {
    names.push_back(node.meta.name);
    if (!node.provider_id.empty())
      names.push_back(node.provider_id.substr(node.provider_id.rfind('/') + 1));
  }
  const auto remediations = RemediationStore(api).list_all();
  if (!remediations) return names;  // then an instance without a node is unknown
  for (const Remediation& one : *remediations) {
    names.push_back(one.node);
    names.push_back(one.instance_id.substr(one.instance_id.rfind('/') + 1));
  }
  return names;
}

Status require_known(const std::string& subject, kube::Api& api) {
  const auto known = known_subjects(api);
  if (!known && known.error().kind == ErrorKind::kForbidden) return {};  // no permission to read
  if (!known) return std::unexpected(known.error());
  if (std::ranges::find(*known, subject) != known->end()) return {};
  return fail(ErrorKind::kNotFound, "there is no node or instance " + subject + " in this cluster" +
                                        did_you_mean(subject, *known));
}

// Returns another reason why gpuward does not touch the node; empty if there is none, or it cannot
// be read.
std::string kept_off_by(const std::string& name, const CommandFlags& flags, kube::Api& api) {
  const auto node = api.get_node(name);
  if (!node) return {};
  const Policy policy = read_cluster_policy(api, flags.state_namespace).value_or(Policy());
  const auto why = exclusion_of(policy, *node);
  return why ? ", but gpuward leaves it alone: " + *why : "";
}

}  // namespace

Result<std::string> list_exclusions(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const auto list = store.read();
  if (!list) return std::unexpected(list.error());
  const auto nodes = api.list_nodes();
  const Policy policy = read_cluster_policy(api, flags.state_namespace).value_or(Policy());
  const Excluded excluded =
      excluded_now(*list, nodes.value_or(std::vector<kube::Node>()), policy, clock.wall());
  if (flags.output != OutputFormat::kTable)
    return in_format(flags.output, exclusions_json(excluded));
  std::string text;
  for (const auto& [subject, exclusion] : excluded)
    text += exclusion_text(subject, exclusion) + "\n";
  if (text.empty()) text = "Nothing is excluded.\n";
  return nodes ? text : text + "Not known: labels of nodes: " + nodes.error().message + "\n";
}

Result<std::string> add_exclusion(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const std::string& subject = flags.exclusion.subject;
  if (!is_exclusion_subject(subject))
    return fail(ErrorKind::kInvalid, "expected the name of a node or the ID of an instance");
  if (auto known = require_known(subject, api); !known) return std::unexpected(known.error());
  const Exclusion exclusion{.since = clock.wall(),
                            .until = clock.wall() + flags.exclusion.lasts,
                            .reason = flags.exclusion.reason,
                            .by = caller_of(flags.context_user, api)};
  const auto written = store.change([&](ExclusionList list) {
    list[subject] = exclusion;
    return Result<ExclusionList>(std::move(list));
  });
  if (!written) return std::unexpected(written.error());
  return exclusion_text(subject, exclusion) + "\n";
}

Result<std::string> remove_exclusion(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const std::string& subject = flags.exclusion.subject;
  const auto list = store.read();
  if (!list) return std::unexpected(list.error());
  if (!list->contains(subject)) {
    if (auto known = require_known(subject, api); !known) return std::unexpected(known.error());
    return subject + " is not excluded" + kept_off_by(subject, flags, api) + "\n";
  }
  const auto written = store.change([&](ExclusionList next) {
    next.erase(subject);
    return Result<ExclusionList>(std::move(next));
  });
  if (!written) return std::unexpected(written.error());
  return subject + " is no longer excluded\n";
}

Result<std::string> import_exclusions(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  ExclusionStore store(api, flags.state_namespace, clock);
  const std::string& path = flags.exclusion.file;
  const auto text = read_file(path);
  if (!text) return std::unexpected(text.error());
  auto imported = parse_exclusion_file(*text, caller_of(flags.context_user, api));
  if (!imported) return with_context(path + ": nothing is imported", imported.error());
  const auto still_on = without_expired(*std::move(imported), clock.wall());
  const auto written = store.change([&](ExclusionList list) {
    for (const auto& [subject, exclusion] : still_on) {
      const auto known = list.find(subject);
      if (known == list.end() || known->second.until < exclusion.until) list[subject] = exclusion;
    }
    return Result<ExclusionList>(std::move(list));
  });
  if (!written) return std::unexpected(written.error());
  return std::to_string(still_on.size()) + " exclusions from " + path +
         " were imported; expired ones were skipped\n";
}

}  // namespace gpuward::remediator
