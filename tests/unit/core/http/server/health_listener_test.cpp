#include "core/http/server/health_listener.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

// The kernel needs a moment before a new address is usable.
bool is_usable(const std::string& address) {
  sockaddr_in6 own{};
  own.sin6_family = AF_INET6;
  inet_pton(AF_INET6, address.c_str(), &own.sin6_addr);
  const int probe = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool is_bound = bind(probe, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0;
  close(probe);
  return is_bound;
}

// Gives the calling thread, and those that it starts, a network of its own whose loopback has these
// IPv6 addresses. Returns why it cannot, or "".
std::string enter_own_network(const std::vector<std::string>& addresses) {
  if (unshare(CLONE_NEWNET) != 0) return "no network namespace on this machine without root";
  const int control = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (control < 0) return "no IPv6 on this machine";
  ifreq up{};
  std::strcpy(up.ifr_name, "lo");
  up.ifr_flags = IFF_UP | IFF_RUNNING;
  bool is_done = ioctl(control, SIOCSIFFLAGS, &up) == 0;
  for (const std::string& address : addresses) {
    in6_ifreq added{};
    inet_pton(AF_INET6, address.c_str(), &added.ifr6_addr);
    added.ifr6_prefixlen = 128;
    added.ifr6_ifindex = static_cast<int>(if_nametoindex("lo"));
    is_done = is_done && ioctl(control, SIOCSIFADDR, &added) == 0 &&
              support::poll_until([&] { return is_usable(address); });
  }
  close(control);
  return is_done ? "" : "no IPv6 addresses on the loopback of this machine";
}

HealthOptions on_loopback() {
  HealthOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  options.head_timeout = support::kGenerous;
  return options;
}

std::unique_ptr<HealthListener> started(const HealthOptions& options,
                                        std::vector<Route> routes = {}) {
  routes.push_back(get_route("/healthz", "ok"));
  auto listener = HealthListener::start(options, std::move(routes));
  EXPECT_TRUE(listener) << listener.error().message;
  return std::move(*listener);
}

RawResponse probe(const HealthListener& listener) {
  return raw_exchange(listener.ports().front(), "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n");
}

TEST(HealthListener, AnswersAsAServerDoes) {
  const auto listener = started(on_loopback());
  CurlClient client;
  const std::string url = "http://127.0.0.1:" + std::to_string(listener->ports().front());
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.send(get_request(url + "/healthz?verbose"));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->body, "ok");
  }
  EXPECT_EQ(client.send(get_request(url + "/metrics"))->status, 404);
  EXPECT_EQ(client.send(post_request(url + "/healthz", "x"))->status, 405);
}

TEST(HealthListener, AnswersHeadWithoutABody) {
  const auto listener = started(on_loopback());
  RawSocket socket(listener->ports().front());
  socket.send("HEAD /healthz HTTP/1.0\r\n\r\n");
  const std::string all = socket.read_all();
  EXPECT_TRUE(all.starts_with("HTTP/1.1 200 OK\r\n")) << all;
  EXPECT_TRUE(all.ends_with("Connection: close\r\n\r\n")) << all;
}

TEST(HealthListener, ReadsAHeadInPieces) {
  const auto listener = started(on_loopback());
  RawSocket socket(listener->ports().front());
  for (const char* piece : {"GET /hea", "lthz HTT", "P/1.1\r\n\r", "\n"}) {
    socket.send(piece);
    EXPECT_EQ(probe(*listener).status, 200) << "others are answered meanwhile";
  }
  EXPECT_EQ(socket.read_response().status, 200);
}

