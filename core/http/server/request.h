// civetweb's view of a request turned into ours, with the checks that its parser leaves out. Used
// by the exchange only.
#pragma once

#include <string>
#include <string_view>

#include "core/http/server/body_budget.h"
#include "core/http/server/connections.h"
#include "core/http/server/framing.h"
#include "core/http/server/server.h"

struct mg_connection;

namespace gpuward::http {

struct ReceivedHead {
  Request request;  // without body
  std::string version;
  bool wants_keep_alive = false;
  Framing framing;  // its status is not 0 where the head alone is enough to refuse
};

[[nodiscard]] ReceivedHead receive_head(mg_connection* native, const Limits& limits);

struct ReceivedBody {
  std::string bytes;
  // Not 0: refuse with this status (400 broken, 408 too slow, 413 too large, 503 no room).
  int status = 0;
};

// `share` has the bytes of a body whose length is known already; for one in chunks it grows.
[[nodiscard]] ReceivedBody receive_body(mg_connection* native, const Connection& connection,
                                        const Framing& framing, std::size_t max_bytes,
                                        BodyShare& share);

// Reads and forgets for a moment what a refused client still sends: closing with unread bytes would
// reset the connection, and the client would lose the answer.
void linger(mg_connection* native, Connection& connection);

}  // namespace gpuward::http
