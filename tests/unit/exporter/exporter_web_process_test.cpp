// The program's pages as scrapers, kubelets and impolite clients meet them.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/quickest.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

// A client that sends the beginning of a request and then nothing.
class SlowClient {
 public:
  explicit SlowClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    constexpr std::string_view kHalf = "GET /metrics HTTP/1.1\r\nHost:";
    EXPECT_EQ(::send(socket_, kHalf.data(), kHalf.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(kHalf.size()));
  }
  ~SlowClient() { ::close(socket_); }
  SlowClient(const SlowClient&) = delete;
  SlowClient& operator=(const SlowClient&) = delete;

  // Returns whether the server has neither answered nor closed the connection.
  [[nodiscard]] bool is_waited_for() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
  }

 private:
  int socket_;
};

class ExporterWeb : public testing::Test {
 protected:
  void SetUp() override { exporter.start(); }
  http::ClientResponse send(const std::string& method, const std::string& path,
                            support::HeaderList headers = {}) const {
    http::ClientRequest request;
    request.method = method;
    request.url = exporter.url(path);
    request.headers = std::move(headers);
    return support::http_send(request);
  }

  RunningExporter exporter;
};

TEST_F(ExporterWeb, ServesTextThatPromtoolFindsClean) {
  GPUWARD_REQUIRE(support::why_no_program("promtool"));
  exporter.append_log(xid_line(79));
  exporter.append_log(
      "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress");
  ASSERT_TRUE(
      exporter.has("gpuward_sxid_errors_total{switch=\"nvidia-nvswitch3\",pci_bus_id=\"0000:05:"
                   "00\",sxid=\"12028\"}",
                   "1"));

  const auto outcome = support::Process::run(
      {.argv = {"promtool", "check", "metrics"}, .input = exporter.metrics()});

  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output << outcome->error_output;
}

TEST_F(ExporterWeb, SaysTheFormatInFull) {
  EXPECT_EQ(exporter.get("/metrics").header("Content-Type"),
            "text/plain; version=0.0.4; charset=utf-8");
}

TEST_F(ExporterWeb, PacksForThoseWhoAsk) {
  const auto packed = send("GET", "/metrics", {{"Accept-Encoding", "deflate, gzip;q=0.5"}});
  const auto plain = send("GET", "/metrics", {{"Accept-Encoding", "gzip;q=0"}});

  EXPECT_EQ(packed.header("Content-Encoding"), "gzip");
  EXPECT_THAT(packed.body, StartsWith("\x1f\x8b"));
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  EXPECT_THAT(plain.body, StartsWith("# HELP "));
  EXPECT_LT(packed.body.size() * 4, plain.body.size());
}

TEST_F(ExporterWeb, AnswersHeadWithTheSizeAndNothingElse) {
  const auto head = send("HEAD", "/metrics");

  EXPECT_EQ(head.status, 200);
  EXPECT_TRUE(head.body.empty());
  EXPECT_NE(head.header("Content-Length"), "");
}

TEST_F(ExporterWeb, KnowsItsPathsExactly) {
  EXPECT_EQ(send("GET", "/metrics/more").status, 404);
  EXPECT_EQ(send("GET", "/nothing").status, 404);
  EXPECT_EQ(send("POST", "/metrics").status, 405);
  EXPECT_EQ(send("GET", "/healthz").status, 200);
}

TEST_F(ExporterWeb, HasAPageOfItsNodeWithVersionAndLinks) {
  const auto page = exporter.get("/");

  EXPECT_THAT(std::string(page.header("Content-Type")), StartsWith("text/html"));
  EXPECT_THAT(page.body, HasSubstr(GPUWARD_VERSION));
  EXPECT_THAT(page.body, HasSubstr("href=\"metrics\""));
}

// A scraper and a kubelet may use any name. A browser that uses an attacker's name cannot read any
// page.
TEST_F(ExporterWeb, ServesItsPageUnderItsOwnNamesOnly) {
  const auto status_of = [&](const std::string& path, const std::string& host) {
    return send("GET", path, {{"Host", host}}).status;
  };
  EXPECT_EQ(status_of("/", "evil.example"), 421);
  EXPECT_EQ(status_of("/page.js", "evil.example"), 421);
  EXPECT_EQ(status_of("/metrics", "evil.example"), 200);
  EXPECT_EQ(status_of("/healthz", "evil.example"), 200);
  EXPECT_EQ(status_of("/", "localhost:10980"), 200);
}

