// The real gpuwardctl: each command once, how it finds its cluster, and its message if the cluster
// does not answer.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/http/server/server.h"
#include "core/runtime/files.h"
#include "remediator/cli/ctl/commands.h"
#include "remediator/decide/budgets/ledger_text.h"
#include "tests/support/quickest.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/remediator/remediator_process.h"

namespace gpuward::remediator {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr milliseconds kDefaultLimit{2'000};
// Factor on the limit. It allows for a busy machine, and is shorter than a request without a limit
// may take.
constexpr int kAllowance = 4;

class Ctl : public RemediatorProcess {
 protected:
  using Outcome = support::Process::Outcome;

  Outcome run(std::vector<std::string> words, std::map<std::string, std::string> env,
              milliseconds limit = support::kGenerous) {
    words.insert(words.begin(), kCtl);
    env.try_emplace("KUBECONFIG", "");
    env.try_emplace("HOME", path("home"));
    env.try_emplace("KUBERNETES_SERVICE_HOST", "");
    env.try_emplace("POD_NAMESPACE", "");
    auto outcome = support::Process::run({.argv = std::move(words), .env = std::move(env)}, limit);
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *outcome : Outcome{};
  }
  void add_remediation() {
    server_->kube().create("/apis/gpuward.dev/v1alpha1/remediations",
                           {{"apiVersion", "gpuward.dev/v1alpha1"},
                            {"kind", "Remediation"},
                            {"metadata", {{"name", "gpu-01-ab-1"}}},
                            {"spec",
                             {{"nodeName", "gpu-01"},
                              {"nodeUID", "uid"},
                              {"severity", "reboot"},
                              {"alerts", Json::array()}}}});
  }
  Outcome ctl(std::vector<std::string> words) {
    words.push_back("--kubeconfig=" + path("kubeconfig"));
    return run(std::move(words), {});
  }
};

TEST_F(Ctl, HelpsWhoSaysNothingOrHelp) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{}, {"help"}}) {
    const auto said = run(words, {});
    EXPECT_EQ(said.exit_code, 0);
    EXPECT_THAT(said.output, HasSubstr("Usage: gpuwardctl COMMAND"));
  }
}

TEST_F(Ctl, ExplainsANodeByTheNameOfItsRemediationWhichIsToldFirst) {
  for (const auto* name : {"gpu-01-ab-1", "gpu-01-ab-2"}) {
    server_->kube().create("/apis/gpuward.dev/v1alpha1/remediations",
                           {{"apiVersion", "gpuward.dev/v1alpha1"},
                            {"kind", "Remediation"},
                            {"metadata", {{"name", name}}},
                            {"spec",
                             {{"nodeName", "gpu-01"},
                              {"nodeUID", "uid"},
                              {"severity", "reboot"},
                              {"alerts", Json::array()}}}});
    server_->kube().patch_status(std::string("/apis/gpuward.dev/v1alpha1/remediations/") + name,
                                 {{"status", {{"phase", "Released"}}}});
  }
  for (const auto& [asked, other] :
       {std::pair("gpu-01-ab-1", "gpu-01-ab-2"), std::pair("gpu-01-ab-2", "gpu-01-ab-1")}) {
    EXPECT_THAT(ctl({"explain", asked}).output,
                AllOf(HasSubstr(asked + std::string(": Released, severity reboot, mode ")),
                      HasSubstr(std::string("for the full history: gpuwardctl explain ") + other)));
  }
}

