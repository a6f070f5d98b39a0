#include "tests/dashboards/lint_rules.h"

#include <algorithm>
#include <regex>
#include <set>

#include "tests/alerts/command.h"
#include "tests/dashboards/panels.h"
#include "tests/support/temp_dir.h"

namespace gpuward::dashboards {
namespace {

using Problems = std::vector<Problem>;
using Kinds = std::set<std::string>;

const Kinds kNumbers = {"stat", "gauge", "bargauge", "state-timeline"};
const Kinds kKinds = {"stat", "bargauge", "state-timeline", "timeseries", "table", "row"};
// The units of Grafana that the dashboards use.
const Kinds kUnits = {"short", "percentunit", "s",   "bytes", "celsius",
                      "watt",  "hertz",       "cps", "pps",   "reqps"};

// The first panel of the kind. Throws if there is none.
Json& panel_of(Json& dashboard, std::string_view kind) {
  return *std::ranges::find_if(dashboard.at("panels"),
                               [&](const Json& panel) { return panel.at("type") == kind; });
}

Json& variable_of(Json& dashboard, std::string_view name) {
  return *std::ranges::find_if(dashboard.at("templating").at("list"),
                               [&](const Json& variable) { return variable.at("name") == name; });
}

void ask(Json& dashboard, const std::string& expr) {
  panel_of(dashboard, "stat").at("targets").at(0).at("expr") = expr;
}

template <typename Check>  // (panel) -> the problem, or nothing
Problems in_panels(const Json& dashboard, Check check) {
  Problems found;
  for (const Json& panel : dashboard.at("panels")) {
    if (panel.at("type") == "row") continue;
    if (const std::string what = check(panel); !what.empty()) {
      found.push_back({string_at(panel, "title"), what});
    }
  }
  return found;
}

template <typename Check>  // (expression) -> the problem, or nothing
Problems in_queries(const Json& dashboard, Check check) {
  return in_panels(dashboard, [&](const Json& panel) {
    for (const Json& target : member_at(panel, "targets")) {
      const auto expr = string_at(target, "expr");
      if (const std::string what = check(expr); !what.empty()) return what + ": " + expr;
    }
    return std::string();
  });
}

template <typename Check>  // (variable) -> the problem, or nothing
Problems in_query_variables(const Json& dashboard, Check check) {
  Problems found;
  for (const Json& variable : dashboard.at("templating").at("list")) {
    if (variable.at("type") != "query") continue;
    if (const std::string what = check(variable); !what.empty()) {
      found.push_back({"", string_at(variable, "name") + what});
    }
  }
  return found;
}

Problems template_datasource(const Json& dashboard) {
  int good = 0;
  for (const Json& variable : dashboard.at("templating").at("list")) {
    good += variable.at("type") == "datasource" && variable.at("name") == "datasource" &&
            variable.at("label") == "Data source" && variable.at("query") == "prometheus";
  }
  return good == 1 ? Problems{} : Problems{{"", "no variable for the data source"}};
}

Problems template_label(const Json& dashboard, const std::string& name, const std::string& label,
                        const std::string& all_values = ".+") {
  int good = 0;
  for (const Json& variable : dashboard.at("templating").at("list")) {
    good += variable.at("name") == name && variable.at("type") == "query" &&
            variable.at("label") == label && variable.at("multi") == true &&
            variable.at("allValue") == all_values && variable.at("includeAll") == true &&
            variable.at("datasource").at("uid") == kDatasource;
  }
  return good == 1 ? Problems{} : Problems{{"", "no variable " + name + " by the convention"}};
}

Problems variable_queries(const Json& dashboard) {
  return in_query_variables(dashboard, [](const Json& variable) -> std::string {
    const std::regex form("label_values\\([a-z_]+(\\{[^{}]*\\})?, " + string_at(variable, "name") +
                          "\\)");
    return std::regex_match(string_at(variable, "query"), form) ? "" : " has another query";
  });
}

Problems variable_reload(const Json& dashboard) {
  return in_query_variables(dashboard, [](const Json& variable) -> std::string {
    return variable.at("refresh") == 2 ? "" : " is not read again when the time range changes";
  });
}

Problems panel_datasource(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    const auto is_chosen = [](const Json& one) {
      const Json& source = member_at(one, "datasource");
      return string_at(source, "uid") == kDatasource && string_at(source, "type") == "prometheus";
    };
    return is_chosen(panel) && std::ranges::all_of(member_at(panel, "targets"), is_chosen)
               ? ""
               : "does not use the data source that is chosen";
  });
}

