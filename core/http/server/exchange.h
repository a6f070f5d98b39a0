// One request on one connection, from its header to the last byte of its answer. The only file
// beside server.cpp that speaks to civetweb; used by it alone.
#pragma once

#include <string_view>

#include "core/http/server/authenticator.h"
#include "core/http/server/body_budget.h"
#include "core/http/server/connections.h"
#include "core/http/server/page_hosts.h"
#include "core/http/server/router.h"
#include "core/http/server/server.h"

struct mg_connection;

namespace gpuward::http {

// What every exchange of a server shares. Outlives them all.
struct ExchangeContext {
  const ServerOptions& options;
  const Router& router;
  Authenticator& authenticator;
  Connections& connections;
  BodyBudget& bodies;
  const PageHosts& page_hosts;
};

// Serves what civetweb has parsed; answers, or marks the connection for closing. Never throws.
void serve_request(const ExchangeContext& context, mg_connection* native, Connection& connection);

// Answers a request that civetweb could not parse, with civetweb's status and closing.
void refuse_request(const ExchangeContext& context, mg_connection* native, Connection& connection,
                    int status);

}  // namespace gpuward::http