TEST_F(Ctl, HasEachCommand) {
  write("policy.yaml", "mode: cordon\n");
  write("exclusions.json", "{}");
  write("history.json", R"({"status":"success","data":{"resultType":"matrix","result":[]}})");
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string said;
  };
  const std::vector<Case> cases{
      {{"status"}, 0, "Steps    allowed"},
      {{"list"}, 0, "There are no open remediations."},
      {{"explain", "gpu-01"}, 0, "Node gpu-01 has no remediation"},
      {{"doctor"}, 1, "NOT CONNECTED"},
      {{"breaker"}, 2, "gpuward-ledger"},
      {{"breaker", "close"}, 2, "gpuward-ledger"},
      {{"runbook", "GpuFallenOffBus"}, 0, "# GpuFallenOffBus"},
      {{"approve", "gpu-01", "ab"}, 2, "node gpu-01 has no open remediation"},
      {{"pause", "gpu-01"}, 2, "node gpu-01 has no open remediation"},
      {{"resume", "gpu-01"}, 2, "node gpu-01 has no open remediation"},
      {{"cancel", "gpu-01"}, 2, "node gpu-01 has no open remediation"},
      {{"machine-replaced", "gpu-01"}, 2, "node gpu-01 has no open remediation"},
      {{"exclude", "gpu-01", "--reason", "firmware"}, 0, "firmware"},
      {{"exclusions", "list"}, 0, "gpu-01"},
      {{"exclusions", "remove", "gpu-01"}, 0, "gpu-01 is no longer excluded"},
      {{"exclusions", "import", path("exclusions.json")}, 0, "0 exclusions from"},
      {{"stop", "firmware"}, 0, "Stopped: "},
      {{"start"}, 0, "Started: "},
      {{"reset", "--dry-run"}, 0, "No node has the taint"},
      {{"policy", "check", path("policy.yaml")}, 0, ": OK. Mode: cordon"},
      {{"policy", "explain", path("policy.yaml")}, 0, "in mode cordon"},
      {{"policy", "schema"}, 0, "The policy of gpuward-remediator"},
      {{"replay", path("policy.yaml"), "--history", path("history.json")}, 0, "0 alerts"},
      {{"version"}, 0, "gpuwardctl " GPUWARD_VERSION},
  };
  std::set<std::string> known, tried;
  for (const CtlCommand& command : ctl_commands())
    if (command.run != nullptr) known.emplace(command.name);
  for (const Case& one : cases) {
    const auto said = ctl(one.words);
    EXPECT_EQ(said.exit_code, one.exit_code) << one.words[0] << ": " << said.error_output;
    EXPECT_THAT(said.output + said.error_output, HasSubstr(one.said));
    const std::string two = one.words[0] + (one.words.size() > 1 ? " " + one.words[1] : "");
    tried.insert(known.contains(two) ? two : one.words[0]);
  }
  EXPECT_EQ(tried, known);
}

// The command first names what the user would lose.
TEST_F(Ctl, WantsAYesBeforeItTakesSomethingAway) {
  const std::string path = "/apis/gpuward.dev/v1alpha1/remediations";
  server_->kube().create(path, {{"apiVersion", "gpuward.dev/v1alpha1"},
                                {"kind", "Remediation"},
                                {"metadata", {{"name", "gpu-01-ab-1"}}},
                                {"spec",
                                 {{"nodeName", "gpu-01"},
                                  {"nodeUID", "uid"},
                                  {"severity", "reboot"},
                                  {"alerts", Json::array()}}}});
  const auto is_cancelled = [&] {
    const Json& now = server_->kube().get(path + "/gpu-01-ab-1");
    return now["metadata"].contains("annotations");
  };
  for (const char* const command : {"cancel", "machine-replaced"}) {
    const auto refused = ctl({command, "gpu-01"});
    EXPECT_EQ(refused.exit_code, 3) << command;
    EXPECT_THAT(refused.error_output, HasSubstr("add --yes"));
    EXPECT_THAT(refused.output, HasSubstr("node gpu-01"));
    const auto tried = ctl({command, "gpu-01", "--dry-run"});
    EXPECT_EQ(tried.exit_code, 0);
    EXPECT_EQ(tried.output, refused.output);
    EXPECT_FALSE(is_cancelled());
  }

  const auto done = ctl({"cancel", "gpu-01", "--yes"});

  EXPECT_EQ(done.exit_code, 0) << done.error_output;
  EXPECT_THAT(done.output, HasSubstr("gpu-01-ab-1 is cancelled"));
  EXPECT_TRUE(is_cancelled());
  EXPECT_EQ(ctl({"cancel", "gpu-01"}).exit_code, 0) << "it is so already";
}

