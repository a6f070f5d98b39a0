#include "tests/fakes/fake_metadata.h"

namespace gpuward::fakes {
namespace {

http::ClientResponse response(int status, std::string body = {}) {
  http::ClientResponse made;
  made.status = status;
  made.body = std::move(body);
  return made;
}

constexpr std::string_view kToken = "dG9rZW4=";

// EC2 with IMDSv2 required answers 401 without a token; Compute Engine 403 and Azure 400 without
// their header.
int refusal(std::string_view path, const http::ClientRequest& request) {
  const auto header = [&](std::string_view name) {
    return http::header_value(request.headers, name);
  };
  if (path.starts_with("/latest/")) return header("X-aws-ec2-metadata-token") == kToken ? 0 : 401;
  if (path.starts_with("/computeMetadata/")) return header("Metadata-Flavor") == "Google" ? 0 : 403;
  return header("Metadata") == "true" ? 0 : 400;
}

}  // namespace

void FakeMetadata::set(std::string_view path, std::string body, int status) {
  const std::lock_guard lock(mutex_);
  answers_.insert_or_assign(std::string(path), std::pair(status, std::move(body)));
}

void FakeMetadata::remove(std::string_view path) {
  const std::lock_guard lock(mutex_);
  answers_.erase(std::string(path));
}

void FakeMetadata::fail_with(std::optional<Error> error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
}

Result<http::ClientResponse> FakeMetadata::send(const http::ClientRequest& request) {
  const std::lock_guard lock(mutex_);
  asked_.push_back(request);
  if (error_) return std::unexpected(*error_);
  const auto slash = request.url.find('/', std::string_view("http://").size());
  const std::string path = request.url.substr(slash);
  if (path == "/latest/api/token")
    return response(request.method == "PUT" ? 200 : 405, std::string(kToken));
  if (const int status = refusal(path, request)) return response(status);
  const auto found = answers_.find(path);
  if (found == answers_.end()) return response(404, "not found");
  return response(found->second.first, found->second.second);
}

std::vector<http::ClientRequest> FakeMetadata::asked() const {
  const std::lock_guard lock(mutex_);
  return asked_;
}

}  // namespace gpuward::fakes
