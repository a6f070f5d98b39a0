#include "core/http/server/server.h"

#include <civetweb.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/http/server/authenticator.h"
#include "core/http/server/body_budget.h"
#include "core/http/server/connections.h"
#include "core/http/server/exchange.h"
#include "core/http/server/listen_address.h"
#include "core/http/server/page_hosts.h"
#include "core/http/server/router.h"
#include "core/http/server/socket_table.h"
#include "core/http/server/tls_context.h"
#include "core/model/result.h"

namespace gpuward::http {
namespace {

// The options of civetweb: our limits in its words, and every feature that serves files,
// redirects or shares origins switched off. Pure; used by the server.

// civetweb's buffer for a header. Room beyond our own limit lets us answer 431 to most of what is
// too long.
std::size_t header_buffer(const Limits& limits) { return limits.max_header_bytes + 4096; }

// The server cuts at its own time-outs, which know the answer 408. Those of civetweb come later.
constexpr std::chrono::milliseconds kLibraryGrace{1'000};

std::string civetweb_port(const ListenAddress& address, bool is_tls) {
  const std::string port = std::to_string(address.port) + (is_tls ? "s" : "");
  if (address.is_ipv6) return "[" + address.host + "]:" + port;
  if (!address.host.empty()) return address.host + ":" + port;
  return machine_has_ipv6() ? "+" + port : "0.0.0.0:" + port;
}

// Name, value, name, value, ...
Result<std::vector<std::string>> civetweb_settings(const ServerOptions& options) {
  std::string ports;
  for (const std::string& text : options.listen_addresses) {
    const auto address = parse_listen_address(text);
    if (!address) return std::unexpected(address.error());
    if (!ports.empty()) ports += ',';
    ports += civetweb_port(*address, !options.tls.certificate_file.empty());
  }
  const Limits& limits = options.limits;
  return std::vector<std::string>{
      "listening_ports",
      ports,
      "num_threads",
      std::to_string(limits.max_connections),
      "connection_queue",
      "16",
      "listen_backlog",
      std::to_string(kListenBacklog),
      "max_request_size",
      std::to_string(header_buffer(limits)),
      "request_timeout_ms",
      std::to_string((limits.read_timeout + kLibraryGrace).count()),
      "enable_keep_alive",
      "yes",
      "keep_alive_timeout_ms",
      std::to_string(limits.keep_alive_timeout.count()),
      "tcp_nodelay",
      "1",
      "decode_url",
      "no",
      "access_control_allow_origin",
      "",
      "access_control_allow_methods",
      "",
      "access_control_allow_headers",
      "",
      "enable_directory_listing",
      "no",
      "enable_auth_domain_check",
      "no",
      "cgi_pattern",
      "",
      "ssi_pattern",
      "",
      "index_files",
      "",
  };
}

constexpr std::chrono::milliseconds kStopGrace{600};

Status check_options(const ServerOptions& options) {
  if (options.listen_addresses.empty()) {
    return fail(ErrorKind::kInvalid, "HTTP server: no listen address");
  }
  if (options.limits.max_connections == 0) {
    return fail(ErrorKind::kInvalid, "HTTP server: max_connections must be at least 1");
  }
  const ServerTls& tls = options.tls;
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return fail(ErrorKind::kInvalid, "TLS: certificate_file and key_file must be set together");
  }
  if (tls.certificate_file.empty() && !tls.client_ca_file.empty()) {
    return fail(ErrorKind::kInvalid, "TLS: client_ca_file needs certificate_file and key_file");
  }
  return BodyBudget::check(options.limits);
}

// Debian's own build of civetweb accepts a TLS port and dies on the first handshake; this bit
// tells. OpenSSL is set up only for those who use it: it costs a megabyte.
Status prepare_library(const ServerOptions& options) {
  static const unsigned kPlain = mg_init_library(0);
  static_cast<void>(kPlain);
  if (options.tls.certificate_file.empty()) return {};
  static const unsigned kTls = mg_init_library(MG_FEATURES_TLS);
  if ((kTls & MG_FEATURES_TLS) != 0) return {};
  return fail(ErrorKind::kInvalid,
              "TLS: this build of civetweb does not support TLS; run `./dev deps`");
}

}  // namespace

class Server::Impl {
 public:
  Impl(const ServerOptions& options, std::vector<Route> routes,
       std::unique_ptr<Authenticator> authenticator, std::unique_ptr<TlsContext> tls)
      : options_(options),
        router_(std::move(routes)),
        authenticator_(std::move(authenticator)),
        tls_(std::move(tls)),
        connections_(options.limits),
        bodies_(options.limits),
        page_hosts_(options.page_hosts),
        context_{options_, router_, *authenticator_, connections_, bodies_, page_hosts_} {
    if (tls_) tls_->set_on_begin([this] { connections_.expect(); });
  }