TEST_F(Ctl, StopsAndStartsTheFleet) {
  EXPECT_EQ(ctl({"stop", "network maintenance"}).exit_code, 0);
  EXPECT_THAT(ctl({"status"}).output, HasSubstr("by anonymous-admin: network maintenance"));
  EXPECT_EQ(ctl({"start"}).exit_code, 0);
  EXPECT_THAT(ctl({"status"}).output, HasSubstr("Steps    allowed"));
}

TEST_F(Ctl, SaysThatGpuwardIsNotInstalled) {
  server_->kube().remove(std::string(kDefinitions) + "/remediations.gpuward.dev");

  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list"}, {"list", "-o", "json"}, {"cancel", "a"}})
    EXPECT_THAT(ctl(words).error_output, HasSubstr("is not installed in this cluster"));
}

TEST_F(Ctl, ActsAsTheUserAndTheGroupsThatAreNamed) {
  support::HeaderList headers;
  http::ServerOptions options;
  options.listen_addresses = {"127.0.0.1:0"};
  const auto server = http::Server::start(options, {{.path = "/version",
                                                     .methods = {"GET"},
                                                     .handler =
                                                         [&](const http::Request& request) {
                                                           headers = request.headers;
                                                           return http::Response::text(503, "");
                                                         },
                                                     .access = http::Access::kOpen}});
  ASSERT_TRUE(server) << server.error().message;
  write(
      "as",
      kubeconfig("as", {{"as", "http://127.0.0.1:" + std::to_string((*server)->ports().front())}}));

  (void)run({"list", "--kubeconfig=" + path("as"), "--as=alice", "--as-group=oncall",
             "--as-group=gpu", "--request-timeout=500ms"},
            {});

  const auto has = [&](const std::string& name, const std::string& value) {
    return std::ranges::any_of(headers, [&](const auto& header) {
      return header.first == name && header.second == value;
    });
  };
  EXPECT_TRUE(has("Impersonate-User", "alice"));
  EXPECT_TRUE(has("Impersonate-Group", "oncall"));
  EXPECT_TRUE(has("Impersonate-Group", "gpu"));
}

TEST_F(Ctl, PrintsTheVersionOfTheRemediatorOfACluster) {
  const std::string own = "gpuwardctl " GPUWARD_VERSION "\n";
  EXPECT_EQ(run({"version"}, {}).output, own) << "without a cluster";
  EXPECT_THAT(ctl({"version"}).output, StartsWith(own + "gpuward-remediator not known: "));
  server_->kube().create(
      "/api/v1/namespaces/gpuward/configmaps",
      {{"metadata",
        {{"name", "gpuward-remediator"}, {"labels", {{"app.kubernetes.io/version", "7.8.9"}}}}}});

  EXPECT_EQ(ctl({"version"}).output, own + "gpuward-remediator 7.8.9\n");
}

// kubectl runs `kubectl_complete-gpuward` of the PATH.
TEST_F(Ctl, CompletesTheCommandLineOfKubectlGpuward) {
  const std::string folder = GPUWARD_BIN_DIR;
  const auto complete = [&](std::vector<std::string> words) {
    words.insert(words.begin(), folder + "/kubectl_complete-gpuward");
    const auto said = support::Process::run(
        {.argv = std::move(words),
         .env = {{"PATH", folder + ":/usr/bin:/bin"}, {"KUBECONFIG", path("kubeconfig")}}});
    EXPECT_EQ(said->exit_code, 0);
    EXPECT_EQ(said->error_output, "");
    return said->output;
  };
  add_remediation();

  EXPECT_EQ(complete({"exp"}), "explain\n:0\n");
  EXPECT_EQ(complete({"explain", ""}), "gpu-01\n:0\n");
  EXPECT_EQ(complete({"list", "--output=y"}), "yaml\n:0\n");
  EXPECT_EQ(complete({"list", "--sel"}), "--selector\n:0\n");
  EXPECT_EQ(complete({"policy", "check", ""}), ":0\n") << "files are the shell's";
}

