// The body of a request, read whole within the limits on its size and its time. Used by the
// exchange only.
#pragma once

#include <string>

#include "core/http/server/connections.h"
#include "core/http/server/framing.h"

struct mg_connection;

namespace gpuward::http {

struct ReceivedBody {
  std::string bytes;
  int status = 0;  // not 0: refuse with this status (400 broken, 408 too slow, 413 too large)
};

[[nodiscard]] ReceivedBody receive_body(mg_connection* native, const Connection& connection,
                                        const Framing& framing, std::size_t max_bytes);

// Reads and forgets for a moment what a refused client still sends: closing with unread bytes would
// reset the connection, and the client would lose the answer.
void linger(mg_connection* native, Connection& connection);

}  // namespace gpuward::http