TEST(HealthListener, RefusesWhatItCannotRead) {
  const auto listener = started(on_loopback());
  const int port = listener->ports().front();
  for (const char* head : {"\r\n\r\n", "GET\r\n\r\n", "GET /healthz\r\n\r\n", " / HTTP/1.1\r\n\r\n",
                           "GET /%zz HTTP/1.1\r\n\r\n", "GET /healthz SPDY/1\r\n\r\n"}) {
    EXPECT_EQ(raw_exchange(port, head).status, 400) << head;
  }
  EXPECT_EQ(raw_exchange(port, "GET /" + std::string(4'091, 'a')).status, 431);
}

TEST(HealthListener, AnswersWhereACheckThrows) {
  const Handler broken = [](const Request&) -> Response { throw std::runtime_error("x"); };
  const auto listener = started(on_loopback(), {{"/broken", {"GET"}, broken}});
  EXPECT_EQ(raw_exchange(listener->ports().front(), "GET /broken HTTP/1.1\r\n\r\n").status, 500);
  EXPECT_EQ(probe(*listener).status, 200);
}

TEST(HealthListener, ClosesAConnectionWithoutAHeadInTime) {
  HealthOptions options = on_loopback();
  options.head_timeout = milliseconds(50);
  const auto listener = started(options);
  RawSocket silent(listener->ports().front());
  RawSocket half(listener->ports().front());
  half.send("GET /healthz HTTP/1.1\r\n");
  EXPECT_TRUE(silent.is_closed_within());
  EXPECT_TRUE(half.is_closed_within());
}

TEST(HealthListener, LetsThePeerWithMostConnectionsLoseItsOldest) {
  HealthOptions options = on_loopback();
  options.max_connections = 3;
  const auto listener = started(options);
  const int port = listener->ports().front();
  RawSocket other(port, "127.0.0.1", "127.0.0.2");
  RawSocket oldest(port);
  RawSocket second(port);
  RawSocket third(port);
  EXPECT_TRUE(oldest.is_closed_within());
  for (RawSocket* one : {&other, &second, &third}) {
    one->send("GET /healthz HTTP/1.1\r\n\r\n");
    EXPECT_EQ(one->read_response().status, 200);
  }
}

// A probe sends its head at once, and silent connections from as many addresses have waited longer.
TEST(HealthListener, LetsTheOldestGoIfEachPeerHasOne) {
  HealthOptions options = on_loopback();
  options.max_connections = 2;
  const auto listener = started(options);
  const int port = listener->ports().front();
  RawSocket oldest(port, "127.0.0.1", "127.0.0.3");
  RawSocket second(port, "127.0.0.1", "127.0.0.1");
  RawSocket third(port, "127.0.0.1", "127.0.0.2");
  EXPECT_TRUE(oldest.is_closed_within());
  for (RawSocket* one : {&second, &third}) {
    one->send("GET /healthz HTTP/1.1\r\n\r\n");
    EXPECT_EQ(one->read_response().status, 200);
  }
}

TEST(HealthListener, BoundsTheConnectionsOfAPeer) {
  HealthOptions options = on_loopback();
  options.max_connections_of_peer = 2;
  const auto listener = started(options);
  RawSocket oldest(listener->ports().front());
  RawSocket second(listener->ports().front());
  RawSocket third(listener->ports().front());
  EXPECT_TRUE(oldest.is_closed_within());
  second.send("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_EQ(second.read_response().status, 200);
}

// A host has a whole /64 of addresses.
TEST(HealthListener, CountsAnIpv6NetworkAsOnePeer) {
  std::string why_not;
  std::thread([&] {
    why_not = enter_own_network({"2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:2::2",
                                 "2001:db8:0:2::3", "2001:db8:0:2::4"});
    if (!why_not.empty()) return;
    HealthOptions options = on_loopback();
    options.listen_addresses = {"[2001:db8:0:1::1]:0"};
    options.max_connections_of_peer = 2;
    const auto listener = started(options);
    const int port = listener->ports().front();
    RawSocket neighbour(port, "2001:db8:0:1::1", "2001:db8:0:1::1");
    RawSocket first(port, "2001:db8:0:1::1", "2001:db8:0:2::1");
    RawSocket second(port, "2001:db8:0:1::1", "2001:db8:0:2::2");
    RawSocket third(port, "2001:db8:0:1::1", "2001:db8:0:2::3");
    EXPECT_TRUE(first.is_closed_within());
    for (RawSocket* one : {&neighbour, &second, &third}) {
      one->send("GET /healthz HTTP/1.1\r\n\r\n");
      EXPECT_EQ(one->read_response().status, 200);
    }
  }).join();
  // The test runs on each machine that allows it. Only `./dev test --all` requires it.
  if (!why_not.empty() && support::is_left_to(support::Tier::kAll)) GTEST_SKIP() << why_not;
  GPUWARD_REQUIRE(why_not);
}

TEST(HealthListener, ListensOnEachOfItsAddresses) {
  HealthOptions options = on_loopback();
  options.listen_addresses = {":0", "127.0.0.1:0", "[::1]:0"};
  if (auto tried = HealthListener::start(options, {}); !tried) options.listen_addresses.pop_back();
  const auto listener = started(options);
  ASSERT_EQ(listener->ports().size(), options.listen_addresses.size());
  EXPECT_EQ(raw_exchange(listener->ports()[0], "GET /healthz HTTP/1.1\r\n\r\n").status, 200);
  EXPECT_EQ(raw_exchange(listener->ports()[1], "GET /healthz HTTP/1.1\r\n\r\n").status, 200);
}

TEST(HealthListener, SaysWhyItCannotStart) {
  const auto listener = started(on_loopback());
  HealthOptions taken = on_loopback();
  taken.listen_addresses = {"127.0.0.1:" + std::to_string(listener->ports().front())};
  const auto second = HealthListener::start(taken, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::kUnavailable);
  EXPECT_NE(second.error().message.find(taken.listen_addresses.front()), std::string::npos);
  EXPECT_EQ(HealthListener::start({.listen_addresses = {"nonsense"}}, {}).error().kind,
            ErrorKind::kInvalid);
  EXPECT_EQ(HealthListener::start({}, {}).error().kind, ErrorKind::kInvalid);
}

}  // namespace
}  // namespace gpuward::http
