// Prometheus' request for a scrape, the exporter's answer, and the resulting series: names and
// types as served, and no series that the exporter does not serve, for each version, its flags and
// its naming schemes. A recorder runs between the two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>

#include "core/http/server/server.h"
#include "core/runtime/json.h"
#include "tests/places.inc"
#include "tests/support/http_get.h"
#include "tests/support/neighbours.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/serving_exporter.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::e2e {
namespace {

using support::wait_until;
using ::testing::HasSubstr;

constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";

struct Scraper {
  const char* name;
  const char* which;
  const char* flag;    // in addition to the usual flags
  const char* global;  // keys of the section
  const char* asks;    // the value of Accept
};

void PrintTo(const Scraper& scraper, std::ostream* out) { *out << scraper.name; }

constexpr Scraper kScrapers[] = {
    {"Debians", support::kDebians, "", "", "application/openmetrics-text;version=1.0.0"},
    {"Newer", support::kNewer, "", "",
     "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8"},
    {"NewerThatWantsTheTimeOfCreation", support::kNewer,
     "--enable-feature=created-timestamp-zero-ingestion", "",
     "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"},
    {"NewerWithTheOldNames", support::kNewer, "",
     ", metric_name_validation_scheme: legacy, metric_name_escaping_scheme: underscores",
     "escaping=underscores"},
    {"NewerThatAsksForNothingElse", support::kNewer, "",
     ", scrape_protocols: [OpenMetricsText1.0.0]", "application/openmetrics-text;version=1.0.0"},
};

// Passes each scrape on to the exporter unchanged.
class Recorder {
 public:
  explicit Recorder(std::string exporter) : exporter_(std::move(exporter)) {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    auto server = http::Server::start(
        options, {{.path = "/metrics", .methods = {"GET"}, .handler = [this](const auto& request) {
                     return pass_on(request);
                   }}});
    if (!server) throw std::runtime_error(server.error().message);
    server_ = *std::move(server);
  }
  [[nodiscard]] std::string address() const {
    return "127.0.0.1:" + std::to_string(server_->ports().front());
  }
  [[nodiscard]] std::string accept() const {
    const std::lock_guard lock(mutex_);
    return accept_;
  }
  [[nodiscard]] std::string content_type() const {
    const std::lock_guard lock(mutex_);
    return content_type_;
  }

 private:
  http::Response pass_on(const http::Request& request) {
    const std::string accept(request.header("Accept"));
    auto answer = support::http_get(
        exporter_,
        {{"Accept", accept}, {"Accept-Encoding", std::string(request.header("Accept-Encoding"))}});
    auto response = http::Response::text(answer.status, std::move(answer.body),
                                         std::string(answer.header("Content-Type")));
    const std::string packed(answer.header("Content-Encoding"));
    if (!packed.empty()) response.headers.emplace_back("Content-Encoding", packed);
    const std::lock_guard lock(mutex_);
    accept_ = accept;
    content_type_ = response.content_type;
    return response;
  }

  const std::string exporter_;
  mutable std::mutex mutex_;
  std::string accept_, content_type_;     // of the last scrape; guarded by mutex_
  std::unique_ptr<http::Server> server_;  // the last member: it ends first
};

// An exporter with findings, on a made-up machine.
class Page {
 public:
  Page() {
    folder_.write("kernel.log",
                  "NVRM: Xid (PCI:0000:4e:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen "
                  "off the bus.\n");
    folder_.write("gpus.yaml", "gpus: [{pci: \"0000:4e:00.0\", uuid: GPU-1}]\n");
    auto process = support::Process::spawn(
        {.argv = {GPUWARD_BIN_DIR "/gpuward-exporter", "--web.listen-address=127.0.0.1:0",
                  "--kernel-log.path=" + (folder_ / "kernel.log").string(),
                  "--gpu.simulate=" + (folder_ / "gpus.yaml").string(),
                  "--state.path=" + (folder_ / "state").string()}});
    if (!process) throw std::runtime_error(process.error().message);
    process_ = *std::move(process);
  }
  [[nodiscard]] bool has_judged() const {
    return support::metrics_page_of(*process_).find("gpuward_node_severity 3") != std::string::npos;
  }
  [[nodiscard]] std::string text() const { return support::metrics_page_of(*process_); }
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(support::serving_port(process_->error_output())) +
           "/metrics";
  }
  // The name and type of each family.
  [[nodiscard]] std::map<std::string, std::string> types() const {
    std::map<std::string, std::string> found;
    std::istringstream lines(text());
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string hash, type_word, name, type;
      if (words >> hash >> type_word >> name >> type && hash == "#" && type_word == "TYPE")
        found[name] = type;
    }
    return found;
  }
  // The names of all samples.
  [[nodiscard]] std::set<std::string> names() const {
    std::set<std::string> found;
    std::istringstream lines(text());
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line.front() != '#')
        found.insert(line.substr(0, line.find_first_of("{ ")));
    }
    return found;
  }

 private:
  support::TempDir folder_;
  std::unique_ptr<support::Process> process_;
};

