// civetweb's view of a request turned into ours, with the checks that its parser leaves out. Used
// by the exchange only.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace gpuward::http
