// A server whose workers are all busy. The time-outs here are so long that nothing else frees a
// worker.
#include <crypt.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/http/server/socket_table.h"
#include "core/runtime/encoding.h"
#include "tests/support/certificates.h"
#include "tests/support/hostile_clients.h"
#include "tests/support/quickest.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/server/raw_socket.h"
#include "tests/unit/core/http/test_server.h"

namespace gpuward::http {
namespace {

using std::chrono::milliseconds;

constexpr const char* kOne = "127.0.0.1";
constexpr const char* kOther = "127.0.0.2";
constexpr const char* kThird = "127.0.0.3";
constexpr const char* kWhole = "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n";

ServerOptions patient_options() {
  ServerOptions options;
  options.limits.max_connections = 4;
  options.limits.read_timeout = std::chrono::hours(1);
  options.limits.write_timeout = std::chrono::hours(1);
  options.limits.keep_alive_timeout = std::chrono::hours(1);
  return options;
}

std::vector<Route> routes() {
  return {get_route("/healthz", "ok"), get_route("/large", std::string(32U << 20U, 'x')),
          echo_route()};
}

using Sockets = std::vector<std::unique_ptr<RawSocket>>;

// Opens eight connections, for four workers.
Sockets crowd_of(int port, const char* address, std::string_view text) {
  Sockets crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.push_back(std::make_unique<RawSocket>(port, kOne, address));
    crowd.back()->send(text);
  }
  return crowd;
}

struct Crowd {
  const char* name;
  const char* text;
};

class FullServerOf : public testing::TestWithParam<Crowd> {};

TEST_P(FullServerOf, AnswersARequest) {
  const TestServer server(routes(), patient_options());
  const Sockets crowd = crowd_of(server.port(), kOne, GetParam().text);
  for (int i = 0; i < 3; ++i) {
    RawSocket socket(server.port(), kOne, kOther);
    socket.send(kWhole);
    EXPECT_EQ(socket.read_response().status, 200) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Crowds, FullServerOf,
    testing::Values(
        Crowd{"Silent", ""}, Crowd{"HalfAHead", "GET /healthz HTTP/1.1\r\nX"},
        Crowd{"HalfASecondHead", "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\nGET /healthz HT"},
        Crowd{"HalfABody", "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx"},
        Crowd{"RefusedBody", "POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nx"},
        Crowd{"Idle", kWhole}, Crowd{"Deaf", "GET /large HTTP/1.1\r\nHost: h\r\n\r\n"}),
    [](const auto& crowd) { return std::string(crowd.param.name); });

TEST(FullServer, MakesRoomAmongTlsHandshakes) {
  const support::TempDir folder;
  support::CertificateAuthority authority("gpuward test CA");
  const auto certificate = authority.issue_server({"127.0.0.1"});
  ServerOptions options = patient_options();
  options.tls.certificate_file = folder.write("tls.crt", certificate.certificate_pem);
  options.tls.key_file = folder.write("tls.key", certificate.key_pem);
  ClientTls tls;
  tls.ca_pem = authority.certificate_pem();
  const TestServer server(routes(), options);
  for (const char* text : {"", "\x16\x03\x01\x02"}) {
    const Sockets crowd = crowd_of(server.port(), kOther, text);
    CurlClient client(tls);
    const auto answer = client.send(get_request(server.url("/healthz")));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->status, 200);
  }
}

// The oldest connection belongs to a peer with only one. If the test gets no processor for a long
// time before the others connect, that peer rightly counts as the one with most worker time. Then
// the test tries again.
TEST(FullServer, SparesThePeerWithFewestConnections) {
  int status = 0;
  const auto once = [&]() -> std::chrono::nanoseconds {
    const TestServer server(routes(), patient_options());
    const auto begin = std::chrono::steady_clock::now();
    RawSocket oldest(server.port(), kOne, kOther);
    oldest.send("GET /healthz HTTP/1.1\r\n");
    const Sockets crowd = crowd_of(server.port(), kOne, "GET /healthz HTTP/1.1\r\n");
    RawSocket newest(server.port(), kOne, kThird);
    newest.send(kWhole);
    EXPECT_EQ(newest.read_response().status, 200);
    oldest.send("Host: h\r\n\r\n");
    status = oldest.read_response().status;
    if (status == 200) return {};
    return std::chrono::steady_clock::now() - begin;
  };
  (void)support::quickest_of(milliseconds(500), once);
  EXPECT_EQ(status, 200);
}

TEST(FullServer, SparesARequestAtWork) {
  std::atomic<int> begun{0};
  std::atomic<bool> may_end{false};
  const Handler slow = [&](const Request&) {
    ++begun;
    (void)support::poll_until([&] { return may_end.load(); });
    return Response::text(200, "done");
  };
  std::vector<Route> all = routes();
  all.push_back({"/slow", {"GET"}, slow});
  const TestServer server(all, patient_options());
  RawSocket worker(server.port());
  worker.send("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(support::wait_until([&] { return begun == 1; }, "the handler"));
  const Sockets crowd = crowd_of(server.port(), kOne, "");
  RawSocket other(server.port(), kOne, kOther);
  other.send(kWhole);
  EXPECT_EQ(other.read_response().status, 200);
  may_end = true;
  EXPECT_EQ(worker.read_response().body, "done");
}

// The server cannot distinguish connections from one port to two addresses of its machine.
TEST(FullServer, ClosesAConnectionThatItCannotTellFromAnother) {
  ServerOptions options = patient_options();
  options.listen_addresses = {"0.0.0.0:0"};
  const TestServer server(routes(), options);
  // Another program on this machine may hold the port of the first one. Then the loop tries again.
  std::unique_ptr<RawSocket> first;
  std::unique_ptr<RawSocket> second;
  const bool have_pair = support::poll_until([&] {
    first = std::make_unique<RawSocket>(server.port());
    second = std::make_unique<RawSocket>(server.port(), kOther, kOne, first->own_port());
    return second->own_port() == first->own_port();
  });
  ASSERT_TRUE(have_pair);

  second->send(kWhole);
  EXPECT_TRUE(second->is_closed_within());
  second->close();
  // The server closes its own end a moment later.
  ASSERT_TRUE(support::poll_until([&] {
    const auto all = find_accepted_sockets(find_listening_sockets());
    return std::ranges::count(all, first->own_port(), [](const AcceptedSocket& one) {
             return static_cast<int>(one.peer.port);
           }) == 1;
  }));
  first->send(kWhole);
  EXPECT_EQ(first->read_response().status, 200);
  EXPECT_TRUE(first->read_all(std::chrono::milliseconds(50)).empty());
}

// A client that sends requests without a pause would keep its worker.
TEST(FullServer, KeepsNoConnectionThatIsNeverIdle) {
  const TestServer server(routes(), patient_options());
  std::atomic<int> answered{0};
  std::vector<std::jthread> hasty;
  for (int i = 0; i < 8; ++i) {
    hasty.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        RawSocket socket(server.port());
        while (!stop.stop_requested() && socket.send(kWhole) &&
               socket.read_response().status == 200) {
          ++answered;
        }
      }
    });
  }
  ASSERT_TRUE(support::wait_until([&] { return answered > 100; }, "requests"));
  RawSocket other(server.port(), kOne, kOther);
  other.send(kWhole);
  EXPECT_EQ(other.read_response().status, 200);
}