Problems panel_title_description(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    return string_at(panel, "title").empty() || !string_at(panel, "description").ends_with(".")
               ? "has no title or no description"
               : "";
  });
}

Problems panel_units(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    const Json& defaults = panel.at("fieldConfig").at("defaults");
    return kUnits.contains(string_at(defaults, "unit")) ? "" : "has no unit, or an unknown one";
  });
}

Problems panel_targets(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    return member_at(panel, "targets").empty() ? "has no query" : "";
  });
}

// Parses all expressions of a dashboard in one run of promtool, which names those that it cannot
// parse.
Problems target_promql(const Json& dashboard) {
  Json rules = Json::array();
  (void)in_queries(dashboard, [&](const std::string& expr) {
    rules.push_back(
        {{"record", "a:b:c" + std::to_string(rules.size())}, {"expr", with_variables(expr)}});
    return std::string();
  });
  const support::TempDir folder;
  const Json groups = {{"groups", Json::array({{{"name", "panels"}, {"rules", rules}}})}};
  const auto file = folder.write("rules.yaml", dump_json(groups));
  const alerts::Said said = alerts::run({"promtool", "check", "rules", file.string()});
  return said.exit_code == 0 ? Problems{} : Problems{{"", said.text}};
}

Problems target_rate_interval(const Json& dashboard) {
  static const std::regex kRate(R"(\bi?rate\([^\[]*\[([^\]]*)\])");
  return in_queries(dashboard, [](const std::string& expr) -> std::string {
    for (std::sregex_iterator at(expr.begin(), expr.end(), kRate), end; at != end; ++at) {
      if ((*at)[1] != "$__rate_interval") return "a rate over another window";
    }
    return "";
  });
}

// The fault in the selectors of the expression; empty if each selects by this variable.
std::string without_matcher(const std::string& expr, const std::string& label) {
  static const std::regex kSelector(R"([\w:]+\{([^}]*)\})");
  static const std::regex kBareMetric(R"(\b((gpuward|process)_\w+|up|ALERTS)\b(?![\w:]*[:{]))");
  const std::string matcher = label + "=~\"$" + label + "\"";
  if (std::regex_search(expr, kBareMetric)) return "a metric without a selector";
  for (std::sregex_iterator at(expr.begin(), expr.end(), kSelector), end; at != end; ++at) {
    if (!(*at)[1].str().contains(matcher)) return "a selector without " + matcher;
  }
  return "";
}

Problems target_matcher(const Json& dashboard, const std::string& label) {
  return in_queries(dashboard,
                    [&](const std::string& expr) { return without_matcher(expr, label); });
}

// A bare counter shows the time since its process started, not its rate.
Problems target_counters(const Json& dashboard) {
  static const std::regex kCounter(
      R"((\w+\()?(\w+_(?:total|bucket|sum|count))\{[^}]*\}(\[[^\]]*\])?)");
  return in_queries(dashboard, [](const std::string& expr) -> std::string {
    for (std::sregex_iterator at(expr.begin(), expr.end(), kCounter), end; at != end; ++at) {
      const std::string call = (*at)[1], window = (*at)[3];
      // A fixed window misses samples when the dashboard shows a month.
      if ((call != "rate(" && call != "increase(") ||
          (window != "[$__rate_interval]" && window != "[$__range]")) {
        return "a counter that is not shown by its growth over the window that is shown";
      }
    }
    return "";
  });
}

Problems uneditable(const Json& dashboard) {
  return dashboard.at("editable") == false ? Problems{} : Problems{{"", "can be edited"}};
}

// Each number has thresholds: it must not be green at every value.
bool has_thresholds(const Json& field) {
  const Json& steps = member_at(member_at(field, "thresholds"), "steps");
  return !steps.empty() && steps.at(0).at("value").is_null() &&
         std::ranges::all_of(steps, [](const Json& step) { return step.at("color") != ""; });
}

