// Bytes to a client: straight to the socket where it is plain (one system call for head and body,
// no copy), through civetweb where it is TLS. Used by the exchange only.
#pragma once

#include <chrono>
#include <string_view>

#include "core/http/server/connections.h"
#include "core/http/server/server.h"

struct mg_connection;

namespace gpuward::http {

class Output {
 public:
  Output(mg_connection* native, Connection& connection);

  // Both, one after the other. False: the client is gone or too slow. Connection::enter() sets the
  // deadline.
  bool send(std::string_view first, std::string_view second = {});

 private:
  bool send_plain(std::string_view first, std::string_view second);
  bool send_through_civetweb(std::string_view bytes);

  mg_connection* native_;
  int plain_socket_ = -1;
};

enum class ChunkMode : bool { kChunked, kRaw };

// The pieces of an answer that lasts.
class StreamOutput final : public BodyWriter {
 public:
  StreamOutput(Output& output, Connection& connection, const Connections& connections,
               std::chrono::milliseconds write_timeout, ChunkMode mode);

  bool write(std::string_view bytes) override;
  // The last chunk; false where the answer is incomplete.
  bool finish();

 private:
  Output& output_;
  Connection& connection_;
  const Connections& connections_;
  std::chrono::milliseconds write_timeout_;
  ChunkMode mode_;
  bool is_broken_ = false;
};

}  // namespace gpuward::http