// ---- The role of people on call

// The right that a request needs, as in "patch remediations" or "get configmaps gpuward-ledger".
std::string right_of(const fakes::LoggedRequest& request) {
  static const std::map<std::string, std::string> kVerbs{
      {"POST", "create"}, {"PUT", "update"}, {"PATCH", "patch"}, {"DELETE", "delete"}};
  static const std::regex kPath(
      "(?:/api/v1|/apis/[^/]+/[^/]+)(?:/namespaces/gpuward)?/([a-z]+)(?:/([^/]+))?");
  std::smatch found;
  if (!std::regex_match(request.path, found, kPath)) return request.path;
  const std::string kind = found[1], name = found[2];
  const auto verb = kVerbs.find(request.method);
  const bool has_names = kind == "configmaps" || kind == "leases";
  return (verb != kVerbs.end() ? verb->second
          : name.empty()       ? "list"
                               : "get") +
         " " + kind + (has_names && !name.empty() ? " " + name : "");
}

// The rights of the roles in the same form.
std::set<std::string> rights_in(const std::string& manifest) {
  std::set<std::string> rights;
  const std::regex rule(
      R"(resources: \[([^\]]*)\]\s+(?:resourceNames: \[([^\]]*)\]\s+)?verbs: \[([^\]]*)\])");
  const auto words = [](std::string text) {
    std::ranges::replace(text, ',', ' ');
    std::istringstream in(text);
    std::vector<std::string> all(std::istream_iterator<std::string>(in), {});
    return all.empty() ? std::vector<std::string>{""} : all;
  };
  for (std::sregex_iterator it(manifest.begin(), manifest.end(), rule), end; it != end; ++it) {
    for (const std::string& verb : words((*it)[3]))
      for (const std::string& name : words((*it)[2]))
        rights.insert(verb + " " + (*it)[1].str() + (name.empty() ? "" : " " + name));
  }
  return rights;
}

TEST_F(Ctl, NeedsTheRightsOfTheRoleForPeopleOnCallAndNoOthers) {
  const std::string maps = "/api/v1/namespaces/gpuward/configmaps";
  add_remediation();
  server_->kube().patch(
      "/api/v1/nodes/gpu-01",
      {{"spec", {{"taints", {{{"key", std::string(kTaintKey)}, {"effect", "NoSchedule"}}}}}}});
  Ledger ledger;
  ledger.breaker = {.open = true, .since = clock_.wall(), .why = "a test", .by = {}};
  server_->kube().create(maps, {{"metadata", {{"name", "gpuward-ledger"}}},
                                {"data", {{"ledger", *encode_ledger(ledger)}}}});
  server_->kube().remove(maps + "/gpuward-remediator-switch");
  server_->kube().clear_requests();
  write("policy.yaml", "");
  const std::string roles = *read_file(GPUWARD_SOURCE_DIR "/manifests/oncall-rbac.yaml");
  const auto name = roles.find("name: gpuward-oncall-reset\n");
  ASSERT_NE(name, std::string::npos);
  const auto begin = roles.rfind("\n---\n", name);
  std::string without_reset = roles;
  without_reset.erase(begin, roles.find("\n---\n", name) - begin);
  const auto rights_asked = [&] {
    std::set<std::string> asked;
    for (const auto& request : server_->kube().requests()) asked.insert(right_of(request));
    for (const char* open_to_all : {"/version", "create selfsubjectreviews"})
      asked.erase(open_to_all);
    return asked;
  };
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"status"},
           {"list"},
           {"explain", "gpu-01"},
           {"doctor"},
           {"version"},
           {"breaker"},
           {"breaker", "close", "--yes"},
           {"pause", "gpu-01"},
           {"exclude", "gpu-01"},
           {"exclude", "gpu-01"},
           {"exclusions", "list"},
           {"stop"},
           {"start"},
           {"policy", "explain", path("policy.yaml"), "--node", "gpu-01"},
           {"cancel", "gpu-01", "--yes"}})
    (void)ctl(words);
  EXPECT_EQ(rights_asked(), rights_in(without_reset));

  (void)ctl({"reset", "--yes", "--cancel"});
  EXPECT_EQ(rights_asked(), rights_in(roles));
}

