#include "exporter/host/instance_metadata.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

// All of it, so that a start is late by 4 s at most where nobody answers.
constexpr std::chrono::milliseconds kRequestTimeout{1000};
constexpr std::chrono::milliseconds kV1Timeout{2000};
constexpr std::size_t kMostBytes = 4096;

constexpr int kOk = 200;

http::ClientRequest request_for(const std::string& url, std::chrono::milliseconds timeout) {
  http::ClientRequest request;
  request.url = url;
  request.timeout = timeout;
  request.max_response_bytes = kMostBytes;
  return request;
}

// The AWS SDKs ask version 1 after these and after a time-out: the answer to a PUT does not travel
// further than the instance's hop limit, 1 by default, so that it never reaches a pod.
bool may_be_version_1(int status) { return status == 403 || status == 404 || status == 405; }

std::string answered(const std::string& what, int status) {
  return what + " answered HTTP " + std::to_string(status);
}

Result<std::string> read_type(const Result<http::ClientResponse>& response) {
  if (!response) return std::unexpected(response.error());
  if (response->status != kOk)
    return fail(ErrorKind::kUnavailable, answered("instance-type", response->status));
  std::string type(trim(response->body));
  if (!is_ec2_instance_type(type))
    return fail(ErrorKind::kInvalid, "the answer is no instance type");
  return type;
}

std::expected<std::string, MetadataV2Failure> ask_for_token(const std::string& base,
                                                            http::Client& client) {
  http::ClientRequest request = request_for(base + "/latest/api/token", kRequestTimeout);
  request.method = "PUT";
  request.headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "60"}};
  auto response = client.send(request);
  if (!response) {
    const bool is_late = response.error().kind == ErrorKind::kTimeout;
    return std::unexpected(MetadataV2Failure{std::move(response).error(), is_late});
  }
  std::string token(trim(response->body));
  if (response->status != kOk) {
    return std::unexpected(
        MetadataV2Failure{{ErrorKind::kUnavailable, answered("the token", response->status), {}},
                          may_be_version_1(response->status)});
  }
  const bool is_token = !token.empty() && std::ranges::all_of(token, [](char c) {
    return c > ' ' && c < '\x7F' && c != '<';
  });
  if (!is_token) {
    return std::unexpected(
        MetadataV2Failure{{ErrorKind::kInvalid, "the answer is no token", {}}, false});
  }
  return token;
}

}  // namespace

bool is_ec2_instance_type(std::string_view text) {
  constexpr std::size_t kMostCharacters = 64;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  const auto dot = text.find('.');
  return text.size() <= kMostCharacters && dot != std::string_view::npos && dot > 0 &&
         dot + 1 < text.size() && std::ranges::all_of(text, is_part) && text.back() != '.';
}

Result<std::string> ask_metadata_v1(const std::string& base, http::Client& client) {
  return read_type(client.send(request_for(base + "/latest/meta-data/instance-type", kV1Timeout)));
}

std::expected<std::string, MetadataV2Failure> ask_metadata_v2(const std::string& base,
                                                              http::Client& client) {
  auto token = ask_for_token(base, client);
  if (!token) return token;
  auto request = request_for(base + "/latest/meta-data/instance-type", kRequestTimeout);
  request.headers = {{"X-aws-ec2-metadata-token", *token}};
  auto type = read_type(client.send(request));
  if (!type) return std::unexpected(MetadataV2Failure{std::move(type).error(), false});
  return std::move(*type);
}

}  // namespace gpuward::exporter