// The properties of a table's column, by its heading.
Json column_of(const Json& panel, const std::string& heading) {
  Json found;
  for (const Json& column : panel.at("fieldConfig").at("overrides")) {
    if (column.at("matcher").at("options") != heading) continue;
    for (const Json& property : column.at("properties")) {
      found[string_at(property, "id")] = property.at("value");
    }
  }
  return found;
}

bool shows(const Json& panel, const std::string& column) {
  const Json& names = panel.at("transformations").at(0).at("options").at("include").at("names");
  return std::ranges::any_of(names, [&](const Json& name) { return name == column; });
}

std::string heading_of_value(const Json& panel) {
  const Json& options = panel.at("transformations").at(1).at("options");
  return string_at(options.at("renameByName"), "Value");
}

Problems numbers_have_thresholds(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    const std::string kind = panel.at("type");
    const bool is_bad =
        (kNumbers.contains(kind) && !has_thresholds(panel.at("fieldConfig").at("defaults"))) ||
        (kind == "table" && shows(panel, "Value") &&
         !has_thresholds(column_of(panel, heading_of_value(panel))));
    return is_bad ? "has no thresholds" : "";
  });
}

// A number that counts broken things is red, orange or yellow at 1.
Problems counts_are_bad_at_one(const Json& dashboard) {
  static const std::regex kCountsBroken(
      R"(== bool 0|>= bool 2|severity=|result!=|ALERTS|remapped|Held|left_in|approvals|clamp)");
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    const std::string expr =
        member_at(panel, "targets").empty() ? "" : string_at(panel.at("targets").at(0), "expr");
    if (panel.at("type") != "stat" || !std::regex_search(expr, kCountsBroken)) return "";
    const Json& steps = panel.at("fieldConfig").at("defaults").at("thresholds").at("steps");
    return steps.size() == 2 && steps.at(0).at("color") == "green" && steps.at(1).at("value") == 1
               ? ""
               : "counts what is broken, and does not change its colour at 1";
  });
}

Problems states_have_words_and_colours(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    for (const Json& mapping : member_at(panel.at("fieldConfig").at("defaults"), "mappings")) {
      for (const Json& state : mapping.at("options")) {
        if (string_at(state, "text").empty() || string_at(state, "color").empty()) {
          return "has a state without a word or without a colour";
        }
      }
    }
    return panel.at("type") == "state-timeline" &&
                   member_at(panel.at("fieldConfig").at("defaults"), "mappings").empty()
               ? "has states without words"
               : "";
  });
}

Problems nodes_lead_somewhere(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    if (panel.at("type") != "table" || !shows(panel, "node")) return "";
    const std::string links = column_of(panel, "node").dump();
    return links.contains("/d/gpuward-node?") && links.contains("var-node=${__value.text}") &&
                   links.contains("${remediator_url}/nodes/${__value.text}")
               ? ""
               : "has nodes that lead to no dashboard or to no page of the remediator";
  });
}

// The link to the node dashboard keeps the data source and the clusters, or the one cluster of the
// row.
Problems nodes_keep_their_cluster(const Json& dashboard) {
  return in_panels(dashboard, [](const Json& panel) -> std::string {
    if (panel.at("type") != "table" || !shows(panel, "node")) return "";
    const std::string node = column_of(panel, "node").dump();
    const std::string cluster = column_of(panel, "cluster").dump();
    return shows(panel, "cluster") &&
                   node.contains("${datasource:queryparam}&${cluster:queryparam}&var-node=") &&
                   cluster.contains(
                       "${datasource:queryparam}&var-cluster=${__value.text}&"
                       "var-node=${__data.fields.node}")
               ? ""
               : "has nodes that lead to those of all clusters";
  });
}