TEST_F(Ctl, LooksInTheNamespaceThatIsNamed) {
  const auto said = ctl({"status", "-n", "elsewhere"});
  EXPECT_EQ(said.exit_code, 2);
  EXPECT_THAT(said.error_output, HasSubstr("no gpuward-remediator in namespace elsewhere"));
}

// ---- On a terminal, and repeatedly

TEST_F(Ctl, HasColoursOnATerminalAloneAndNeverWithNoColor) {
  GPUWARD_REQUIRE(support::why_no_program("script"));
  set_stop("true");
  const std::string command = std::string(kCtl) + " status --kubeconfig=" + path("kubeconfig");
  const auto on_terminal = [&](const std::string& no_color) {
    return support::Process::run(
               {.argv = {"script", "-qec", command, "/dev/null"}, .env = {{"NO_COLOR", no_color}}})
        ->output;
  };

  EXPECT_THAT(on_terminal(""), HasSubstr("\033[31mSTOPPED\033[0m"));
  EXPECT_THAT(on_terminal("1"), AllOf(HasSubstr("STOPPED"), Not(HasSubstr("\033"))));
  EXPECT_THAT(ctl({"status"}).output, AllOf(HasSubstr("STOPPED"), Not(HasSubstr("\033"))));
}

TEST_F(Ctl, LetsNothingOfTheClusterSteerTheTerminal) {
  const std::string all = "/apis/gpuward.dev/v1alpha1/remediations";
  server_->kube().create(all, {{"apiVersion", "gpuward.dev/v1alpha1"},
                               {"kind", "Remediation"},
                               {"metadata", {{"name", "gpu-01-ab-1"}}},
                               {"spec",
                                {{"nodeName", "gpu-01"},
                                 {"nodeUID", "uid"},
                                 {"severity", "reboot"},
                                 {"alerts", Json::array()}}}});
  server_->kube().patch_status(all + "/gpu-01-ab-1",
                               {{"status", {{"phase", "Held"}, {"message", "job \033]0;x\a"}}}});

  EXPECT_THAT(ctl({"explain", "gpu-01"}).output,
              AllOf(HasSubstr("now: job \\u001b]0;x\\u0007\n"), Not(HasSubstr("\033"))));
  EXPECT_THAT(run({"policy", "check", path("no\033]0;x\a.yaml")}, {}).error_output,
              AllOf(HasSubstr("\\u001b]0;x\\u0007"), Not(HasSubstr("\033"))));
}

TEST_F(Ctl, WatchesUntilItIsInterrupted) {
  auto watching = support::Process::spawn(
      {.argv = {kCtl, "status", "-w", "--kubeconfig=" + path("kubeconfig")}});
  ASSERT_TRUE(watching);
  ASSERT_TRUE(support::wait_until(
      [&] { return (*watching)->output().contains("Steps    allowed"); }, "the first look"));

  set_stop("true");

  EXPECT_TRUE(support::wait_until([&] { return (*watching)->output().contains("STOPPED"); },
                                  "what has changed"));
  (*watching)->signal(SIGINT);
  EXPECT_EQ((*watching)->wait_exit(), 0);
}

