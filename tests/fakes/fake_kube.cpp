#include "tests/fakes/fake_kube.h"

#include <optional>
#include <utility>

#include "core/http/syntax/url.h"
#include "tests/fakes/kube/approvals.h"
#include "tests/fakes/kube/deleting.h"
#include "tests/fakes/kube/discovery.h"
#include "tests/fakes/kube/reading.h"
#include "tests/fakes/kube/responses.h"
#include "tests/fakes/kube/table.h"
#include "tests/fakes/kube/writing.h"

namespace gpuward::fakes {
namespace {

using http::query_value;

constexpr std::string_view kAccessReviews =
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
constexpr std::string_view kSelfReviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
constexpr JsonLimits kBodyLimits{.max_bytes = 3U << 20U, .max_depth = 100};

bool wants_watch(const Target& target, const http::Query& query) {
  const std::string watch = query_value(query, "watch");
  return target.legacy_watch || watch == "true" || watch == "1";
}

// The verb as RBAC names it.
std::string verb_of(const http::Request& request, const Target& target) {
  if (request.method == "POST") return "create";
  if (request.method == "PUT") return "update";
  if (request.method == "PATCH") return "patch";
  if (request.method == "DELETE") return target.name.empty() ? "deletecollection" : "delete";
  if (wants_watch(target, http::parse_query(request.query))) return "watch";
  return target.name.empty() ? "list" : "get";
}

bool knows_subresource(const Target& target) {
  const std::string& name = target.subresource;
  return name.empty() || (name == "status" && target.resource->traits.has_status) ||
         (name == "eviction" && target.resource->plural == "pods");
}

Persist persist_of(const http::Query& query) {
  return query_value(query, "dryRun") == "All" ? Persist::kDryRun : Persist::kYes;
}

std::string media_type_of(const http::Request& request) {
  const std::string_view header = request.header("Content-Type");
  return std::string(header.substr(0, header.find(';')));
}

Outcome<Json> body_of(const http::Request& request) {
  if (media_type_of(request) == "application/vnd.kubernetes.protobuf") {
    return unsupported_media_type("application/json");
  }
  auto body = parse_json(request.body, kBodyLimits);
  if (!body) return bad_request("the request body is not JSON: " + body.error().message);
  return *std::move(body);
}

Outcome<Json> delete_options_of(const http::Request& request, const http::Query& query) {
  Json options = nullptr;
  if (!request.body.empty()) {
    auto body = body_of(request);
    if (!body) return body;
    options = *std::move(body);
  }
  const std::string grace = query_value(query, "gracePeriodSeconds");
  if (!grace.empty()) options["gracePeriodSeconds"] = std::atoi(grace.c_str());
  return options;
}

http::Response written(const Outcome<Written>& outcome, const http::Request& request) {
  if (!outcome) return failure_response(outcome.error());
  return written_response(outcome->code, *outcome->object, request);
}

}  // namespace

FakeKube::FakeKube(Clock& clock, FakeKubeOptions options)
    : options_(options), world_(clock, options.history_window) {
  world_.pod_end = options.pod_end;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    create("/api/v1/namespaces", {{"metadata", {{"name", name}}}});
  }
}

FakeKube::~FakeKube() { close(); }

http::Response FakeKube::handle(const http::Request& request) {
  LoggedRequest logged{request.method,
                       request.path,
                       request.query,
                       media_type_of(request),
                       std::string(request.header("User-Agent")),
                       request.body};
  http::Response response;
  if (const auto fault = faults_.meet(request.method, request.path)) {
    response = answer_with(*fault, request);
    if (fault->on_hit) fault->on_hit();
  } else {
    response = answer_safely(request);
  }
  logged.status = response.status;
  log_.add(std::move(logged));
  return response;
}

http::Response FakeKube::answer_with(const Fault& fault, const http::Request& request) {
  if (fault.delay.count() > 0) world_.clock.sleep_for(fault.delay, {});
  if (const auto failure = failure_of(fault, request.path)) {
    return injected_response(fault, *failure);
  }
  if (fault.kind == FaultKind::kUnavailable) {
    return http::Response::text(503, "no server is available to handle this request\n");
  }
  if (fault.kind == FaultKind::kDropBefore) return dropped_response();
  http::Response response = answer_safely(request);
  if (fault.kind == FaultKind::kDropAfter) return dropped_response();
  if (response.stream) return with_broken_stream(fault, std::move(response));
  return response;
}

// Catches a body that has the right shape except in a place that no check reads (a list instead of
// a string).
http::Response FakeKube::answer_safely(const http::Request& request) {
  try {
    return answer(request);
  } catch (const Json::exception& error) {
    return failure_response(bad_request(error.what()).error());
  }
}

