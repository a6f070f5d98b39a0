#include "tests/fakes/fake_api_server.h"

#include <regex>
#include <utility>
#include <vector>

#include "tests/fakes/kube/responses.h"

namespace gpuward::fakes {
namespace {

// For 64 watches and the simultaneous requests.
constexpr std::size_t kConnections = 192;
const std::vector<std::string>& all_methods() {
  static const std::vector<std::string> kMethods{"GET", "POST", "PUT", "PATCH", "DELETE"};
  return kMethods;
}

// The server below cannot send "no answer": it ends a chunked answer in the middle instead, which
// every client treats as a broken connection.
http::Response cut_where_dropped(http::Response response) {
  if (response.status != 0) return response;
  response.status = 200;
  response.stream = [](http::BodyWriter&) { throw ConnectionCut(); };
  return response;
}

http::Response add_fault(FakeKube& kube, const http::Request& request) {
  const auto json = parse_json(request.body);
  if (!json) return failure_response(bad_request(json.error().message).error());
  const auto fault = parse_fault(*json);
  if (!fault) return failure_response(fault.error());
  try {
    return json_response(201, {{"number", kube.add_fault(*fault)}});
  } catch (const std::regex_error& error) {
    return failure_response(bad_request(error.what()).error());
  }
}

Json requests_of(const FakeKube& kube) {
  Json all = Json::array();
  for (const LoggedRequest& request : kube.requests()) {
    all.push_back({{"method", request.method},
                   {"path", request.path},
                   {"query", request.query},
                   {"content_type", request.content_type},
                   {"user_agent", request.user_agent},
                   {"body", request.body},
                   {"status", request.status}});
  }
  return all;
}

http::Response control(FakeKube& kube, const http::Request& request) {
  const std::string what = request.method + " " + request.path;
  if (what == "POST /fake/faults") return add_fault(kube, request);
  if (what == "GET /fake/faults") return json_response(200, kube.faults().report());
  if (what == "GET /fake/requests") return json_response(200, requests_of(kube));
  if (what == "POST /fake/kubelet") {
    return json_response(200, {{"ended", kube.end_terminating_pods()}});
  }
  if (what == "DELETE /fake/faults") {
    kube.clear_faults();
  } else if (what == "DELETE /fake/requests") {
    kube.clear_requests();
  } else if (what == "DELETE /fake/history") {
    kube.forget_history();
  } else {
    return failure_response(no_such_path().error());
  }
  return json_response(200, Json::object());
}

}  // namespace

FakeApiServer::FakeApiServer(Clock& clock, const FakeApiServerOptions& options)
    : kube_(clock, options.kube), has_tls_(!options.tls.certificate_file.empty()) {}

Result<std::unique_ptr<FakeApiServer>> FakeApiServer::start(Clock& clock,
                                                            const FakeApiServerOptions& options) {
  std::unique_ptr<FakeApiServer> fake(new FakeApiServer(clock, options));
  FakeKube& kube = fake->kube_;
  http::ServerOptions server;
  server.listen_addresses = {options.listen_address};
  server.tls = options.tls;
  server.limits.max_connections = kConnections;
  server.limits.max_body_bytes = 3U << 20U;
  std::vector<http::Route> routes(2);
  routes[0].path = "/";
  routes[0].methods = all_methods();
  routes[0].match = http::Match::kPrefix;
  routes[0].handler = [&kube](const http::Request& r) { return cut_where_dropped(kube.handle(r)); };
  routes[1].path = "/fake";
  routes[1].methods = all_methods();
  routes[1].match = http::Match::kPrefix;
  routes[1].handler = [&kube](const http::Request& r) { return control(kube, r); };
  auto started = http::Server::start(server, std::move(routes));
  if (!started) return std::unexpected(started.error());
  fake->server_ = *std::move(started);
  return fake;
}

FakeApiServer::~FakeApiServer() { kube_.close(); }

std::string FakeApiServer::url() const {
  return std::string(has_tls_ ? "https" : "http") + "://127.0.0.1:" + std::to_string(port());
}

int FakeApiServer::port() const { return server_->ports().front(); }

std::string FakeApiServer::kubeconfig() const {
  return "apiVersion: v1\nkind: Config\ncurrent-context: fake\n"
         "clusters:\n- name: fake\n  cluster: {server: \"" +
         url() +
         "\"}\n"
         "contexts:\n- name: fake\n  context: {cluster: fake, user: fake}\n"
         "users:\n- name: fake\n  user: {token: fake}\n";
}

}  // namespace gpuward::fakes
