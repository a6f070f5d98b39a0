#include "tests/fakes/kube/selectors.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::fakes {
namespace {

using Kind = Requirement::Kind;

bool holds(const Requirement& requirement, const std::optional<std::string>& value) {
  const auto among = [&] {
    return value && std::ranges::find(requirement.values, *value) != requirement.values.end();
  };
  switch (requirement.kind) {
    case Kind::kIn:
      return among();
    case Kind::kNotIn:
      return !among();
    case Kind::kExists:
      return value.has_value();
    case Kind::kAbsent:
      return !value.has_value();
  }
  return false;
}

std::optional<std::string> label_of(const Json& labels, const std::string& key) {
  const Json& value = member_at(labels, key);
  return value.is_string() ? std::optional(value.get<std::string>()) : std::nullopt;
}

// A field cannot be absent: a missing one is the empty string (or false).
std::string field_of(const Json& object, std::string_view path) {
  const Json* at = &object;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto dot = std::min(path.find('.', begin), path.size());
    at = &member_at(*at, path.substr(begin, dot - begin));
    begin = dot + 1;
  }
  if (at->is_string()) return at->get<std::string>();
  if (at->is_boolean()) return at->get<bool>() ? "true" : "false";
  return path == "spec.unschedulable" ? "false" : "";
}

// Splits at commas outside of parentheses.
std::vector<std::string> split_terms(std::string_view text) {
  std::vector<std::string> terms;
  std::string term;
  int depth = 0;
  for (const char letter : text) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0) {
      terms.push_back(std::exchange(term, {}));
    } else {
      term += letter;
    }
  }
  if (!trim(term).empty() || !terms.empty()) terms.push_back(term);
  return terms;
}

std::optional<Requirement> parse_equality(std::string_view term) {
  constexpr std::array<std::pair<std::string_view, Kind>, 3> kOperators{
      {{"!=", Kind::kNotIn}, {"==", Kind::kIn}, {"=", Kind::kIn}}};
  for (const auto& [text, kind] : kOperators) {
    const auto at = term.find(text);
    if (at == std::string_view::npos) continue;
    return Requirement{kind,
                       std::string(trim(term.substr(0, at))),
                       {std::string(trim(term.substr(at + text.size())))}};
  }
  return std::nullopt;
}

std::optional<Requirement> parse_set(std::string_view term) {
  const auto open = term.find('(');
  if (open == std::string_view::npos || !term.ends_with(')')) return std::nullopt;
  const std::string_view head = trim(term.substr(0, open));
  const auto space = head.find_last_of(" \t");
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view word = head.substr(space + 1);
  if (word != "in" && word != "notin") return std::nullopt;
  Requirement requirement{
      word == "in" ? Kind::kIn : Kind::kNotIn, std::string(trim(head.substr(0, space))), {}};
  for (const std::string& value : split_terms(term.substr(open + 1, term.size() - open - 2))) {
    requirement.values.emplace_back(trim(value));
  }
  return requirement;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t()!=,") == std::string_view::npos;
}

std::optional<Requirement> parse_label_term(std::string_view term) {
  if (auto set = parse_set(term)) return set;
  if (term.starts_with('!') && is_word(trim(term.substr(1)))) {
    return Requirement{Kind::kAbsent, std::string(trim(term.substr(1))), {}};
  }
  if (auto equality = parse_equality(term)) {
    const std::string& value = equality->values.front();
    return is_word(equality->key) && (value.empty() || is_word(value)) ? equality : std::nullopt;
  }
  if (is_word(term)) return Requirement{Kind::kExists, std::string(term), {}};
  return std::nullopt;
}

bool selectable(const Resource& resource, std::string_view field) {
  if (field == "metadata.name") return true;
  if (field == "metadata.namespace") return resource.traits.namespaced || resource.custom;
  if (resource.plural == "nodes") return field == "spec.unschedulable";
  if (resource.plural == "events") {
    constexpr std::array kEventFields{"reason", "reportingComponent", "source", "type"};
    return field.starts_with("involvedObject.") ||
           std::ranges::find(kEventFields, field) != kEventFields.end();
  }
  if (resource.plural == "namespaces") return field == "status.phase";
  if (resource.plural == "jobs") return field == "status.successful";
  if (resource.plural != "pods") return false;
  constexpr std::array kPodFields{
      "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
      "status.phase",  "status.podIP",       "spec.hostNetwork",   "status.nominatedNodeName"};
  return std::ranges::find(kPodFields, field) != kPodFields.end();
}

// Kinds with their own selectable fields use another text than those without.
std::string why_not_selectable(const Resource& resource, const std::string& field) {
  constexpr std::array kWithOwnFields{"nodes", "pods", "events", "namespaces", "jobs"};
  const bool has_own = std::ranges::find(kWithOwnFields, resource.plural) != kWithOwnFields.end();
  if (has_own || resource.custom) return "field label not supported: " + field;
  return "\"" + field +
         "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"";
}

bool expression_holds(const Json& expression, const Json& labels) {
  constexpr std::array<std::pair<std::string_view, Kind>, 4> kOperators{
      {{"In", Kind::kIn},
       {"NotIn", Kind::kNotIn},
       {"Exists", Kind::kExists},
       {"DoesNotExist", Kind::kAbsent}}};
  Requirement requirement;
  requirement.key = string_at(expression, "key");
  const std::string word = string_at(expression, "operator");
  for (const auto& [text, kind] : kOperators) {
    if (text == word) requirement.kind = kind;
  }
  for (const Json& value : member_at(expression, "values")) requirement.values.push_back(value);
  return holds(requirement, label_of(labels, requirement.key));
}

}  // namespace

Selector::Selector(std::vector<Requirement> labels, std::vector<Requirement> fields)
    : labels_(std::move(labels)), fields_(std::move(fields)) {}

bool Selector::selects(const Json& object) const {
  const Json& labels = member_at(member_at(object, "metadata"), "labels");
  return std::ranges::all_of(
             labels_, [&](const Requirement& r) { return holds(r, label_of(labels, r.key)); }) &&
         std::ranges::all_of(
             fields_, [&](const Requirement& r) { return holds(r, field_of(object, r.key)); });
}

Outcome<std::vector<Requirement>> parse_label_selector(std::string_view text) {
  std::vector<Requirement> requirements;
  for (const std::string& term : split_terms(text)) {
    auto requirement = parse_label_term(trim(term));
    if (!requirement) {
      return bad_request("unable to parse requirement: found '" + std::string(trim(term)) +
                         "', expected: !, identifier, or 'end of string'");
    }
    requirements.push_back(*std::move(requirement));
  }
  return requirements;
}

Outcome<std::vector<Requirement>> parse_field_selector(std::string_view text,
                                                       const Resource& resource) {
  std::vector<Requirement> requirements;
  for (const std::string& term : split_terms(text)) {
    if (trim(term).empty()) continue;
    auto requirement = parse_equality(trim(term));
    if (!requirement) {
      return bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" +
                         term + "'");
    }
    if (!selectable(resource, requirement->key)) {
      return bad_request(why_not_selectable(resource, requirement->key));
    }
    requirements.push_back(*std::move(requirement));
  }
  return requirements;
}

bool matches_label_selector(const Json& selector, const Json& labels) {
  if (!selector.is_object()) return false;
  for (const auto& [key, value] : member_at(selector, "matchLabels").items()) {
    if (label_of(labels, key) != value.get<std::string>()) return false;
  }
  return std::ranges::all_of(member_at(selector, "matchExpressions"), [&](const Json& expression) {
    return expression_holds(expression, labels);
  });
}

}  // namespace gpuward::fakes
