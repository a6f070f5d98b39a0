#include "exporter/pods/grpc_call.h"

#include "core/runtime/clock.h"
#include "core/runtime/text.h"

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kPrefixBytes = 5;  // a flag for compression and a length of four bytes

std::string frame(const std::string& message) {
  std::string framed(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) {
    framed += static_cast<char>((message.size() >> static_cast<unsigned>(shift)) & 0xFFU);
  }
  return framed + message;
}

Result<std::string> unframe(std::string body) {
  if (body.size() < kPrefixBytes)
    return fail(ErrorKind::kInternal, "the response contains no message");
  if (body[0] != '\0')
    return fail(ErrorKind::kInternal,
                "the response is compressed, although compression was not requested");
  std::size_t length = 0;
  for (std::size_t i = 1; i < kPrefixBytes; ++i) {
    length = length << 8U | static_cast<std::uint8_t>(body[i]);
  }
  if (length != body.size() - kPrefixBytes) {
    return fail(ErrorKind::kInternal, "the response is not exactly one complete message");
  }
  body.erase(0, kPrefixBytes);
  return body;
}

// grpc/doc/statuscodes.md
ErrorKind kind_of(int status) {
  switch (status) {  // the peer's number
    case 1:
      return ErrorKind::kCancelled;
    case 4:
      return ErrorKind::kTimeout;
    case 7:
      return ErrorKind::kForbidden;
    case 8:
      return ErrorKind::kOverloaded;
    case 12:
      return ErrorKind::kNotFound;
    case 14:
      return ErrorKind::kUnavailable;
    case 16:
      return ErrorKind::kUnauthenticated;
  }
  return ErrorKind::kInternal;
}

// Finds a field in the trailers, or in the headers of a response that is only an error.
std::string_view field(const http::ClientResponse& response, std::string_view name) {
  const std::string_view trailer = response.trailer(name);
  return trailer.empty() ? response.header(name) : trailer;
}

Status check_status(const http::ClientResponse& response) {
  if (response.status != 200) {
    return fail(ErrorKind::kUnavailable,
                "HTTP status " + std::to_string(response.status) + ": not a gRPC server");
  }
  const std::string status(field(response, "grpc-status"));
  if (status == "0") return {};
  const auto code = parse_integer<int>(status);
  if (!code) return fail(ErrorKind::kUnavailable, "the response ended without a grpc-status");
  return fail(kind_of(*code),
              "gRPC status " + status + ": " + to_valid_utf8(field(response, "grpc-message"), 300));
}

http::ClientRequest request_of(const GrpcCall& call) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = "http://localhost" + call.method;
  request.unix_socket = call.socket;
  request.version = http::HttpVersion::kHttp2PriorKnowledge;
  request.headers = {{"Content-Type", "application/grpc"},
                     {"TE", "trailers"},
                     {"grpc-timeout", std::to_string(call.timeout.count()) + "m"}};
  request.body = frame(call.message);
  request.timeout = call.timeout;
  request.max_response_bytes = call.max_response_bytes;
  return request;
}

}  // namespace

Result<std::string> call_grpc(http::Client& client, const GrpcCall& call,
                              const std::stop_token& stop) {
  const SystemClock clock;
  const auto deadline = clock.steady() + call.timeout;
  std::string body;
  std::optional<Error> error;
  // Streamed, because a stop must end it.
  const auto take = [&](std::string_view bytes) {
    if (body.size() + bytes.size() > call.max_response_bytes) {
      error = {ErrorKind::kTooLarge,
               "the response has more than " + std::to_string(call.max_response_bytes) + " bytes",
               {}};
    } else if (clock.steady() > deadline) {
      error = {ErrorKind::kTimeout, "no complete response in time", {}};
    } else {
      body.append(bytes);
    }
    return !error;
  };
  const auto response = client.stream(request_of(call), call.timeout, stop, take);
  if (!response) return std::unexpected(response.error());
  if (error) return std::unexpected(*error);
  if (auto status = check_status(*response); !status) return std::unexpected(status.error());
  return unframe(std::move(body));
}

}  // namespace gpuward::exporter