http::Response FakeKube::answer(const http::Request& request) {
  const auto user = access_.authenticate(request.header("Authorization"));
  if (!user) return failure_response(user.error());
  const auto target = parse_target(world_.registry, request.path);
  if (!target) return answer_without_target(*user, request, target.error());
  if (!knows_subresource(*target)) return failure_response(no_such_path().error());
  const std::string verb = verb_of(request, *target);
  if (auto check = access_.authorize(*user, verb, *target); !check) {
    return failure_response(check.error());
  }
  if (auto check = admit(*user, *target, verb, request); !check) {
    return failure_response(check.error());
  }
  return serve(*target, verb, request);
}

Check FakeKube::admit(const std::string& user, const Target& target, const std::string& verb,
                      const http::Request& request) {
  const bool is_write = verb == "create" || verb == "update" || verb == "patch";
  if (!guards_approvals_ || !is_write || !may_approve(target)) return {};
  const auto body = body_of(request);
  if (!body || !body->is_object()) return {};
  const Object before = world_.store.find(target.id());
  return check_approval(user, target, before ? *before : Json(), *body);
}

http::Response FakeKube::answer_without_target(const std::string& user,
                                               const http::Request& request,
                                               const Failure& failure) {
  if (request.path == "/readyz" || request.path == "/healthz" || request.path == "/livez") {
    return http::Response::text(200, "ok");
  }
  if (request.path == "/version") {
    return json_response(200, {{"major", "1"}, {"gitVersion", "v1.35.0"}});
  }
  if (request.path == kAccessReviews && request.method == "POST") {
    auto review = body_of(request);
    if (!review) return failure_response(review.error());
    return json_response(201, access_.review(user, *std::move(review)));
  }
  if (request.path == kSelfReviews && request.method == "POST") {
    return json_response(201, {{"apiVersion", "authentication.k8s.io/v1"},
                               {"kind", "SelfSubjectReview"},
                               {"status", {{"userInfo", {{"username", user}}}}}});
  }
  const auto found = discover(world_.registry, request.path);
  return found ? json_response(200, *found) : failure_response(failure);
}

http::Response FakeKube::serve(const Target& target, const std::string& verb,
                               const http::Request& request) {
  if (verb == "watch") return serve_watch(target, request);
  if (verb == "list") return serve_list(target, request);
  if (verb == "get") return serve_get(target, request);
  if (verb == "delete") return serve_delete(target, request);
  return serve_write(target, verb, request);
}

http::Response FakeKube::serve_list(const Target& target, const http::Request& request) {
  const auto list = list_objects(world_, target, http::parse_query(request.query));
  if (!list) return failure_response(list.error());
  return list_response(*target.resource, *list, request, world_.clock.wall());
}

http::Response FakeKube::serve_get(const Target& target, const http::Request& request) {
  const Object object = world_.store.find(target.id());
  if (!object) return failure_response(not_found(target.resource->about(), target.name).error());
  return object_response(*target.resource, *object, request, world_.clock.wall());
}

http::Response FakeKube::serve_delete(const Target& target, const http::Request& request) {
  const http::Query query = http::parse_query(request.query);
  const auto options = delete_options_of(request, query);
  if (!options) return failure_response(options.error());
  const bool dry = !member_at(*options, "dryRun").empty();
  const auto gone =
      delete_object(world_, target, *options, dry ? Persist::kDryRun : persist_of(query));
  return gone ? json_response(200, *gone) : failure_response(gone.error());
}

http::Response FakeKube::serve_write(const Target& target, const std::string& verb,
                                     const http::Request& request) {
  auto body = body_of(request);
  if (!body) return failure_response(body.error());
  const Persist persist = persist_of(http::parse_query(request.query));
  if (verb == "create" && target.subresource == "eviction") {
    const auto evicted = evict_pod(world_, target, *body, persist);
    return evicted ? json_response(201, *evicted) : failure_response(evicted.error());
  }
  if (verb == "create" && target.name.empty()) {
    return written(create_object(world_, target, *std::move(body), persist), request);
  }
  if (verb == "update" && !target.name.empty()) {
    return written(replace_object(world_, target, *std::move(body), persist), request);
  }
  if (verb == "patch" && !target.name.empty()) {
    return written(patch_object(world_, target, media_type_of(request), *body, persist), request);
  }
  return failure_response(method_not_allowed().error());
}