// An Alertmanager sends its body in pieces, within a second. A server with the limits of the
// programs reads it in spite of the attack.
TEST(FullServer, ReadsTheBodyOfARequestWithCredentialsInAFlood) {
  const support::TempDir folder;
  ServerOptions options;
  options.auth.bearer_token_files = {folder.write("token", "a-token-of-the-right-length")};
  const TestServer server({get_route("/metrics", "x"), echo_route(Access::kAuthenticated)},
                          options);
  const support::HostileClients attack(server.port(), support::brief_holds().options);
  for (int i = 0; i < 5; ++i) {
    RawSocket sender(server.port());
    sender.send(
        "POST /echo HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer "
        "a-token-of-the-right-length\r\nContent-Length: 4\r\n"
        "Expect: 100-continue\r\n\r\n");
    ASSERT_EQ(sender.read_response(support::kGenerous, false).status, 100);
    for (const char* piece : {"a", "b", "c", "d"}) {
      EXPECT_EQ(sender.read_until("HTTP/1.1 408", milliseconds(200)), false);
      sender.send(piece);
    }
    EXPECT_EQ(sender.read_response().body, "abcd") << i;
  }
}

std::string crypt_of(const std::string& password, unsigned long cost) {
  crypt_data data{};
  const std::string setting =
      crypt_gensalt_rn("$2b$", cost, nullptr, 0, data.output, sizeof data.output);
  crypt_data scratch{};
  return crypt_r(password.c_str(), setting.c_str(), &scratch);
}

std::string request_of(const std::string& credentials) {
  return "GET /private HTTP/1.1\r\nHost: h\r\nAuthorization: Basic " + encode_base64(credentials) +
         "\r\n\r\n";
}

// Uses the limits of the programs, and a hash as htpasswd makes it.
TEST(FullServer, AnswersARightPasswordBesideAHundredWrongOnes) {
  const support::TempDir folder;
  ServerOptions options;
  options.auth.basic_users_file = folder.write("users", "alice:" + crypt_of("right", 10));
  const std::string wrong = request_of("alice:wrong");
  const auto once = [&]() -> std::chrono::nanoseconds {
    const TestServer server({get_route("/private", "x", Access::kAuthenticated)}, options);
    // The first wrong password marks the peer.
    RawSocket first(server.port(), kOne, kOther);
    first.send(wrong);
    EXPECT_EQ(first.read_response().status, 401);
    Sockets guesses;
    for (int i = 0; i < 100; ++i) {
      guesses.push_back(std::make_unique<RawSocket>(server.port(), kOne, kOther));
      guesses.back()->send(wrong);
    }
    RawSocket right(server.port());
    const auto begin = std::chrono::steady_clock::now();
    right.send(request_of("alice:right"));
    EXPECT_EQ(right.read_response().status, 200);
    const auto took = std::chrono::steady_clock::now() - begin;
    int refused = 0;
    for (const auto& guess : guesses) refused += guess->read_response().status == 503 ? 1 : 0;
    EXPECT_GT(refused, 0);
    return took;
  };
  EXPECT_LT(support::quickest_of(std::chrono::seconds(1), once), std::chrono::seconds(1));
}

}  // namespace
}  // namespace gpuward::http
