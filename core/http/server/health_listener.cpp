#include "core/http/server/health_listener.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <list>
#include <map>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include "core/http/server/listen_address.h"
#include "core/http/server/peer.h"
#include "core/http/server/response_head.h"
#include "core/http/server/router.h"
#include "core/http/server/socket_table.h"
#include "core/http/syntax/url.h"
#include "core/runtime/clock.h"
#include "core/runtime/descriptor.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock::time_point;

constexpr std::size_t kMaxHead = 4096;
constexpr int kAcceptedAtOnce = 128;
// While the process has no descriptor left, and no connection here that could give one back.
constexpr milliseconds kPause{100};

std::unexpected<Error> cannot_listen(const std::string& address, const char* what) {
  return fail(ErrorKind::kUnavailable, "health listener cannot listen on " + address + ": " + what +
                                           ": " + std::strerror(errno));
}

bool bind_to(int descriptor, const ListenAddress& address, bool is_ipv6) {
  if (is_ipv6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    if (!address.host.empty()) inet_pton(AF_INET6, address.host.c_str(), &v6.sin6_addr);
    const int only = address.host.empty() ? 0 : 1;
    setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof only);
    return bind(descriptor, reinterpret_cast<const sockaddr*>(&v6), sizeof v6) == 0;
  }
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(address.port);
  if (!address.host.empty()) inet_pton(AF_INET, address.host.c_str(), &v4.sin_addr);
  return bind(descriptor, reinterpret_cast<const sockaddr*>(&v4), sizeof v4) == 0;
}

Result<Descriptor> listen_on(const std::string& text) {
  const auto address = parse_listen_address(text);
  if (!address) return std::unexpected(address.error());
  const bool is_ipv6 = address->is_ipv6 || (address->host.empty() && machine_has_ipv6());
  Descriptor made(
      socket(is_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (made.get() < 0) return cannot_listen(text, "socket");
  const int on = 1;
  setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!bind_to(made.get(), *address, is_ipv6)) return cannot_listen(text, "bind");
  if (listen(made.get(), kListenBacklog) != 0) return cannot_listen(text, "listen");
  return made;
}

int port_of(const Descriptor& listener) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own), &size);
  return read_endpoint(own).port;
}

// "GET /healthz?verbose HTTP/1.1"; an empty method where it is none.
Request parse_request_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  Request request;
  if (first == std::string_view::npos || last <= first) return request;
  if (!line.substr(last + 1).starts_with("HTTP/1.")) return request;
  const auto target = split_target(line.substr(first + 1, last - first - 1));
  const auto path = target ? normalise_path(target->path) : std::unexpected(target.error());
  if (!path) return request;
  request.method = line.substr(0, first);
  request.path = *path;
  return request;
}

struct Client {
  Descriptor socket;
  Steady deadline;
  std::string head;
};

// By the peer_key() of the peer's address, oldest first.
using Clients = std::map<std::string, std::list<Client>>;

}  // namespace

class HealthListener::Impl {
 public:
  Impl(const HealthOptions& options, std::vector<Route> routes)
      : options_(options), router_(std::move(routes)) {}