Problems panels_stand_in_rows(const Json& dashboard) {
  const Json& panels = dashboard.at("panels");
  Problems found;
  if (panels.at(0).at("type") != "row") found.push_back({"", "does not begin with a row"});
  std::set<int> ids;
  std::set<std::pair<int, int>> taken;
  for (const Json& panel : panels) {
    const std::string title = string_at(panel, "title");
    if (!kKinds.contains(string_at(panel, "type"))) found.push_back({title, "of unknown kind"});
    if (!ids.insert(panel.at("id").get<int>()).second) found.push_back({title, "no id of its own"});
    const Json& place = panel.at("gridPos");
    const int left = place.at("x"), top = place.at("y"), width = place.at("w"),
              height = place.at("h");
    if (left + width > 24) found.push_back({title, "is beyond the 24 columns"});
    for (int cell = 0; cell < width * height; ++cell) {
      if (!taken.emplace(left + cell % width, top + cell / width).second) {
        found.push_back({title, "lies over another panel"});
        break;
      }
    }
  }
  return found;
}

Problems remediations_are_annotated(const Json& dashboard) {
  const std::string annotations = dashboard.at("annotations").at("list").dump();
  return annotations.contains("gpuward_remediator_fault_age_seconds_count") &&
                 annotations.contains("ALERTS{remediation=~")
             ? Problems{}
             : Problems{{"", "does not show when remediations happened"}};
}

// Whether each `on` or `by` clause of the expression begins with the cluster.
bool keeps_cluster(const std::string& expr, const std::string& clause) {
  return !std::regex_search(expr, std::regex("\\b" + clause + R"( \((?!cluster\b))"));
}

// Other clusters have jobs, instances and nodes of the same names.
Problems joins_are_of_the_cluster(const Json& dashboard) {
  return in_queries(dashboard, [](const std::string& expr) {
    return std::string(keeps_cluster(expr, "on") ? "" : "joins series of two clusters");
  });
}

// An event of a node of the same name in another cluster does not belong to this node.
Problems annotations_are_of_the_cluster(const Json& dashboard) {
  Problems found;
  for (const Json& one : dashboard.at("annotations").at("list")) {
    const std::string what = without_matcher(string_at(one, "expr"), "cluster");
    if (!what.empty()) found.push_back({"", string_at(one, "name") + ": " + what});
    if (one.at("tagKeys") != "cluster" || !keeps_cluster(string_at(one, "expr"), "by")) {
      found.push_back({"", string_at(one, "name") + ": does not say of which cluster"});
    }
  }
  return found;
}

Problems variables_are_of_the_cluster(const Json& dashboard) {
  return in_query_variables(dashboard, [](const Json& variable) -> std::string {
    if (variable.at("name") == "cluster") return "";
    const std::string what = without_matcher(string_at(variable, "query"), "cluster");
    return what.empty() ? "" : ": " + what;
  });
}

Problems remediator_is_linked(const Json& dashboard) {
  const bool has_variable =
      std::ranges::any_of(dashboard.at("templating").at("list"), [](const Json& variable) {
        return variable.at("name") == "remediator_url" && variable.at("type") == "textbox";
      });
  const std::string links = dashboard.at("links").dump();
  return has_variable && links.contains("\"${remediator_url}/\"") &&
                 links.contains("\"${remediator_url}/runbooks\"")
             ? Problems{}
             : Problems{{"", "has no link to the remediator"}};
}

