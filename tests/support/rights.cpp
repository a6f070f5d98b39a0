#include "tests/support/rights.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <utility>

#include "core/runtime/json.h"
#include "tests/support/wait.h"

namespace gpuward::support {
namespace {

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/subjectaccessreviews";

// RBAC allows it, and an admission policy refuses it in a dry run.
bool is_admissions(const Json& event) {
  const Json& notes = member_at(event, "annotations");
  return string_at(notes, "authorization.k8s.io/decision") == "allow" &&
         string_at(event, "requestURI").ends_with("?dryRun=All");
}

// Calls it with each request in the audit log, and with its line.
void for_each_request(const std::filesystem::path& log,
                      const std::function<void(const Json&, const std::string&)>& call) {
  std::ifstream file(log);
  for (std::string line; std::getline(file, line);) {
    const Json event = parse_json(line).value_or(Json());
    const Json& object = member_at(event, "objectRef");
    if (object.is_null() || string_at(object, "resource").starts_with("self")) continue;
    call(event, line);
  }
}

Result<Json> ask(const ControlPlane& plane, const std::string& method, const std::string& path,
                 const Json& body = nullptr) {
  const auto answer = plane.request(method, path, body.is_null() ? "" : dump_json(body));
  if (!answer) return std::unexpected(answer.error());
  if (answer->status >= 300) {
    return fail(ErrorKind::kUnavailable, method + " " + path + ": " + answer->body);
  }
  return parse_json(answer->body);
}

Result<bool> is_allowed(const ControlPlane& plane, const AskedRight& right) {
  const Json attributes = {{"verb", right.verb},         {"group", right.group},
                           {"resource", right.resource}, {"subresource", right.subresource},
                           {"namespace", right.ns},      {"name", right.name}};
  const Json review = {{"apiVersion", "authorization.k8s.io/v1"},
                       {"kind", "SubjectAccessReview"},
                       {"spec", {{"user", right.user}, {"resourceAttributes", attributes}}}};
  const auto answer = ask(plane, "POST", kReviews, review);
  if (!answer) return std::unexpected(answer.error());
  return member_at(member_at(*answer, "status"), "allowed") == true;
}

// One role of the API server and its user, whose requests show when a change of the role is in
// force.
class ChangingRole {
 public:
  ChangingRole(const ControlPlane& plane, std::string path, Json role, std::string user)
      : plane_(plane), path_(std::move(path)), role_(std::move(role)), user_(std::move(user)) {}

  [[nodiscard]] const Json& rules() const { return role_["rules"]; }
  // Returns when they are in force: they come with a recognisable permission.
  [[nodiscard]] Status put(Json rules) {
    const AskedRight sign{.user = user_,
                          .verb = "get",
                          .group = "sign.gpuward.dev",
                          .resource = "version" + std::to_string(++version_),
                          .subresource = "",
                          .ns = member_at(role_["metadata"], "namespace").is_null()
                                    ? ""
                                    : string_at(role_["metadata"], "namespace"),
                          .name = ""};
    rules.push_back({{"apiGroups", {sign.group}},
                     {"resources", {sign.resource}},
                     {"verbs", Json::array({sign.verb})}});
    if (auto written = write(std::move(rules)); !written) return written;
    return is_soon_allowed(plane_, sign) ? Status()
                                         : fail(ErrorKind::kTimeout, path_ + " is not in force");
  }
  [[nodiscard]] Status restore() { return write(rules()); }

 private:
  [[nodiscard]] Status write(Json rules) {
    const auto answer = ask(plane_, "PATCH", path_, {{"rules", std::move(rules)}});
    return answer ? Status() : std::unexpected(answer.error());
  }

  const ControlPlane& plane_;
  std::string path_;
  Json role_;
  std::string user_;
  int version_ = 0;
};

// The rules without one verb of one rule; a rule without verbs is dropped.
Json without(Json rules, std::size_t rule, std::size_t verb) {
  rules[rule]["verbs"].erase(verb);
  if (rules[rule]["verbs"].empty()) rules.erase(rule);
  return rules;
}

Result<bool> refuses_any(const ControlPlane& plane, const std::set<AskedRight>& asked,
                         const Json& verb) {
  for (const AskedRight& right : asked) {
    if (verb != right.verb) continue;
    const auto allowed = is_allowed(plane, right);
    if (!allowed) return std::unexpected(allowed.error());
    if (!*allowed) return true;
  }
  return false;
}

}  // namespace

bool is_soon_allowed(const ControlPlane& plane, const AskedRight& right) {
  return poll_until([&] { return is_allowed(plane, right).value_or(false); });
}

RightsAudit::RightsAudit(const std::vector<std::string>& users) {
  folder_.write("policy.yaml",
                "apiVersion: audit.k8s.io/v1\nkind: Policy\n"
                "omitStages: [RequestReceived]\nrules:\n- level: Metadata\n  users: " +
                    dump_json(users) + "\n- level: None\n");
}

std::vector<std::string> RightsAudit::apiserver_flags() const {
  return {"--audit-policy-file=" + (folder_ / "policy.yaml").string(),
          "--audit-log-path=" + (folder_ / "audit.log").string()};
}

std::set<AskedRight> RightsAudit::asked() const {
  std::set<AskedRight> all;
  for_each_request(folder_ / "audit.log", [&](const Json& event, const std::string&) {
    const Json& object = member_at(event, "objectRef");
    all.insert({string_at(member_at(event, "user"), "username"), string_at(event, "verb"),
                string_at(object, "apiGroup"), string_at(object, "resource"),
                string_at(object, "subresource"), string_at(object, "namespace"),
                string_at(object, "name")});
  });
  return all;
}

std::vector<std::string> RightsAudit::refused() const {
  std::vector<std::string> lines;
  for_each_request(folder_ / "audit.log", [&](const Json& event, const std::string& line) {
    if (member_at(member_at(event, "responseStatus"), "code") != 403) return;
    if (!is_admissions(event)) lines.push_back(line);
  });
  return lines;
}

Result<std::vector<std::string>> needless_verbs(const ControlPlane& plane,
                                                const std::string& role_path,
                                                const std::set<AskedRight>& asked) {
  auto read = ask(plane, "GET", role_path);
  if (!read) return std::unexpected(read.error());
  if (asked.empty()) return fail(ErrorKind::kInvalid, "nobody has asked for anything");
  ChangingRole role(plane, role_path, *std::move(read), asked.begin()->user);
  std::vector<std::string> needless;
  for (std::size_t rule = 0; rule < role.rules().size(); ++rule) {
    const Json& verbs = role.rules()[rule]["verbs"];
    for (std::size_t verb = 0; verb < verbs.size(); ++verb) {
      if (auto put = role.put(without(role.rules(), rule, verb)); !put)
        return std::unexpected(put.error());
      const auto refuses = refuses_any(plane, asked, verbs[verb]);
      if (!refuses) return std::unexpected(refuses.error());
      if (!*refuses)
        needless.push_back(dump_json(verbs[verb]) + " of " + dump_json(role.rules()[rule]));
    }
  }
  if (auto restored = role.restore(); !restored) return std::unexpected(restored.error());
  return needless;
}

}  // namespace gpuward::support