  ~Impl() {
    if (native_ == nullptr) return;
    connections_.stop(kStopGrace);
    mg_stop(native_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Status start() {
    const auto settings = civetweb_settings(options_);
    if (!settings) return std::unexpected(settings.error());
    std::vector<const char*> flat;
    for (const std::string& text : *settings) flat.push_back(text.c_str());
    flat.push_back(nullptr);
    const std::vector<ListeningSocket> before = find_listening_sockets();
    const mg_callbacks callbacks = make_callbacks();
    native_ = mg_start(&callbacks, this, flat.data());
    if (native_ == nullptr) return start_failure();
    learn_sockets(before);
    return {};
  }

  [[nodiscard]] const std::vector<int>& ports() const { return ports_; }

 private:
  mg_callbacks make_callbacks() const {
    mg_callbacks callbacks{};
    callbacks.begin_request = on_request;
    callbacks.http_error = on_unparsed;
    callbacks.log_message = on_log;
    callbacks.init_connection = on_open;
    callbacks.connection_close = on_close;
    if (tls_) callbacks.external_ssl_ctx = on_tls_context;
    return callbacks;
  }

  static Impl& self_of(const mg_connection* native) {
    return *static_cast<Impl*>(mg_get_user_data(mg_get_context(native)));
  }

  static Connection* connection_of(const mg_connection* native) {
    return static_cast<Connection*>(mg_get_user_connection_data(native));
  }

  static int on_open(const mg_connection* native, void** data) {
    *data = self_of(native).connections_.open();
    return 0;
  }

  static void on_close(const mg_connection* native) {
    if (Connection* connection = connection_of(native)) {
      self_of(native).connections_.close(connection);
    }
  }

  // Before the first request civetweb does not say whose connection it is.
  // False: it was cut to make room, and its client cannot read an answer.
  static bool learn_socket(const mg_connection* native, Connection& connection) {
    if (connection.descriptor() >= 0) return true;
    const mg_request_info& info = *mg_get_request_info(native);
    const std::string_view address = info.remote_addr;
    const auto port = static_cast<std::uint16_t>(info.remote_port);
    return self_of(native).connections_.learn_socket(
        connection, {std::string(address.substr(0, address.find('%'))), port});
  }

  // A request whose body is to come, without credentials. Credentials are checked before the body,
  // and finding the socket costs more than such a refusal.
  static bool must_yield(const mg_connection* native) {
    const mg_request_info& info = *mg_get_request_info(native);
    const bool has_body =
        info.content_length > 0 || mg_get_header(native, "Transfer-Encoding") != nullptr;
    const bool has_credentials =
        info.client_cert != nullptr || mg_get_header(native, "Authorization") != nullptr;
    return has_body && !has_credentials &&
           self_of(native).connections_.must_yield(info.remote_addr);
  }

  static int on_request(mg_connection* native) {
    Connection& connection = *connection_of(native);
    if (must_yield(native)) {
      refuse_request(self_of(native).context_, native, connection, 503);
    } else if (learn_socket(native, connection)) {
      serve_request(self_of(native).context_, native, connection);
    } else {
      mg_disable_connection_keep_alive(native);
    }
    return 1;  // handled: civetweb looks for no file and redirects nowhere
  }

  static int on_unparsed(mg_connection* native, int status, const char* /*message*/) {
    if (Connection* connection = connection_of(native)) {
      if (!learn_socket(native, *connection)) return 0;
      refuse_request(self_of(native).context_, native, *connection, status);
    }
    return 0;  // handled
  }

  // On the thread that starts the server this tells why that failed; on others it is about single
  // clients.
  static int on_log(const mg_connection* native, const char* message) {
    Impl& self = self_of(native);
    if (std::this_thread::get_id() == self.starter_ && self.start_log_.empty()) {
      self.start_log_ = message;
    }
    return 1;
  }

  static int on_tls_context(void** context, void* self) {
    *context = static_cast<Impl*>(self)->tls_->native();
    return 1;  // ours: civetweb neither changes nor frees it
  }

  Status start_failure() const {
    std::string message = "HTTP server cannot listen on";
    for (const std::string& address : options_.listen_addresses) message += " " + address;
    message += ": " + (start_log_.empty() ? std::string("civetweb did not start") : start_log_);
    return fail(ErrorKind::kUnavailable, std::move(message));
  }

  void learn_sockets(const std::vector<ListeningSocket>& before) {
    std::vector<mg_server_port> found(options_.listen_addresses.size());
    const int count = mg_get_server_ports(native_, static_cast<int>(found.size()), found.data());
    for (int i = 0; i < count; ++i) ports_.push_back(found[static_cast<std::size_t>(i)].port);
    std::vector<ListeningSocket> ours = find_listening_sockets();
    std::erase_if(ours, [&](const ListeningSocket& listener) {
      return std::ranges::count(before, listener.descriptor, &ListeningSocket::descriptor) > 0 ||
             std::ranges::count(ports_, listener.local.port) == 0;
    });
    connections_.watch_listeners(std::move(ours));
  }

  const ServerOptions options_;
  const Router router_;
  const std::unique_ptr<Authenticator> authenticator_;
  const std::unique_ptr<TlsContext> tls_;
  Connections connections_;
  BodyBudget bodies_;
  const PageHosts page_hosts_;
  const ExchangeContext context_;
  const std::thread::id starter_ = std::this_thread::get_id();
  mg_context* native_ = nullptr;
  std::string start_log_;
  std::vector<int> ports_;
};

Result<std::unique_ptr<Server>> Server::prepare(const ServerOptions& options,
                                                std::vector<Route> routes) {
  if (auto status = check_options(options); !status) return std::unexpected(status.error());
  if (auto status = prepare_library(options); !status) return std::unexpected(status.error());
  auto authenticator = Authenticator::create(options);
  if (!authenticator) return std::unexpected(authenticator.error());
  std::unique_ptr<TlsContext> tls;
  if (!options.tls.certificate_file.empty()) {
    auto made = TlsContext::create(options.tls, options.on_problem);
    if (!made) return std::unexpected(made.error());
    tls = std::move(*made);
  }
  return std::unique_ptr<Server>(new Server(std::make_unique<Impl>(
      options, std::move(routes), std::move(*authenticator), std::move(tls))));
}

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options,
                                              std::vector<Route> routes) {
  auto server = prepare(options, std::move(routes));
  if (!server) return server;
  if (auto status = (*server)->impl_->start(); !status) return std::unexpected(status.error());
  return server;
}

Status Server::check(const ServerTls& tls, const ServerAuth& auth) {
  const ServerOptions options{
      .listen_addresses = {":0"}, .tls = tls, .auth = auth, .limits = {}, .on_problem = {}};
  const auto server = prepare(options, {});
  return server ? Status() : std::unexpected(server.error());
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

const std::vector<int>& Server::ports() const { return impl_->ports(); }

}  // namespace gpuward::http
