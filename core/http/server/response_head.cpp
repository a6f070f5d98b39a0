#include "core/http/server/response_head.h"

#include <utility>

#include "core/http/syntax/headers.h"

namespace gpuward::http {
namespace {

void append_field(std::string& head, std::string_view name, std::string_view value) {
  if (!is_field_text(name) || !is_field_text(value)) return;
  head.append(name).append(": ").append(value).append("\r\n");
}

void append_length(std::string& head, const Response& response, std::string_view version) {
  if (!may_have_body(response.status)) return;
  if (!response.stream) {
    const std::size_t size = response.body ? response.body->size() : 0;
    append_field(head, "Content-Length", std::to_string(size));
  } else if (version != "1.0") {
    append_field(head, "Transfer-Encoding", "chunked");
  }
}

}  // namespace

std::string_view reason_phrase(int status) {
  static constexpr std::pair<int, std::string_view> kPhrases[] = {
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {505, "HTTP Version Not Supported"},
  };
  for (const auto& [code, phrase] : kPhrases) {
    if (code == status) return phrase;
  }
  return "Status";
}

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string render_head(const Response& response, Persistence persistence,
                        std::string_view version) {
  std::string head;
  head.reserve(256);
  head.append("HTTP/1.1 ").append(std::to_string(response.status)).append(" ");
  head.append(reason_phrase(response.status)).append("\r\n");
  if (may_have_body(response.status)) append_field(head, "Content-Type", response.content_type);
  append_length(head, response, version);
  head.append("X-Content-Type-Options: nosniff\r\n");
  for (const auto& [name, value] : response.headers) append_field(head, name, value);
  head.append(persistence == Persistence::kClose ? "Connection: close\r\n\r\n"
                                                 : "Connection: keep-alive\r\n\r\n");
  return head;
}

Response Response::text(int status, std::string body, std::string content_type) {
  Response response;
  response.status = status;
  response.content_type = std::move(content_type);
  response.body = std::make_shared<const std::string>(std::move(body));
  return response;
}

Response Response::json(int status, std::string body) {
  return text(status, std::move(body), "application/json");
}

}  // namespace gpuward::http