TEST(ExporterWebHosts, AreThoseOfTheFlagAndTheNodesName) {
  RunningExporter exporter;
  exporter.start({"--web.hosts=gpus.example,gpu-7.example", "--web.hosts=a.example",
                  "--node.name=gpu-7.rack-1.example"});
  for (const std::string host :
       {"gpus.example", "gpu-7.example:80", "a.example", "gpu-7.rack-1.example"}) {
    http::ClientRequest request;
    request.url = exporter.url("/");
    request.headers = {{"Host", host}};
    EXPECT_EQ(support::http_send(request).status, 200) << host;
  }
}

TEST_F(ExporterWeb, SurvivesFortyScrapesAtOnce) {
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> scrapers;
    for (int i = 0; i < 40; ++i) {
      scrapers.emplace_back([&] {
        const auto response = exporter.get("/metrics");
        good += response.status == 200 &&
                response.body.find("\ngpuward_node_severity 0\n") != std::string::npos;
      });
    }
  }

  EXPECT_EQ(good, 40);
}

TEST_F(ExporterWeb, IsNotBlockedByClientsThatNeverFinishTheirRequest) {
  // The server closes slow connections after five seconds. A busy machine may take longer than that
  // for the requests below, so the test tries several times.
  const auto are_answered_beside_them = [&] {
    std::vector<std::unique_ptr<SlowClient>> slow;
    for (int i = 0; i < 20; ++i) slow.push_back(std::make_unique<SlowClient>(exporter.port()));
    EXPECT_EQ(exporter.get("/healthz").status, 200);
    EXPECT_EQ(exporter.get("/metrics").status, 200);
    return std::ranges::all_of(slow, [](const auto& one) { return one->is_waited_for(); });
  };

  EXPECT_TRUE(support::poll_until(are_answered_beside_them));
}

TEST_F(ExporterWeb, StopsWithinASecondThoughClientsHang) {
  const auto once = [&] {
    exporter.start();
    std::vector<std::unique_ptr<SlowClient>> slow;
    for (int i = 0; i < 8; ++i) slow.push_back(std::make_unique<SlowClient>(exporter.port()));

    const auto start = std::chrono::steady_clock::now();
    exporter.process().signal(SIGTERM);
    EXPECT_EQ(exporter.process().wait_exit(), 0);
    return std::chrono::steady_clock::now() - start;
  };
  EXPECT_LT(support::quickest_of(1s, once), 1s);
}

TEST_F(ExporterWeb, MetricsAreNeverEmptyDuringAReload) {
  exporter.write("config.yaml", "xid: {\"79\": {severity: monitor}}\n");
  exporter.start({"--config.file=" + exporter.file("config.yaml").string()});
  std::atomic<bool> done{false};
  std::atomic<int> bad{0};
  std::jthread scraper([&] {
    while (!done)
      bad += exporter.metrics().find("\ngpuward_node_severity 0\n") == std::string::npos;
  });

  for (int i = 0; i < 10; ++i) {
    const std::string severity = i % 2 == 0 ? "isolate" : "monitor";
    exporter.write("config.yaml", "xid: {\"79\": {severity: " + severity + "}}\n");
    exporter.process().signal(SIGHUP);
    EXPECT_TRUE(support::wait_until(
        [&] {
          return exporter.metrics().contains("gpuward_xid_policy_info{xid=\"79\",severity=\"" +
                                             severity);
        },
        "the reload"));
  }
  done = true;
  scraper.join();

  EXPECT_EQ(bad, 0);
}

// The test would measure a sanitizer's shadow memory instead of the program's.
#ifndef GPUWARD_SANITIZE
TEST_F(ExporterWeb, NeedsAtMostTwentyMegabytesWithEightGpusAndSixHundredSeries) {
  for (const int code : {13, 31, 43, 45, 63, 68, 69, 92, 94, 121}) {
    for (int gpu = 4; gpu < 12; ++gpu) {
      exporter.append_log(xid_line(code, "0000:" + std::string(1, "0123456789ab"[gpu]) + "e:00"));
    }
  }
  ASSERT_TRUE(exporter.has(xid_series(121), "1"));
  const auto resident = [this] {
    return std::stod(exporter.value("process_resident_memory_bytes"));
  };
  for (int i = 0; i < 50; ++i) {
    (void)send("GET", "/metrics", {{"Accept-Encoding", i % 2 == 0 ? "gzip" : "identity"}});
  }

  const std::string text = exporter.metrics();
  std::size_t series = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    series += text[at] != '#';
  EXPECT_GE(series, 600U);
  // A line after the scrapes makes the exporter render the page again, now with the cost of the
  // scrapes.
  exporter.append_log(xid_line(121));
  ASSERT_TRUE(exporter.has(xid_series(121), "2"));
  // A burst of lines or scrapes needs more for a moment.
  EXPECT_TRUE(support::poll_until([&] { return resident() <= 20e6; })) << resident();
}
#endif

}  // namespace
}  // namespace gpuward::exporter