  Status start() {
    if (options_.listen_addresses.empty()) {
      return fail(ErrorKind::kInvalid, "health listener: no listen address");
    }
    for (const std::string& address : options_.listen_addresses) {
      auto listener = listen_on(address);
      if (!listener) return std::unexpected(listener.error());
      ports_.push_back(port_of(*listener));
      listeners_.push_back(*std::move(listener));
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    return {};
  }

  [[nodiscard]] const std::vector<int>& ports() const { return ports_; }

 private:
  void run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "health");
    const std::stop_callback wake(stop, [this] { eventfd_write(wake_.get(), 1); });
    while (!stop.stop_requested()) {
      wait();
      const auto now = SystemClock().steady();
      serve_clients(now);
      for (const Descriptor& listener : listeners_) accept_from(listener);
    }
  }

  void wait() {
    watched_.assign(1, pollfd{wake_.get(), POLLIN, 0});
    for (const Descriptor& one : listeners_) {
      if (!is_paused_) watched_.push_back({one.get(), POLLIN, 0});
    }
    const auto now = SystemClock().steady();
    auto due = is_paused_ ? now + kPause : Steady::max();
    for (const auto& [peer, of_peer] : clients_) {
      due = std::min(due, of_peer.front().deadline);
      for (const Client& one : of_peer) watched_.push_back({one.socket.get(), POLLIN, 0});
    }
    is_paused_ = false;
    const auto left = std::max(std::chrono::ceil<milliseconds>(due - now), milliseconds(0));
    const bool has_limit = due != Steady::max();
    poll(watched_.data(), watched_.size(), has_limit ? static_cast<int>(left.count()) : -1);
  }

  void serve_clients(Steady now) {
    for (auto& [peer, of_peer] : clients_) {
      count_ -= std::erase_if(of_peer, [&](Client& client) {
        return client.deadline <= now || !keeps_waiting(client, peer);
      });
    }
    std::erase_if(clients_, [](const auto& one) { return one.second.empty(); });
  }

  void accept_from(const Descriptor& listener) {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      sockaddr_storage from{};
      socklen_t size = sizeof from;
      Descriptor taken(accept4(listener.get(), reinterpret_cast<sockaddr*>(&from), &size,
                               SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (taken.get() < 0) {
        const int why = errno;
        const bool is_short = why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM;
        if (is_short) is_paused_ = !make_room();
        if (why == EAGAIN || why == EWOULDBLOCK || is_paused_) return;
        continue;
      }
      // A probe comes with its head, and is answered at once. Each has a time of its own, which
      // says which is the oldest.
      Client client{std::move(taken), SystemClock().steady() + options_.head_timeout, {}};
      const std::string peer = peer_key(read_endpoint(from).address);
      if (!keeps_waiting(client, peer)) continue;
      make_room_for(peer);
      clients_[peer].push_back(std::move(client));
      ++count_;
    }
  }

  // Reads what there is, and answers a whole head. False: this connection is over.
  bool keeps_waiting(Client& client, const std::string& peer) {
    std::array<char, kMaxHead> piece;
    for (;;) {
      const ssize_t got = recv(client.socket.get(), piece.data(), piece.size(), 0);
      if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
      if (got == 0) return false;
      client.head.append(piece.data(), static_cast<std::size_t>(got));
      if (client.head.contains("\r\n\r\n")) break;
      if (client.head.size() >= kMaxHead) {
        send(client, "GET", Response::text(431, "the header is too large\n"));
        return false;
      }
    }
    Request request =
        parse_request_line(std::string_view(client.head).substr(0, client.head.find("\r\n")));
    request.peer = peer;
    send(client, request.method, answer(request));
    return false;
  }

  [[nodiscard]] Response answer(const Request& request) const {
    if (request.method.empty()) return Response::text(400, "the request is malformed\n");
    const RouteChoice choice = router_.choose(request.method, request.path);
    if (choice.route == nullptr) {
      Response response =
          Response::text(choice.status, std::string(reason_phrase(choice.status)) + "\n");
      if (choice.status == 405) response.headers.emplace_back("Allow", choice.allow);
      return response;
    }
    try {
      return choice.route->handler(request);
    } catch (const std::exception&) {
      return Response::text(500, "this check failed\n");
    }
  }

  // What fits into the kernel's buffer, which is more than any check says.
  static void send(const Client& client, std::string_view method, const Response& response) {
    std::string bytes = render_head(response, Persistence::kClose, "1.1");
    if (method != "HEAD" && response.body) bytes += *response.body;
    (void)::send(client.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  void make_room_for(const std::string& peer) {
    const auto known = clients_.find(peer);
    const std::size_t of_peer = known == clients_.end() ? 0 : known->second.size();
    if (of_peer >= options_.max_connections_of_peer) {
      drop_oldest(known);
    } else if (count_ >= options_.max_connections) {
      (void)make_room();
    }
  }

  // The peer that has most connections loses its oldest; of several such peers, the one whose
  // oldest has waited longest. False if there is no connection.
  bool make_room() {
    const auto most = std::ranges::max_element(clients_, {}, [](const auto& one) {
      return std::pair(one.second.size(), -one.second.front().deadline.time_since_epoch());
    });
    if (most == clients_.end()) return false;
    drop_oldest(most);
    return true;
  }

  void drop_oldest(Clients::iterator peer) {
    peer->second.pop_front();
    if (peer->second.empty()) clients_.erase(peer);
    --count_;
  }

  const HealthOptions options_;
  const Router router_;
  std::vector<Descriptor> listeners_;
  std::vector<int> ports_;
  const Descriptor wake_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  // Only the thread uses these.
  Clients clients_;
  std::size_t count_ = 0;
  std::vector<pollfd> watched_;
  bool is_paused_ = false;
  std::jthread thread_;
};

Result<std::unique_ptr<HealthListener>> HealthListener::start(const HealthOptions& options,
                                                              std::vector<Route> routes) {
  auto impl = std::make_unique<Impl>(options, std::move(routes));
  if (auto status = impl->start(); !status) return std::unexpected(status.error());
  return std::unique_ptr<HealthListener>(new HealthListener(std::move(impl)));
}

HealthListener::HealthListener(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HealthListener::~HealthListener() = default;

Result<std::unique_ptr<HealthListener>> serve_health(const std::vector<std::string>& addresses,
                                                     std::vector<Route> routes) {
  if (addresses.empty()) return nullptr;
  auto health = HealthListener::start({.listen_addresses = addresses}, std::move(routes));
  if (!health) return with_context("--web.health-address", health.error());
  return health;
}

const std::vector<int>& HealthListener::ports() const { return impl_->ports(); }

}  // namespace gpuward::http
