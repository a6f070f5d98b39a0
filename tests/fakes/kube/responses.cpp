#include "tests/fakes/kube/responses.h"

#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/kube/reading.h"
#include "tests/fakes/kube/table.h"

namespace gpuward::fakes {
namespace {

// Passes that many lines, then breaks off as the fault says.
class BrokenWriter final : public http::BodyWriter {
 public:
  BrokenWriter(http::BodyWriter& real, const Fault& fault) : real_(real), fault_(fault) {}

  bool write(std::string_view bytes) override {
    if (bytes.empty()) return !ended_ && real_.write(bytes);
    if (ended_) return false;
    if (sent_ < fault_.after_events) {
      ++sent_;
      return real_.write(bytes);
    }
    ended_ = true;
    if (fault_.kind == FaultKind::kExpireStream) {
      (void)real_.write(error_event(expired("too old resource version: 1 (2)")));
      return false;
    }
    (void)real_.write(bytes.substr(0, bytes.size() / 2));
    throw ConnectionCut();
  }

 private:
  http::BodyWriter& real_;
  const Fault& fault_;
  std::size_t sent_ = 0;
  bool ended_ = false;
};

}  // namespace

bool wants_table(const http::Request& request) {
  return request.header("Accept").find("as=Table") != std::string_view::npos;
}

bool wants_metadata_alone(const http::Request& request) {
  return request.header("Accept").find("as=PartialObjectMetadata") != std::string_view::npos;
}

http::Response written_response(int status, const Json& object, const http::Request& request) {
  if (!wants_metadata_alone(request)) return json_response(status, object);
  return json_response(status, {{"apiVersion", "meta.k8s.io/v1"},
                                {"kind", "PartialObjectMetadata"},
                                {"metadata", member_at(object, "metadata")}});
}

http::Response json_response(int status, const Json& body) {
  http::Response response = http::Response::json(status, dump_json(body));
  response.content_type = "application/json";
  return response;
}

http::Response failure_response(const Failure& failure) {
  if (failure.message == no_such_page().error().message)
    return http::Response::text(404, failure.message);
  http::Response response = json_response(failure.code, to_status(failure));
  const Json& seconds = member_at(failure.details, "retryAfterSeconds");
  if (seconds.is_number_integer()) response.headers.emplace_back("Retry-After", dump_json(seconds));
  return response;
}

http::Response object_response(const Resource& resource, const Json& object,
                               const http::Request& request, Clock::Wall now) {
  if (!wants_table(request)) return json_response(200, object);
  const Json metadata = {
      {"resourceVersion", string_at(member_at(object, "metadata"), "resourceVersion")}};
  return json_response(200, to_table(resource, {object}, metadata, now));
}

http::Response list_response(const Resource& resource, const Json& list,
                             const http::Request& request, Clock::Wall now) {
  if (!wants_table(request)) return json_response(200, list);
  const std::vector<Json> items = member_at(list, "items");
  return json_response(200, to_table(resource, items, member_at(list, "metadata"), now));
}

http::Response injected_response(const Fault& fault, const Failure& failure) {
  http::Response response = failure_response(failure);
  if (fault.kind == FaultKind::kFailureInside) response.status = 201;
  if (fault.kind == FaultKind::kOverloaded) {
    response.headers.emplace_back("X-Kubernetes-PF-FlowSchema-UID",
                                  "1b9a1c2e-0000-4000-a000-000000000001");
    response.headers.emplace_back("X-Kubernetes-PF-PriorityLevel-UID",
                                  "1b9a1c2e-0000-4000-a000-000000000002");
  }
  return response;
}

http::Response dropped_response() {
  http::Response response;
  response.status = 0;
  return response;
}

http::Response with_broken_stream(const Fault& fault, http::Response response) {
  response.stream = [fault, inner = std::move(response.stream)](http::BodyWriter& writer) {
    BrokenWriter broken(writer, fault);
    inner(broken);
  };
  return response;
}

}  // namespace gpuward::fakes
