// One HTTP request in one line, for tests. A transport error is visible: its text is the body, and
// the status is 0.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/http/client/client.h"
#include "tests/support/deadline.h"

namespace gpuward::support {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] inline http::ClientResponse http_send(http::ClientRequest request,
                                                    http::ClientTls tls = {}) {
  http::CurlClient client(std::move(tls));
  const Deadline deadline(request.timeout);
  request.timeout = deadline.limit();
  auto response = client.send(request);
  if (response) return *std::move(response);
  if (response.error().kind == ErrorKind::kTimeout) deadline.fail();
  http::ClientResponse failed;
  failed.body = response.error().message;
  return failed;
}

[[nodiscard]] inline http::ClientResponse http_get(const std::string& url,
                                                   HeaderList headers = {}) {
  http::ClientRequest request;
  request.url = url;
  request.headers = std::move(headers);
  request.timeout = kGenerousRequest;
  return http_send(std::move(request));
}

[[nodiscard]] inline http::ClientResponse http_post(const std::string& url, std::string body,
                                                    HeaderList headers = {
                                                        {"Content-Type", "application/json"}}) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = url;
  request.body = std::move(body);
  request.headers = std::move(headers);
  request.timeout = kGenerousRequest;
  return http_send(std::move(request));
}

}  // namespace gpuward::support
