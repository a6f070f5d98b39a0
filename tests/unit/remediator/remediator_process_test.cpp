// The real binary against the fake API server over a socket, as an Alertmanager and a kubelet would
// see it.
#include "tests/unit/remediator/remediator_process.h"

#include <signal.h>

#include <atomic>
#include <chrono>

#include "tests/support/quickest.h"
#include "tests/support/wait.h"

namespace gpuward::remediator {
namespace {

using std::chrono::seconds;
using support::http_get;
using support::http_post;
using support::wait_until;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(RemediatorProcess, TurnsAnAlertIntoATaintedAndCordonedNode) {
  start_ready();

  const auto response = send(alert(), credentials());

  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_THAT(response.body, HasSubstr("\"accepted\":1"));
  ASSERT_TRUE(wait_until([&] { return is_cordoned(); }, "cordon"));
  const Json node = server_->kube().get("/api/v1/nodes/gpu-01");
  EXPECT_EQ(node["spec"]["taints"][0]["key"], "gpuward.dev/remediation");
  EXPECT_EQ(node["spec"]["taints"][0]["value"], "reboot");
  ASSERT_TRUE(wait_until(
      [&] { return process_->output().find("\"moment\":\"done\"") != std::string::npos; },
      "audit line"));
  EXPECT_THAT(process_->output(), HasSubstr("\"fingerprint\":\"ab12\""));
  ASSERT_TRUE(wait_until(
      [&] { return !server_->kube().get("/api/v1/namespaces/default/events")["items"].empty(); },
      "event"));
  const auto scraped =
      http_get(telemetry("/metrics"),
               {{"Accept", "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8"}});
  EXPECT_EQ(scraped.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  const std::string& metrics = scraped.body;
  EXPECT_THAT(metrics, HasSubstr("gpuward_remediator_actions_total{action=\"quarantine\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("gpuward_remediator_alerts_total{outcome=\"accepted\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("gpuward_remediator_mode_info{mode=\"cordon\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("gpuward_build_info"));
}

TEST_F(RemediatorProcess, ObservesOnlyByDefault) {
  start_ready({});

  deliver(alert());

  ASSERT_TRUE(wait_until(
      [&] { return process_->output().find("\"phase\":\"Observed\"") != std::string::npos; },
      "audit line"));
  EXPECT_FALSE(is_cordoned());
  EXPECT_TRUE(server_->kube().requests("PATCH", "/api/v1/nodes/").empty());
}

TEST_F(RemediatorProcess, TakesOnlyWhoShowsAToken) {
  start_ready();

  EXPECT_EQ(http_post(webhook(), alert()).status, 401);
  EXPECT_EQ(http_post(webhook(), alert(), credentials("sesame-0123456789")).status, 401);
  EXPECT_EQ(send(alert(), credentials("old-token-0123456789")).status, 200);
  EXPECT_THAT(process_->error_output(), Not(HasSubstr("sesame")));
}

TEST_F(RemediatorProcess, AnswersWhatCannotBeRightWithTheRightCode) {
  start_ready();

  EXPECT_EQ(http_post(webhook(), "{", credentials()).status, 400);
  EXPECT_EQ(http_post(webhook(), R"({"version":"3","alerts":[]})", credentials()).status, 400);
  EXPECT_EQ(http_post(webhook(), std::string((16U << 20U) + 1, ' '), credentials()).status, 413);
  support::HeaderList text = {{"Content-Type", "text/plain"},
                              {"Authorization", "Bearer sesame-open-0123456789"}};
  EXPECT_EQ(http_post(webhook(), alert(), text).status, 415);
  EXPECT_EQ(http_get(webhook(), credentials()).status, 405);
  EXPECT_EQ(http_post(webhook() + "/", alert(), credentials()).status, 404);
  EXPECT_EQ(http_get(telemetry("/healthz")).status, 200);
}

TEST_F(RemediatorProcess, Answers503BeforeASlowApiServerDoesAndIfItIsDown) {
  start_ready();
  std::atomic<bool> may_answer = false;
  const auto slow = server_->kube().add_fault(
      {.kind = fakes::FaultKind::kUnavailable,
       .method = "POST",
       .path = ".*/remediations",
       .times = -1,
       .on_hit = [&] { (void)support::poll_until([&] { return may_answer.load(); }); }});
  const auto once = [this] {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(http_post(webhook(), alert(), credentials()).status, 503);
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_LT(support::quickest_of(seconds(2), once), seconds(2));
  EXPECT_GT(server_->kube().fault_hits(slow), 0U);
  may_answer = true;
  server_.reset();

  EXPECT_EQ(http_post(webhook(), alert(), credentials()).status, 503);

  EXPECT_TRUE(
      wait_until([&] { return http_get(telemetry("/readyz")).status == 503; }, "not ready"));
  EXPECT_EQ(http_get(telemetry("/healthz")).status, 200);
}

TEST_F(RemediatorProcess, EndsSoonAfterSigterm) {
  const auto once = [this] {
    start_ready();
    const auto begin = std::chrono::steady_clock::now();
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait_exit(), 0);
    return std::chrono::steady_clock::now() - begin;
  };
  EXPECT_LT(support::quickest_of(seconds(2), once), seconds(2));
}

TEST_F(RemediatorProcess, EndsThoughARequestHangs) {
  start_ready();
  deliver(alert());
  const auto delay = server_->kube().add_fault(
      {.kind = fakes::FaultKind::kDelay, .path = ".*/readyz", .times = -1, .delay = seconds(12)});
  ASSERT_TRUE(wait_until([&] { return server_->kube().fault_hits(delay) > 0; }, "a hang"));
  const auto begin = std::chrono::steady_clock::now();

  process_->signal(SIGTERM);

  EXPECT_EQ(process_->wait_exit(), 0);
  // It ends after about 3 s. A process that waited for the answer would take 12 s.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(11));
}

TEST_F(RemediatorProcess, GoesOnWhereAKilledOneStopped) {
  start_ready({"--mode=observe"});
  deliver(alert());
  process_->signal(SIGKILL);
  ASSERT_TRUE(process_->wait_exit());

  start_ready({"--mode=cordon"});

  // This happens once the dead one's lease is over.
  EXPECT_TRUE(wait_until([&] { return is_cordoned(); }, "cordon"));
}

TEST_F(RemediatorProcess, TakesANewPolicyAndKeepsTheOldOneIfTheNewIsWrong) {
  write("policy.yaml", "mode: observe\n");
  start_ready({"--config.file=" + path("policy.yaml")});
  deliver(alert());

  write("policy.yaml", "mode: cordoon\n");
  process_->signal(SIGHUP);
  ASSERT_TRUE(wait_until(
      [&] {
        const std::string text = http_get(telemetry("/metrics")).body;
        return text.find("gpuward_config_last_reload_successful 0") != std::string::npos;
      },
      "the failed reload in the metrics"));
  EXPECT_FALSE(is_cordoned());
  EXPECT_TRUE(wait_until([&] { return process_->error_output().contains("policy.yaml:1: mode"); },
                         "the line of the log"));

  write("policy.yaml", "mode: cordon\n");  // no signal: the program watches the file itself
  EXPECT_TRUE(wait_until([&] { return is_cordoned(); }, "cordon"));
}

TEST_F(RemediatorProcess, DoesNotStartOpenToEverybodyByAccident) {
  auto process = spawn({});
  EXPECT_EQ(process->wait_exit(), 2);
  EXPECT_THAT(process->error_output(), HasSubstr("--web.insecure"));
}

TEST_F(RemediatorProcess, StartsOpenIfThatIsWanted) {
  process_ = spawn({"--web.insecure"});
  ASSERT_TRUE(wait_until([&] { return port_in("Telemetry is served") != 0; }, "ports"));
  ASSERT_TRUE(wait_until([&] { return http_get(telemetry("/readyz")).status == 200; }, "ready"));
  EXPECT_EQ(send(alert(), {{"Content-Type", "application/json"}}).status, 200);
}

TEST_F(RemediatorProcess, EndsWith2AndAClearWordOnWrongInput) {
  write("policy.yaml", "mode: observe\nsteps: []\n");
  struct Row {
    std::vector<std::string> flags;
    const char* says;
  };
  const Row rows[] = {
      {{"--mode=everything"}, "--mode"},
      {{"--no-such-flag"}, "no-such-flag"},
      {{"--web.insecure", "--config.file=" + path("policy.yaml")}, "policy.yaml:2"},
      {{"--web.insecure", "--config.file=" + path("missing.yaml")}, "missing.yaml"},
      {{"--web.bearer-token-file=" + path("no-token")}, "no-token"},
      {{"--check-config", "--web.bearer-token-file=" + path("no-token")}, "no-token"},
      {{"--web.insecure", "--audit.path=/nonexistent/audit"}, "--audit.path"},
      {{"--web.insecure", "--prometheus.url=prometheus:9090"}, "--prometheus.url"},
      {{"--web.insecure", "--check-config", "--config.file=" + path("policy.yaml")}, "steps"},
  };
  for (const Row& row : rows) {
    auto process = spawn(row.flags);
    EXPECT_EQ(process->wait_exit(), 2) << row.flags[0];
    EXPECT_THAT(process->error_output(), HasSubstr(row.says));
  }
}

// Operators check a policy before there is a token.
TEST_F(RemediatorProcess, ChecksThePolicyFirstAndWithoutAToken) {
  write("policy.yaml", "mode: cordon\n");
  write("bad.yaml", "mode: ful\n");
  const auto check = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {kBinary, "--check-config"});
    return *support::Process::run({.argv = std::move(flags)});
  };

  const auto good = check({"--config.file=" + path("policy.yaml")});

  EXPECT_EQ(good.exit_code, 0) << good.error_output;
  EXPECT_THAT(good.output,
              HasSubstr("is valid. Mode: cordon\nnote: the webhook has no authentication"));
  EXPECT_THAT(good.output, HasSubstr("--web.bearer-token-file"));
  EXPECT_THAT(check({"--config.file=" + path("policy.yaml"), "--web.insecure"}).output,
              Not(HasSubstr("note: ")));
  EXPECT_THAT(
      check({"--config.file=" + path("bad.yaml"), "--web.bearer-token-file=" + path("no-token")})
          .error_output,
      HasSubstr("bad.yaml:1: mode"));
}

// An attacker's page whose own name resolves to this port cannot read any page. Prometheus,
// kubelets and the links of alerts may use any name.
TEST_F(RemediatorProcess, ServesItsPagesUnderItsOwnNamesOnly) {
  start_ready({"--mode=observe", "--web.hosts=gpuward-remediator,gpuward-remediator.gpuward",
               "--web.hosts=gpuward.example"});
  const auto status_of = [&](const std::string& path, const std::string& host) {
    http::ClientRequest request;
    request.url = telemetry(path);
    request.headers = {{"Host", host}};
    return support::http_send(request).status;
  };
  for (const std::string path : {"/", "/policy", "/nodes/gpu-01", "/remediations/x", "/page.js"})
    EXPECT_EQ(status_of(path, "evil.example"), 421) << path;
  for (const std::string path : {"/metrics", "/healthz", "/readyz", "/runbooks"})
    EXPECT_EQ(status_of(path, "evil.example"), 200) << path;
  for (const std::string host :
       {"localhost:10982", "10.0.0.7:10982", "gpuward-remediator:10982", "gpuward.example",
        "gpuward-remediator.gpuward:10982", "gpuward-remediator.gpuward.svc.cluster.local"}) {
    EXPECT_EQ(status_of("/", host), 200) << host;
  }
}

TEST_F(RemediatorProcess, SendsNoCredentialsInTheClear) {
  write("policy.yaml", "mode: observe\n");
  write("secret", "me:secret\n");
  for (const std::string source : {"prometheus", "alertmanager", "loki"}) {
    const std::vector<std::string> flags = {"--check-config",
                                            "--config.file=" + path("policy.yaml"),
                                            "--" + source + ".url=http://192.0.2.1:80",
                                            "--" + source + ".basic-auth-file=" + path("secret")};
    auto refused = spawn(flags);
    EXPECT_EQ(refused->wait_exit(), 2);
    EXPECT_THAT(refused->error_output(),
                HasSubstr("--" + source +
                          ".basic-auth-file: credentials would be sent unencrypted "
                          "to 192.0.2.1: use https://, or set --" +
                          source + ".credentials-over-http to allow it"));
    auto allowed = flags;
    allowed.push_back("--" + source + ".credentials-over-http");
    EXPECT_EQ(spawn(allowed)->wait_exit(), 0) << source;
  }
}

TEST_F(RemediatorProcess, NamesTheFlagOfAFileThatItCannotRead) {
  for (const std::string flag :
       {"--web.bearer-token-file", "--prometheus.bearer-token-file", "--prometheus.ca-file",
        "--alertmanager.basic-auth-file", "--loki.bearer-token-file"}) {
    auto process = spawn({"--check-config", flag + "=" + path("none")});
    EXPECT_EQ(process->wait_exit(), 2);
    EXPECT_THAT(process->error_output(), HasSubstr(flag + ": ")) << flag;
    EXPECT_THAT(process->error_output(), HasSubstr("cannot open " + path("none")));
  }
}

// The examples at the end of --help, in a folder with the policy that they name.
TEST_F(RemediatorProcess, DoesWhatItsExamplesSay) {
  write("policy.yaml", "mode: cordon\n");
  std::filesystem::create_directories(path(".kube"));
  write(".kube/config", kubeconfig("fake", {{"fake", server_->url()}}));
  const std::string help = support::Process::run({.argv = {kBinary, "--help"}})->output;
  std::istringstream lines(help.substr(help.rfind("Examples:\n") + 10));
  std::vector<std::string> examples;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) examples.push_back(line);
  ASSERT_EQ(examples.size(), 2U);
  for (const std::string& example : examples) {
    SCOPED_TRACE(example);
    const std::string words = example.substr(example.find(" --"));
    const bool serves = !words.contains("--check-config");
    // Another process may use the ports of the example.
    const std::string free_ports =
        serves ? std::regex_replace(words, std::regex(":109[0-9]+"), ":0") +
                     " --web.telemetry-address 127.0.0.1:0 --log.format=json"
               : words;
    process_ = *support::Process::spawn(
        {.argv = {"sh", "-c", "cd " + path("") + " && exec " + kBinary + free_ports},
         .env = {{"HOME", path("")}}});
    if (!serves) {
      EXPECT_EQ(process_->wait_exit(), 0) << process_->error_output();
      continue;
    }
    EXPECT_TRUE(support::wait_until([&] { return port_in("Webhook is served") != 0; }, "serving"))
        << process_->error_output();
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait_exit(), 0);
  }
}

TEST_F(RemediatorProcess, WritesTheAuditTrailToAFile) {
  start_ready({"--mode=cordon", "--audit.path=" + path("audit.jsonl")});
  deliver(alert());

  ASSERT_TRUE(wait_until(
      [&] {
        return read_file(path("audit.jsonl"))->find("\"moment\":\"done\"") != std::string::npos;
      },
      "audit"));
  EXPECT_EQ(process_->output(), "");
}

// Without an independent source of evidence gpuward stops at the cordon, even if the policy allows
// more.
TEST_F(RemediatorProcess, CordonsForAForeignAlertAndDoesNoMore) {
  write("policy.yaml",
        "mode: full\n"
        "severities: {reboot: [taint, cordon, drain]}\n"
        "foreign_alerts:\n"
        "  - {match: {alertname: DcgmXid}, node_label: Hostname, severity: reboot}\n"
        "budgets: {cordon: {nodes: 1}}\n");
  start_ready({"--config.file=" + path("policy.yaml")});
  Json foreign = firing();
  foreign["labels"] = {{"alertname", "DcgmXid"}, {"Hostname", "gpu-01:9400"}};

  deliver(notification(foreign));

  ASSERT_TRUE(wait_until([&] { return is_cordoned(); }, "cordon"));
  const auto explain = [&] {
    return support::Process::run(
               {.argv = {kCtl, "explain", "gpu-01", "--kubeconfig=" + path("kubeconfig")}})
        ->output;
  };
  ASSERT_TRUE(
      wait_until([&] { return explain().find("rule guard.") != std::string::npos; }, "the guard"));
  EXPECT_THAT(explain(), HasSubstr("severity reboot, since"));
  EXPECT_THAT(explain(), HasSubstr("firing, foreign"));
}

TEST_F(RemediatorProcess, ExplainsANode) {
  start_ready();
  deliver(alert());
  ASSERT_TRUE(wait_until([&] { return is_cordoned(); }, "cordon"));
  support::Process::Outcome said;
  ASSERT_TRUE(wait_until(
      [&] {
        said = *support::Process::run(
            {.argv = {kCtl, "explain", "gpu-01", "--kubeconfig=" + path("kubeconfig")}});
        return said.output.contains("step cordon: done");
      },
      "the result"))
      << said.output;

  EXPECT_EQ(said.exit_code, 0) << said.error_output;
  EXPECT_THAT(said.output, HasSubstr("alert Bad (ab12), severity reboot"));
  EXPECT_THAT(said.output, HasSubstr("because policy severities.reboot"));
}

TEST_F(RemediatorProcess, ExplainsWhatWasMadeByHandAndKnowsNoNodeThatThereIsNot) {
  const auto explain = [&](const std::string& node) {
    return *support::Process::run(
        {.argv = {kCtl, "explain", node, "--kubeconfig=" + path("kubeconfig")}});
  };
  server_->kube().create(
      "/apis/gpuward.dev/v1alpha1/remediations",
      {{"metadata", {{"name", "by-hand"}}},
       {"spec", {{"nodeName", "gpu-01"}, {"nodeUID", "u"}, {"severity", "reboot"}}}});

  EXPECT_THAT(explain("gpu-01").output, HasSubstr("by-hand: "));
  EXPECT_EQ(explain("gpu-10").exit_code, 2);
  EXPECT_THAT(explain("gpu-10").error_output, HasSubstr("there is no node gpu-10"));
}

}  // namespace
}  // namespace gpuward::remediator