http::Response FakeKube::serve_watch(const Target& target, const http::Request& request) {
  auto plan = plan_watch(target, http::parse_query(request.query));
  if (!plan) return failure_response(plan.error());
  plan->bookmark_interval = options_.bookmark_interval;
  if (wants_table(request)) {
    plan->render = [resource = target.resource, this](const Json& object) {
      return to_table(*resource, {object}, nullptr, world_.clock.wall());
    };
  }
  http::Response response;
  response.content_type = "application/json";
  response.stream = [this, plan = *std::move(plan)](http::BodyWriter& writer) {
    run_watch(world_, plan, writer);
  };
  return response;
}

std::vector<LoggedRequest> FakeKube::requests(std::string_view method,
                                              std::string_view path_prefix) const {
  std::vector<LoggedRequest> found = log_.all();
  std::erase_if(found, [&](const LoggedRequest& request) {
    return request.method != method || !request.path.starts_with(path_prefix);
  });
  return found;
}

Json FakeKube::call(const std::string& method, const std::string& path, const Json& body,
                    std::string_view content_type) {
  http::Request request;
  request.method = method;
  const auto mark = path.find('?');
  request.path = path.substr(0, mark);
  if (mark != std::string::npos) request.query = path.substr(mark + 1);
  request.headers = {{"Content-Type", std::string(content_type)}};
  if (!body.is_null()) request.body = dump_json(body);
  const auto target = parse_target(world_.registry, request.path);
  const http::Response response = target ? serve(*target, verb_of(request, *target), request)
                                         : failure_response(target.error());
  if (response.status >= 300) {
    throw std::runtime_error(method + " " + path + ": " + (response.body ? *response.body : ""));
  }
  return parse_json(*response.body, kBodyLimits).value();
}

// The stored object, neither printed nor parsed: that took a tenth of the simulation's time.
Json FakeKube::get(const std::string& path) {
  const auto target = parse_target(world_.registry, path);
  if (target && !target->name.empty() && target->subresource.empty()) {
    if (const Object object = world_.store.find(target->id())) return *object;
  }
  if (target && target->name.empty() && !path.contains('?')) {
    if (auto list = list_objects(world_, *target, {})) return *std::move(list);
  }
  return call("GET", path, nullptr, "");
}

Json FakeKube::create(const std::string& path, const Json& object) {
  Json complete = object;
  const auto target = parse_target(world_.registry, path);
  if (target && !complete.contains("kind")) {
    complete["kind"] = target->resource->kind;
    complete["apiVersion"] = target->resource->api_version();
  }
  return call("POST", path, complete, "application/json");
}

Json FakeKube::patch(const std::string& path, const Json& merge_patch) {
  return call("PATCH", path, merge_patch, "application/merge-patch+json");
}

Json FakeKube::patch_status(const std::string& path, const Json& merge_patch) {
  return call("PATCH", path + "/status", merge_patch, "application/merge-patch+json");
}

void FakeKube::remove(const std::string& path) {
  (void)call("DELETE", path, {{"gracePeriodSeconds", 0}}, "application/json");
}

bool FakeKube::has(const std::string& path) {
  const auto target = parse_target(world_.registry, path);
  return target && world_.store.find(target->id()) != nullptr;
}

Store::News FakeKube::changes_since(const std::string& collection, Revision since) const {
  const auto target = parse_target(world_.registry, collection);
  if (!target) throw std::runtime_error("no such collection: " + collection);
  return world_.store.wait_for_news(target->resource->collection(), since,
                                    std::chrono::milliseconds(0));
}

void FakeKube::restore(const Store::Backup& backup, Revision revision) {
  const std::lock_guard lock(world_.writing);
  world_.store.restore(backup, revision);
}

void FakeKube::backdate(const std::string& path, std::chrono::seconds age) {
  const auto target = parse_target(world_.registry, path);
  const std::lock_guard lock(world_.writing);
  const Object before = target ? world_.store.find(target->id()) : nullptr;
  if (!before) throw std::runtime_error("nothing to backdate: " + path);
  Json older = *before;
  older["metadata"]["creationTimestamp"] = to_rfc3339(world_.clock.wall() - age);
  (void)world_.store.put(target->id(), std::move(older));
}

std::size_t FakeKube::end_terminating_pods() {
  std::size_t ended = 0;
  for (const Object& pod : world_.store.list("/pods", "").objects) {
    const Json& metadata = member_at(*pod, "metadata");
    if (!metadata.contains("deletionTimestamp") || !member_at(metadata, "finalizers").empty())
      continue;
    const std::lock_guard lock(world_.writing);
    (void)world_.store.erase(
        {"/pods", string_at(metadata, "namespace"), string_at(metadata, "name")});
    ++ended;
  }
  return ended;
}

}  // namespace gpuward::fakes
