#include "core/http/server/exchange.h"

#include <civetweb.h>

#include <exception>
#include <string>

#include "core/http/server/framing.h"
#include "core/http/server/output.h"
#include "core/http/server/request.h"
#include "core/http/server/response_head.h"
#include "core/http/server/socket_table.h"
#include "core/runtime/text.h"

namespace gpuward::http {
namespace {

constexpr std::size_t kLongestShownHost = 253;

Response refusal(int status, std::string_view reason) {
  return Response::text(status,
                        std::string(reason.empty() ? reason_phrase(status) : reason) + "\n");
}

// The name is a client's: it is text, and short.
Response misdirected(const std::string& authority) {
  return refusal(421, "Pages are not served under the name " +
                          to_valid_utf8(authority, kLongestShownHost) +
                          ". Open this page by the address of the server or as localhost, or add "
                          "the name to --web.hosts.");
}

class Exchange {
 public:
  Exchange(const ExchangeContext& context, mg_connection* native, Connection& connection)
      : context_(context), native_(native), connection_(connection), output_(native, connection) {}

  void serve() {
    connection_.begin_request(limits().read_timeout);
    head_ = receive_head(native_, limits());
    const Response response = answer();
    send(response);
    if (!is_body_read_) linger(native_, connection_);
    connection_.enter(Connection::Phase::kIdle, limits().keep_alive_timeout);
  }

  void refuse(int status, std::string_view reason) {
    head_.version = "1.1";
    must_close_ = true;
    send(refusal(status, reason));
    linger(native_, connection_);
  }

 private:
  [[nodiscard]] const Limits& limits() const { return context_.options.limits; }

  // Refusals of the head keep the body unread, and so the connection cannot go on.
  Response answer() {
    const Framing& framing = head_.framing;
    is_body_read_ = framing.status == 0 && framing.body == BodyKind::kNone;
    if (framing.status != 0 && framing.status != 411 && framing.status != 413) {
      return refusal(framing.status, framing.reason);
    }
    const RouteChoice choice = context_.router.choose(head_.request.method, head_.request.path);
    if (choice.route == nullptr) return not_routed(choice);
    if (choice.route->audience == Audience::kBrowsers &&
        !context_.page_hosts.accepts(head_.request.authority)) {
      return misdirected(head_.request.authority);
    }
    if (choice.route->access == Access::kAuthenticated) {
      connection_.begin_check();
      auto subject = context_.authenticator.authenticate(head_.request);
      connection_.end_check(subject ? Connection::Credentials::kRight
                                    : Connection::Credentials::kWrong);
      if (!subject) return std::move(subject.error());
      head_.request.subject = *subject;
    }
    if (framing.status != 0) return refusal(framing.status, framing.reason);
    BodyShare share(context_.bodies);
    if (const int status = read_body(share); status != 0) {
      return refusal(status, status == 503 ? "too many request bodies at once; try again" : "");
    }
    Response response = call(*choice.route);
    std::string().swap(head_.request.body);  // the share ends here
    return response;
  }

  static Response not_routed(const RouteChoice& choice) {
    Response response = refusal(choice.status, {});
    if (choice.status == 405) response.headers.emplace_back("Allow", choice.allow);
    return response;
  }

  int read_body(BodyShare& share) {
    if (!share.resize(static_cast<std::size_t>(head_.framing.length))) return 503;
    if (head_.framing.expects_continue && !output_.send("HTTP/1.1 100 Continue\r\n\r\n"))
      return 400;
    ReceivedBody body =
        receive_body(native_, connection_, head_.framing, limits().max_body_bytes, share);
    is_body_read_ = body.status == 0;
    if (is_body_read_) head_.request.body = std::move(body.bytes);
    return body.status;
  }

  Response call(const Route& route) {
    connection_.enter(Connection::Phase::kAnswering, limits().write_timeout);
    try {
      return route.handler(head_.request);
    } catch (const std::exception& error) {
      report(error.what());
    } catch (...) {
      report("an unknown exception");
    }
    return refusal(500, {});
  }

  void report(const std::string& what) const {
    if (!context_.options.on_problem) return;
    context_.options.on_problem("handler of " + head_.request.path + ": " + what);
  }

  void send(const Response& response) {
    if (context_.options.on_answer) context_.options.on_answer(response.status);
    const bool is_old = head_.version == "1.0";
    must_close_ = must_close_ || !is_body_read_ || !head_.wants_keep_alive ||
                  context_.connections.is_stopping() || context_.connections.is_full() ||
                  (is_old && response.stream);
    const std::string head = render_head(
        response, must_close_ ? Persistence::kClose : Persistence::kKeepAlive, head_.version);
    const bool has_body = may_have_body(response.status) && head_.request.method != "HEAD";
    connection_.enter(Connection::Phase::kWriting, limits().write_timeout);
    bool complete = true;
    if (has_body && response.stream) {
      complete = output_.send(head) && stream(response, is_old);
    } else {
      const bool sends_body = has_body && response.body;
      complete = output_.send(head, sends_body ? *response.body : std::string_view{});
    }
    if (must_close_ || !complete) mg_disable_connection_keep_alive(native_);
  }

  bool stream(const Response& response, bool is_old) {
    StreamOutput pieces(output_, connection_, context_.connections, limits().write_timeout,
                        is_old ? ChunkMode::kRaw : ChunkMode::kChunked);
    try {
      response.stream(pieces);
    } catch (const std::exception& error) {
      report(error.what());
      return false;
    } catch (...) {
      report("an unknown exception");
      return false;
    }
    return pieces.finish();
  }

  const ExchangeContext& context_;
  mg_connection* native_;
  Connection& connection_;
  Output output_;
  ReceivedHead head_;
  bool is_body_read_ = false;
  bool must_close_ = false;
};

// civetweb says 400 for all it cannot parse, a header over its buffer and one that was cut
// included.
int status_of_unparsed(const Limits& limits, const Connection& connection, int status) {
  if (connection.was_cut() || connection.is_overdue()) return 408;
  const bool was_too_long =
      status == 400 && bytes_received(connection.descriptor()) >= limits.max_header_bytes;
  return was_too_long || status == 413 ? 431 : status;
}

}  // namespace

void serve_request(const ExchangeContext& context, mg_connection* native, Connection& connection) {
  try {
    Exchange(context, native, connection).serve();
  } catch (...) {  // no memory, most likely: civetweb is C and must not see it
    mg_disable_connection_keep_alive(native);
  }
}

void refuse_request(const ExchangeContext& context, mg_connection* native, Connection& connection,
                    int status) {
  try {
    const int ours = status_of_unparsed(context.options.limits, connection, status);
    Exchange(context, native, connection).refuse(ours, {});
  } catch (...) {
    mg_disable_connection_keep_alive(native);
  }
}

}  // namespace gpuward::http
