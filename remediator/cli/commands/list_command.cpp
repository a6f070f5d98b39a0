#include "remediator/cli/commands/list_command.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/command_line/table.h"
#include "core/runtime/json.h"
#include "remediator/cli/commands/command_json.h"
#include "remediator/cli/commands/json_path.h"
#include "remediator/cluster/remediation_json.h"
#include "remediator/tell/texts/excluded.h"
#include "remediator/tell/texts/standing.h"

namespace gpuward::remediator {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Listed {
  Remediation remediation;
  std::shared_ptr<const Json> object = {};  // null if the flags need no field of it
};

std::string step_text(const Remediation& one) {
  const auto& steps = one.status.steps;
  if (steps.empty()) return "-";
  return std::string(to_string(steps.back().step)) + " " +
         std::string(to_string(steps.back().result));
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// The columns of the wide list before the message.
std::vector<std::string> wide_cells(const Remediation& one) {
  return {std::string(to_string(one.status.mode)), or_dash(one.status.rule), step_text(one),
          awaits_approval(one) ? one.status.approval->token : "-", or_dash(one.instance_id)};
}

void insert_before_last(std::vector<std::string>& row, const std::vector<std::string>& cells) {
  row.insert(row.end() - 1, cells.begin(), cells.end());
}

bool are_for_programs(OutputFormat format) {
  return format == OutputFormat::kJson || format == OutputFormat::kYaml;
}

bool is_named(const std::string& name, const ListFlags& flags) {
  return flags.names.empty() || std::ranges::find(flags.names, name) != flags.names.end();
}

bool is_asked_for(const Remediation& one, const ListFlags& flags) {
  return (flags.is_all || one.open()) && (is_named(one.node, flags) || is_named(one.name, flags));
}

Result<std::vector<Listed>> read_listed(const CommandFlags& flags, kube::Api& api) {
  const bool keeps_objects = are_for_programs(flags.output) || !flags.list.sort_by.empty();
  std::vector<Listed> found;
  const auto visited = api.visit(remediation_collection(), flags.list.selector,
                                 {.on_restart = [&] { found.clear(); },
                                  .on_object =
                                      [&](const Json& object) {
                                        auto one = read_remediation(object);
                                        if (!one || !is_asked_for(*one, flags.list)) return;
                                        found.push_back({.remediation = *std::move(one)});
                                        if (keeps_objects)
                                          found.back().object =
                                              std::make_shared<const Json>(object);
                                      }});
  if (!visited) return unreadable_remediations(visited.error());
  return found;
}

// Orders open ones first, then the newest.
bool comes_before(const Listed& left, const Listed& right) {
  const Remediation &a = left.remediation, &b = right.remediation;
  if (a.open() != b.open()) return a.open();
  if (a.created != b.created) return a.created > b.created;
  return a.name < b.name;
}

// Works like kubectl: objects without the field come first, and a field that no object has is an
// error.
Status sort_by_path(std::vector<Listed>& list, const std::string& text) {
  const auto path = JsonPath::parse(text);
  if (!path) return with_context("--sort-by", path.error());
  const auto value = [&](const Listed& one) -> const Json& { return path->in(*one.object); };
  const bool is_known =
      std::ranges::any_of(list, [&](const Listed& one) { return !value(one).is_null(); });
  if (!list.empty() && !is_known)
    return fail(ErrorKind::kInvalid, "--sort-by: no remediation has the field " + text);
  std::ranges::sort(list, [&](const Listed& left, const Listed& right) {
    if (is_less(value(left), value(right))) return true;
    if (is_less(value(right), value(left))) return false;
    return comes_before(left, right);
  });
  return {};
}

std::string table_of(const std::vector<Listed>& list, const CommandFlags& flags, WallTime now) {
  const bool is_wide = flags.output == OutputFormat::kWide;
  Rows rows{{"NAME", "NODE", "SEVERITY", "FOUND", "PHASE", "RULE", "AGE", "MESSAGE"}};
  if (is_wide) insert_before_last(rows[0], {"MODE", "RULE", "STEP", "TOKEN", "INSTANCE"});
  if (flags.list.has_no_headers) rows.clear();
  for (const auto& [one, object] : list) {
    const auto& findings = one.status.findings;
    rows.push_back({one.name, one.node, std::string(to_string(one.acted_severity())),
                    findings.empty() ? "-" : summary_of(findings.front()),
                    std::string(to_string(one.status.phase)),
                    or_dash(std::string(rule_waited_for(one))),
                    one.created ? age_text(*one.created, now) : "-", reason_of(one, now)});
    if (is_wide) insert_before_last(rows.back(), wide_cells(one));
  }
  return table_text(rows);
}

std::string emptiness_text(const ListFlags& flags) {
  if (flags.has_no_headers) return {};
  if (flags.is_all) return "There are no remediations.\n";
  return "There are no open remediations. To list closed ones too: gpuwardctl list --all\n";
}

std::string names_text(const std::vector<Listed>& list) {
  std::string text;
  for (const Listed& one : list) text += "remediation.gpuward.dev/" + one.remediation.name + "\n";
  return text;
}

// Prints each node once.
std::string nodes_text(const std::vector<Listed>& list) {
  std::set<std::string> seen;
  std::string text;
  for (const Listed& one : list) {
    if (seen.insert(one.remediation.node).second) text += one.remediation.node + "\n";
  }
  return text;
}

Result<std::string> text_for_programs(const std::vector<Listed>& list, OutputFormat format) {
  std::vector<kube::CustomObject> objects;
  for (const Listed& one : list) objects.push_back({.meta = {}, .json = one.object});
  return in_format(format, list_json(objects));
}

// Printed below the table, for people.
std::string excluded_text(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  const ExcludedReading reading = read_excluded(flags.state_namespace, api, clock);
  std::string text;
  for (const auto& [name, exclusion] : reading.excluded) {
    if (is_named(name, flags.list)) text += exclusion_text(name, exclusion) + "\n";
  }
  for (const std::string& unknown : reading.unknown) text += "Not known: " + unknown + "\n";
  return text.empty() ? text : "\n" + text;
}

}  // namespace

Result<RemediationList> list_remediations(const CommandFlags& flags, kube::Api& api, Clock& clock) {
  auto list = read_listed(flags, api);
  if (!list) return std::unexpected(list.error());
  std::ranges::sort(*list, comes_before);
  if (!flags.list.sort_by.empty()) {
    if (auto sorted = sort_by_path(*list, flags.list.sort_by); !sorted)
      return std::unexpected(sorted.error());
  }
  const auto same = [](const std::string& text) { return RemediationList{text, text}; };
  if (flags.output == OutputFormat::kName) return same(names_text(*list));
  if (flags.output == OutputFormat::kNodes) return same(nodes_text(*list));
  if (are_for_programs(flags.output)) {
    auto text = text_for_programs(*list, flags.output);
    if (!text) return std::unexpected(text.error());
    return same(*text);
  }
  const std::string below =
      flags.list.has_no_headers ? std::string() : excluded_text(flags, api, clock);
  if (list->empty()) return same(emptiness_text(flags.list) + below);
  return RemediationList{table_of(*list, flags, clock.wall()) + below,
                         table_of(*list, flags, WallTime{}) + below};
}

std::unexpected<Error> unreadable_remediations(const Error& error) {
  if (error.kind != ErrorKind::kNotFound) return with_context("reading remediations", error);
  return fail(error.kind,
              "the Remediation CRD (manifests/crd.yaml) is not installed in this cluster; wrong "
              "--context?");
}

}  // namespace gpuward::remediator