constexpr LintRule kRules[] = {
    // Grafana's.
    {"template-datasource-rule", template_datasource,
     [](Json& board) { variable_of(board, "datasource")["name"] = "source"; }},
    {"template-job-rule", [](const Json& board) { return template_label(board, "job", "Job"); },
     [](Json& board) { variable_of(board, "job")["multi"] = false; }},
    {"template-instance-rule",
     [](const Json& board) { return template_label(board, "instance", "Instance"); },
     [](Json& board) { variable_of(board, "instance")["allValue"] = ".*"; }},
    {"template-label-promql-rule", variable_queries,
     [](Json& board) { variable_of(board, "job")["query"] = "values(job)"; }},
    {"template-on-time-change-reload-rule", variable_reload,
     [](Json& board) { variable_of(board, "job")["refresh"] = 1; }},
    {"panel-datasource-rule", panel_datasource,
     [](Json& board) { panel_of(board, "stat")["targets"][0]["datasource"]["uid"] = "mine"; }},
    {"panel-title-description-rule", panel_title_description,
     [](Json& board) { panel_of(board, "table")["description"] = ""; }},
    {"panel-units-rule", panel_units,
     [](Json& board) {
       panel_of(board, "timeseries")["fieldConfig"]["defaults"]["unit"] = "pieces";
     }},
    {"panel-no-targets-rule", panel_targets,
     [](Json& board) { panel_of(board, "timeseries")["targets"].clear(); }},
    {"target-promql-rule", target_promql, [](Json& board) { ask(board, "sum("); }},
    {"target-rate-interval-rule", target_rate_interval,
     [](Json& board) { ask(board, "rate(a_total{}[5m])"); }},
    {"target-job-rule", [](const Json& board) { return target_matcher(board, "job"); },
     [](Json& board) { ask(board, "sum(gpuward_build_info)"); }},
    {"target-instance-rule", [](const Json& board) { return target_matcher(board, "instance"); },
     [](Json& board) { ask(board, R"(gpuward_build_info{job=~"$job"})"); }},
    {"target-counter-agg-rule", target_counters,
     [](Json& board) { ask(board, "sum(gpuward_errors_total{})"); }},
    {"uneditable-dashboard", uneditable, [](Json& board) { board["editable"] = true; }},
    // gpuward's.
    {"cluster-can-be-chosen",
     [](const Json& board) { return template_label(board, "cluster", "Cluster", ".*"); },
     [](Json& board) { variable_of(board, "cluster")["allValue"] = ".+"; }},
    {"targets-are-of-the-cluster",
     [](const Json& board) { return target_matcher(board, "cluster"); },
     [](Json& board) { ask(board, R"(up{job=~"$job",instance=~"$instance"})"); }},
    {"joins-are-of-the-cluster", joins_are_of_the_cluster,
     [](Json& board) { ask(board, R"(up{cluster=~"$cluster"} and on (job) up{cluster="east"})"); }},
    {"annotations-are-of-the-cluster", annotations_are_of_the_cluster,
     [](Json& board) { board["annotations"]["list"][1]["expr"] = R"(ALERTS{node=~"$node"})"; }},
    {"variables-are-of-the-cluster", variables_are_of_the_cluster,
     [](Json& board) {
       variable_of(board, "node")["query"] = "label_values(gpuward_node_severity, node)";
     }},
    {"nodes-keep-their-cluster", nodes_keep_their_cluster,
     [](Json& board) {
       Json& columns = panel_of(board, "table")["fieldConfig"]["overrides"];
       columns = parse_json(std::regex_replace(columns.dump(), std::regex("var-cluster"), "var-x"))
                     .value_or(columns);
     }},
    {"numbers-have-thresholds", numbers_have_thresholds,
     [](Json& board) { panel_of(board, "stat")["fieldConfig"]["defaults"].erase("thresholds"); }},
    {"counts-are-bad-at-one", counts_are_bad_at_one,
     [](Json& board) {
       ask(board, "sum(up{} == bool 0)");
       panel_of(board, "stat")["fieldConfig"]["defaults"]["thresholds"]["steps"] = Json::array(
           {{{"color", "green"}, {"value", nullptr}}, {{"color", "red"}, {"value", 80}}});
     }},
    {"states-have-words-and-colours", states_have_words_and_colours,
     [](Json& board) {
       panel_of(board, "stat")["fieldConfig"]["defaults"]["mappings"] =
           Json::array({{{"type", "value"}, {"options", {{"0", {{"text", "fine"}}}}}}});
     }},
    {"nodes-lead-somewhere", nodes_lead_somewhere,
     [](Json& board) { panel_of(board, "table")["fieldConfig"]["overrides"].clear(); }},
    {"panels-stand-in-rows", panels_stand_in_rows,
     [](Json& board) { panel_of(board, "stat")["gridPos"]["w"] = 12; }},
    {"remediations-are-annotated", remediations_are_annotated,
     [](Json& board) { board["annotations"]["list"].erase(0); }},
    {"remediator-is-linked", remediator_is_linked,
     [](Json& board) { variable_of(board, "remediator_url")["type"] = "constant"; }},
};

}  // namespace

std::span<const LintRule> lint_rules() { return kRules; }

}  // namespace gpuward::dashboards