TEST_F(Ctl, WatchesNothingIfTheFirstLookFails) {
  EXPECT_EQ(run({"list", "-w", "--kubeconfig=" + path("nowhere")}, {}).exit_code, 2);
}

// ---- Where gpuwardctl finds the cluster

TEST_F(Ctl, FindsTheClusterInTheOrderOfKubectl) {
  std::filesystem::create_directories(path("home/.kube"));
  write("home/.kube/config", kubeconfig("home", {{"home", server_->url()}}));
  write("dead", kubeconfig("dead", {{"dead", "http://127.0.0.1:1"}}));
  const std::map<std::string, std::string> pod = {{"KUBERNETES_SERVICE_HOST", "127.0.0.1"},
                                                  {"KUBERNETES_SERVICE_PORT", "1"}};

  EXPECT_EQ(run({"list"}, pod).exit_code, 0) << "of the home folder, before the pod's";
  auto env = pod;
  env["KUBECONFIG"] = path("dead");
  EXPECT_THAT(run({"list", "--request-timeout=100ms"}, env).error_output,
              HasSubstr("context \"dead\" of " + path("dead")));
  EXPECT_EQ(run({"list", "--kubeconfig=" + path("kubeconfig")}, env).exit_code, 0);
  std::filesystem::remove_all(path("home"));
  EXPECT_THAT(run({"list"}, pod).error_output, HasSubstr("running in a pod without"));
  const auto nowhere = run({"list"}, {});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.error_output, AllOf(HasSubstr("no kubeconfig"), HasSubstr("--kubeconfig"),
                                          HasSubstr(path("home/.kube/config"))));
  EXPECT_THAT(run({"list"}, {{"KUBECONFIG", path("gone")}}).error_output,
              HasSubstr("$KUBECONFIG names " + path("gone")));
}

TEST_F(Ctl, TakesTheContextThatIsNamed) {
  write("two", kubeconfig("dead", {{"dead", "http://127.0.0.1:1"}, {"good", server_->url()}}));

  EXPECT_EQ(run({"list", "--kubeconfig=" + path("two"), "--context=good"}, {}).exit_code, 0);
}

// ---- A cluster that does not answer

// Accepts connections and never answers.
class BlackHole {
 public:
  BlackHole() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(listener_, any, size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~BlackHole() { ::close(listener_); }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  int listener_;
  int port_ = 0;
};

class SilentCluster : public Ctl {
 protected:
  Outcome ask(const std::string& url, std::vector<std::string> words, milliseconds limit) {
    write("silent", kubeconfig("silent", {{"silent", url}}));
    words.push_back("--kubeconfig=" + path("silent"));
    auto outcome = run(std::move(words), {}, kAllowance * limit);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.error_output,
                AllOf(StartsWith("error: "), HasSubstr(url), HasSubstr(". Check "),
                      HasSubstr("context \"silent\" of " + path("silent"))));
    return outcome;
  }
};

TEST_F(SilentCluster, IsNamedWithinTheLimitIfThePortIsClosed) {
  // A longer wait would not help.
  EXPECT_THAT(ask("http://127.0.0.1:1", {"list"}, kDefaultLimit).error_output,
              Not(HasSubstr("--request-timeout")));
}

TEST_F(SilentCluster, IsNamedWithinTheLimitIfNothingIsAnswered) {
  const BlackHole hole;

  for (const char* command : {"list", "status"})
    EXPECT_THAT(ask(hole.url(), {command}, kDefaultLimit).error_output,
                HasSubstr("--request-timeout"));
}

TEST_F(SilentCluster, IsNamedWithinTheLimitIfThereIsNoSuchHost) {
  EXPECT_THAT(ask("http://nowhere.invalid:6443", {"list"}, kDefaultLimit).error_output,
              Not(HasSubstr("--request-timeout")));
}

