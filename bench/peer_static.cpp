// Peer of scrape_bench: civetweb with a handler that returns the bytes of a file, as simply as
// possible. It gives the minimum cost of a scrape.
#include <civetweb.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace {

int answer(mg_connection* connection, void* data) {
  const auto& body = *static_cast<const std::string*>(data);
  mg_printf(connection,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
            "Content-Length: %zu\r\nConnection: keep-alive\r\n\r\n",
            body.size());
  mg_write(connection, body.data(), body.size());
  return 200;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ifstream file(argv[1], std::ios::binary);
  std::string body(std::istreambuf_iterator<char>(file), {});
  const char* options[] = {"listening_ports",
                           "127.0.0.1:0",
                           "enable_keep_alive",
                           "yes",
                           "tcp_nodelay",
                           "1",
                           "num_threads",
                           "16",
                           nullptr};
  mg_init_library(0);
  mg_context* context = mg_start(nullptr, nullptr, options);
  if (context == nullptr) return 1;
  mg_set_request_handler(context, "/metrics", answer, &body);
  mg_server_port port{};
  mg_get_server_ports(context, 1, &port);
  std::cout << "port=" << port.port << std::endl;
  ::pause();
  return 0;
}