class PrometheusThatScrapes {
 public:
  PrometheusThatScrapes(const Scraper& scraper, const std::string& target)
      : port_(support::free_port()) {
    const auto config = folder_.write(
        "prometheus.yaml", std::string("global: {scrape_interval: 1s, scrape_timeout: 1s") +
                               scraper.global +
                               "}\nscrape_configs: [{job_name: exporter, static_configs: "
                               "[{targets: ['" +
                               target + "']}]}]\n");
    std::vector<std::string> argv = {support::program_of(scraper.which, "prometheus"),
                                     "--config.file=" + config.string(),
                                     "--storage.tsdb.path=" + (folder_ / "data").string(),
                                     "--web.listen-address=127.0.0.1:" + std::to_string(port_)};
    if (*scraper.flag != '\0') argv.emplace_back(scraper.flag);
    auto process = support::Process::spawn({.argv = std::move(argv)});
    if (!process) throw std::runtime_error(process.error().message);
    process_ = *std::move(process);
  }
  // The data in the answer of /api/v1/...
  [[nodiscard]] Json data(const std::string& what) const {
    const auto answer =
        support::http_get("http://127.0.0.1:" + std::to_string(port_) + "/api/v1/" + what);
    return member_at(parse_json(answer.body).value_or(Json()), "data");
  }
  // The value of an instant query with one result; empty if there is none.
  [[nodiscard]] std::string value(const std::string& query) const {
    const Json result = member_at(data("query?query=" + query), "result");
    return result.empty() ? "" : result[0]["value"][1].get<std::string>();
  }
  [[nodiscard]] std::string log() const { return process_->error_output(); }

 private:
  support::TempDir folder_;
  int port_;
  std::unique_ptr<support::Process> process_;
};

// Series that Prometheus adds to each scrape.
bool is_of_the_scrape(const std::string& name) {
  return name == "up" || name.starts_with("scrape_");
}

// One exporter for all scrapers at once: each takes seconds before its first scrape.
class Scrapes : public ::testing::TestWithParam<Scraper> {
 protected:
  struct Pair {
    Recorder recorder;
    PrometheusThatScrapes prometheus;
    Pair(const Scraper& scraper, const std::string& exporter)
        : recorder(exporter), prometheus(scraper, recorder.address()) {}
  };
  static std::string why_none(const Scraper& scraper) {
    return support::why_no_program_of(scraper.which, "prometheus");
  }
  static void SetUpTestSuite() {
    page = std::make_unique<Page>();
    ASSERT_TRUE(wait_until([] { return page->has_judged(); }, "a judged kernel log"));
    for (const Scraper& scraper : kScrapers) {
      if (!support::is_left_to(support::tier_of(scraper.which)) && why_none(scraper).empty())
        pairs[scraper.name] = std::make_unique<Pair>(scraper, page->url());
    }
  }
  static void TearDownTestSuite() {
    pairs.clear();
    page.reset();
  }
  void SetUp() override {
    GPUWARD_REQUIRE_IN(support::tier_of(GetParam().which), why_none(GetParam()));
  }

  inline static std::unique_ptr<Page> page;
  inline static std::map<std::string, std::unique_ptr<Pair>> pairs;
};
INSTANTIATE_TEST_SUITE_P(Each, Scrapes, ::testing::ValuesIn(kScrapers),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(Scrapes, AreAnsweredInThePlainTextThatEachPrometheusTakesAsItIs) {
  const auto& [recorder, prometheus] = *pairs.at(GetParam().name);
  // A scrape can exceed its time-out on a busy machine.
  ASSERT_TRUE(wait_until(
      [&] { return prometheus.value("sum_over_time(up[1m])%3Ebool%201") == "1"; }, "two scrapes"))
      << prometheus.log();

  EXPECT_THAT(recorder.accept(), HasSubstr(GetParam().asks));
  EXPECT_EQ(recorder.content_type(), kText);
  std::set<std::string> stored;
  for (const Json& name : prometheus.data("label/__name__/values")) {
    if (!is_of_the_scrape(name)) stored.insert(name);
  }
  EXPECT_EQ(stored, page->names()) << "none is renamed, cut, added or lost";
  EXPECT_EQ(prometheus.value("scrape_samples_scraped"),
            prometheus.value("scrape_samples_post_metric_relabeling"));
  std::map<std::string, std::string> types;
  const Json metadata = prometheus.data("metadata");
  for (const auto& [name, all] : metadata.items()) types[name] = string_at(all[0], "type");
  EXPECT_EQ(types, page->types());
  // Prometheus puts no zero before the first value of a counter, because no creation time is
  // served.
  EXPECT_EQ(prometheus.value("min_over_time(gpuward_xid_errors_total%7Bxid=%2279%22%7D[1m])"), "1");
}

}  // namespace
}  // namespace gpuward::e2e