// The server has one page, or shows the same page for every path.
TEST_F(SilentCluster, IsToldFromAWebServer) {
  const auto page = [](const http::Request&) {
    return http::Response::text(200, "<html>", "text/html");
  };
  for (const char* shown : {"/index.html", "/"}) {
    http::ServerOptions options;
    options.listen_addresses = {"127.0.0.1:0"};
    const auto server = http::Server::start(options, {{.path = shown,
                                                       .methods = {"GET"},
                                                       .handler = page,
                                                       .access = http::Access::kOpen,
                                                       .match = http::Match::kPrefix}});
    ASSERT_TRUE(server) << server.error().message;
    const std::string url = "http://127.0.0.1:" + std::to_string((*server)->ports().front());
    for (const char* command : {"list", "status", "stop"}) {
      EXPECT_THAT(ask(url, {command}, kDefaultLimit).error_output,
                  HasSubstr("the server at " + url + " (context \"silent\" of " + path("silent") +
                            ") is not a Kubernetes API server: "))
          << shown;
    }
  }
}

// The command runs in its own network, whose name server accepts queries and never answers.
TEST_F(SilentCluster, IsNamedWithinTheLimitIfNamesAreNotAnswered) {
  const std::vector<std::string> apart = {"unshare", "--user", "--map-root-user", "--mount",
                                          "--net"};
  auto tried = apart;
  tried.insert(tried.end(), {"ip", "link", "set", "lo", "up"});
  const auto able = support::Process::run({.argv = tried});
  GPUWARD_REQUIRE(able && able->exit_code == 0 ? "" : "no network of our own on this machine");
  write("resolv.conf", "nameserver 127.0.0.1\noptions timeout:5 attempts:3\n");
  write("silent", kubeconfig("silent", {{"silent", "http://api.example.test:6443"}}));
  auto argv = apart;
  argv.insert(argv.end(),
              {"bash", "-ec",
               "ip link set lo up; mount --bind " + path("resolv.conf") +
                   " /etc/resolv.conf\n"
                   "exec 3< <(exec python3 -uc 'import socket, time\n"
                   "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                   "s.bind((\"127.0.0.1\", 53))\nprint(1)\ntime.sleep(60)' 2>/dev/null)\n"
                   "server=$!; read -r -u 3; trap \"kill $server\" EXIT\n" +
                   kCtl + " list --kubeconfig=" + path("silent")});

  const auto said = support::Process::run({.argv = argv}, kAllowance * kDefaultLimit);

  ASSERT_TRUE(said) << said.error().message;
  EXPECT_EQ(said->exit_code, 1);
  EXPECT_THAT(said->error_output, HasSubstr("http://api.example.test:6443 (context \"silent\""));
}

TEST_F(SilentCluster, IsWaitedForAsLongAsTheFlagSays) {
  const BlackHole hole;

  const auto once = [&] {
    const auto begin = clock_.steady();
    const auto said = ask(hole.url(), {"list", "--request-timeout=100ms"}, kDefaultLimit);
    EXPECT_THAT(said.error_output, HasSubstr("To wait longer than 100 ms"));
    return clock_.steady() - begin;
  };
  EXPECT_LT(support::quickest_of(kDefaultLimit, once), kDefaultLimit);
}

TEST_F(SilentCluster, IsToldFromOneThatRefusesTheCredential) {
  server_->kube().add_fault({.kind = fakes::FaultKind::kUnauthorized, .times = -1});

  const auto said = ctl({"list"});

  EXPECT_EQ(said.exit_code, 1);
  EXPECT_THAT(said.error_output,
              AllOf(HasSubstr(server_->url()), HasSubstr("refuses the credential"),
                    HasSubstr("context \"fake\"")));
}

// gpuwardctl works with a server that refuses to show its version.
TEST_F(SilentCluster, IsNoneThatKeepsItsVersionToItself) {
  server_->kube().add_fault(
      {.kind = fakes::FaultKind::kForbidden, .path = "/version", .times = -1});

  EXPECT_EQ(ctl({"list"}).exit_code, 0);
}

}  // namespace
}  // namespace gpuward::remediator
