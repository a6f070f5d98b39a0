// TLS and credentials of the three listeners: from one set of values for each, the chart configures
// the programs, Prometheus, Alertmanager and `helm test`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/http/server/web_config.h"
#include "tests/manifests/tools.h"
#include "tests/support/require.h"
#include "tests/support/temp_dir.h"

namespace gpuward::manifests {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Listener {
  std::string values;   // the path of its values
  std::string map;      // the ConfigMap with its file, under `key`
  std::string key;      // web.yaml
  std::string flag;     // that gives the file
  std::string folder;   // of the mounted Secrets
  std::string port;     // of the Service
  std::string program;  // template of its workload
};

const std::vector<Listener> kListeners = {
    {"exporter.web", "gpuward-exporter", "web.yaml", "--web.config.file", "/etc/gpuward-web",
     "name: metrics, port: 10980, targetPort: metrics", "exporter"},
    {"remediator.telemetry", "gpuward-remediator", "telemetry.yaml", "--web.telemetry-config.file",
     "/etc/gpuward-telemetry", "name: telemetry, port: 10982, targetPort: telemetry", "remediator"},
    {"remediator.webhook", "gpuward-remediator", "webhook.yaml", "--web.config.file",
     "/etc/gpuward-webhook", "name: webhook, port: 10981, targetPort: webhook", "remediator"}};

class Listeners : public ::testing::Test {
 protected:
  void SetUp() override { GPUWARD_REQUIRE_IN(kLanding, why_no_helm()); }

  static std::string set(const Listener& listener, const std::string& value) {
    return "--set=" + listener.values + "." + value;
  }
  static std::string refusal(const std::string& value) {
    return helm({"template", "gpuward", tree("manifests/chart/gpuward").string(), offline(),
                 "--set=" + value})
        .error_output;
  }
};

// The file as the program reads it.
http::WebConfig file_of(const Listener& listener, const std::string& rendered) {
  const support::TempDir folder;
  const auto read = http::load_web_config(
      folder.write(listener.key, file_in(rendered, listener.map, listener.key)));
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read : http::WebConfig();
}

TEST_F(Listeners, ArePlainAndWithoutAFileUnlessTheValuesSayMore) {
  const std::string rendered =
      chart({"--set=prometheusOperator.monitors=true", "--show-only=templates/exporter.yaml",
             "--show-only=templates/monitoring.yaml", "--show-only=templates/remediator.yaml"});
  for (const Listener& listener : kListeners) {
    EXPECT_THAT(rendered, Not(HasSubstr("- " + listener.flag + "=")));
    EXPECT_THAT(rendered, HasSubstr("{" + listener.port + "}\n"));
  }
  EXPECT_THAT(rendered, AllOf(Not(HasSubstr("projected:")), Not(HasSubstr("https")),
                              Not(HasSubstr("tlsConfig")), Not(HasSubstr("authorization:"))));
}

TEST_F(Listeners, ReadTheirSecretsIfTheValuesNameThem) {
  for (const Listener& listener : kListeners) {
    SCOPED_TRACE(listener.values);
    const std::string rendered =
        chart({set(listener, "tlsSecret=a"), set(listener, "clientSecret=b"),
               set(listener, "usersSecret=d"),
               listener.key == "webhook.yaml" ? set(listener, "existingSecret=c")
                                              : set(listener, "tokenSecret=c"),
               "--show-only=templates/" + listener.program + ".yaml"});
    const http::WebConfig file = file_of(listener, rendered);
    EXPECT_EQ(file.tls.certificate_file, listener.folder + "/tls.crt");
    EXPECT_EQ(file.tls.key_file, listener.folder + "/tls.key");
    EXPECT_EQ(file.tls.client_ca_file, listener.folder + "/client-ca.crt");
    EXPECT_EQ(file.auth.basic_users_file, listener.folder + "/users");
    const std::string token = listener.folder + "/token";
    if (listener.key == "webhook.yaml") {
      EXPECT_THAT(file.auth.bearer_token_files, IsEmpty());
      EXPECT_THAT(rendered, HasSubstr("- --web.bearer-token-file=" + token + "\n"));
    } else {
      EXPECT_THAT(file.auth.bearer_token_files, ElementsAre(token));
    }
    for (const std::string& part :
         {"- " + listener.flag + "=/etc/gpuward/" + listener.key + "\n",
          "mountPath: " + listener.folder + ", readOnly: true}\n",
          "{" + listener.port + ", appProtocol: https}\n",
          std::string("{name: a, items: [{key: tls.crt, path: tls.crt}, "
                      "{key: tls.key, path: tls.key}]}\n"),
          std::string("{name: b, items: [{key: ca.crt, path: client-ca.crt}]}\n"),
          std::string("{name: c, items: [{key: token, path: token}]}\n"),
          std::string("{name: d, items: [{key: users, path: users}]}\n")}) {
      EXPECT_THAT(rendered, HasSubstr(part));
    }
  }
}

// The kubelet has neither a certificate nor a token.
TEST_F(Listeners, LeaveTheProbesToTheListenerOfTheirOwn) {
  const std::string rendered = chart(
      {"--set=exporter.web.tlsSecret=a,exporter.web.clientSecret=b,exporter.web.tokenSecret=c",
       "--set=remediator.telemetry.tlsSecret=a,remediator.telemetry.clientSecret=b",
       "--set=remediator.webhook.tlsSecret=a,remediator.webhook.clientSecret=b",
       "--show-only=templates/exporter.yaml", "--show-only=templates/remediator.yaml"});
  for (const char* part : {"- --web.health-address=:10983\n", "- --web.health-address=:10984\n"})
    EXPECT_THAT(rendered, HasSubstr(part));
  int probes = 0;
  for (auto at = rendered.find("httpGet:"); at != std::string::npos;
       at = rendered.find("httpGet:", at + 1)) {
    EXPECT_THAT(rendered.substr(at, rendered.find('\n', at) - at),
                AllOf(HasSubstr("port: health}"), Not(HasSubstr("scheme"))));
    ++probes;
  }
  EXPECT_EQ(probes, 4);
}

TEST_F(Listeners, AreScrapedByTheirMonitorsAsTheyAsk) {
  const auto monitors = [](const std::string& values) {
    return chart({"--set=prometheusOperator.monitors=true," + values,
                  "--show-only=templates/monitoring.yaml"});
  };
  for (const auto& [values, server] :
       {std::pair{"exporter.web", "gpuward-exporter.gpu-healthcheck.svc"},
        std::pair{"remediator.telemetry", "gpuward-remediator.gpuward.svc"}}) {
    const std::string path = values;
    EXPECT_THAT(
        monitors(path + ".tlsSecret=a," + path + ".clientSecret=b," + path + ".tokenSecret=c"),
        HasSubstr(std::string("      scheme: https\n"
                              "      tlsConfig:\n"
                              "        serverName: ") +
                  server +
                  "\n"
                  "        ca: {secret: {name: a, key: ca.crt}}\n"
                  "        cert: {secret: {name: b, key: tls.crt}}\n"
                  "        keySecret: {name: b, key: tls.key}\n"
                  "      authorization:\n"
                  "        credentials: {name: c, key: token}\n"
                  "      interval: 5s\n"));
    const std::string token_alone = monitors(path + ".tokenSecret=c");
    EXPECT_THAT(token_alone, AllOf(HasSubstr("credentials: {name: c, key: token}\n"),
                                   Not(HasSubstr("scheme:")), Not(HasSubstr("tlsConfig:"))));
  }
}

TEST_F(Listeners, TellAPrometheusWithoutTheOperatorWhatItNeeds) {
  const std::string values =
      "--set=exporter.web.tlsSecret=a,exporter.web.clientSecret=b,"
      "remediator.telemetry.tokenSecret=c";
  const std::string told = notes({values});
  EXPECT_THAT(told,
              HasSubstr("gpuward-exporter of your Prometheus needs:\n"
                        "  scheme: https\n"
                        "  tls_config: {server_name: gpuward-exporter.gpu-healthcheck.svc, "
                        "ca_file: ca.crt of the Secret a, cert_file: tls.crt of the Secret b, "
                        "key_file: tls.key of it}\n"));
  EXPECT_THAT(told, HasSubstr("gpuward-remediator of your Prometheus needs:\n"
                              "  authorization: {credentials_file: token of the Secret c}\n"));
  EXPECT_THAT(notes({values, "--set=prometheusOperator.monitors=true"}),
              Not(HasSubstr("of your Prometheus needs")));
  EXPECT_THAT(notes(), Not(HasSubstr("of your Prometheus needs")));
  EXPECT_THAT(notes({"--set=remediator.telemetry.tlsSecret=a"}),
              HasSubstr("https://localhost:10982/"));
}

TEST_F(Listeners, AreNamedIfATokenIsSentInTheClear) {
  const std::string tls = "--set=remediator.webhook.tlsSecret=a";
  EXPECT_THAT(notes(),
              HasSubstr("Tokens over plain HTTP, which can be read on the network: those of "
                        "remediator.webhook. Set tlsSecret there.\n"));
  EXPECT_THAT(notes({tls}), Not(HasSubstr("plain HTTP")));
  EXPECT_THAT(notes({tls, "--set=exporter.web.tokenSecret=c,remediator.telemetry.tokenSecret=c"}),
              HasSubstr("those of remediator.telemetry, exporter.web. Set"));
}

TEST_F(Listeners, AreCalledByAlertmanagerAsTheWebhookAsks) {
  const auto rendered = [](const std::string& values) {
    return chart(
        {"--set=prometheusOperator.alertmanagerConfig=true,remediator.namespace=healing," + values,
         "--show-only=templates/alertmanager-config.yaml",
         "--show-only=templates/remediator-config-maps.yaml"});
  };
  const std::string url = "https://gpuward-remediator.healing.svc:10981/api/v1/alerts\n";
  const std::string tls = rendered("remediator.webhook.tlsSecret=a");
  EXPECT_THAT(tls, HasSubstr("url: " + url));
  EXPECT_THAT(tls, HasSubstr("tlsConfig:\n          ca:\n            secret:\n"
                             "              key: ca.crt\n              name: a\n"
                             "          serverName: gpuward-remediator.healing.svc\n"));
  const std::string routes = file_in(tls, "gpuward-alertmanager", "alertmanager.yaml");
  EXPECT_THAT(routes, HasSubstr("url: " + url));
  EXPECT_THAT(routes, HasSubstr("/etc/alertmanager/gpuward-token\n          tls_config: "
                                "{ca_file: /etc/alertmanager/gpuward-ca.crt}\n"));
  EXPECT_THAT(tls, Not(HasSubstr("http://")));

  const std::string mutual =
      rendered("remediator.webhook.tlsSecret=a,remediator.webhook.clientSecret=b");
  EXPECT_THAT(mutual,
              AllOf(HasSubstr("keySecret:\n            key: tls.key\n            name: b\n"),
                    HasSubstr("cert_file: /etc/alertmanager/gpuward-client.crt, "
                              "key_file: /etc/alertmanager/gpuward-client.key}\n")));
}

// The Secrets of the exporter are in its namespace, and so is the pod that reads them.
TEST_F(Listeners, AreTestedAsTheyAsk) {
  const auto pods = [](const std::string& values) {
    return chart({"--set=" + values, "--show-only=templates/tests.yaml"});
  };
  const std::string secured = pods(
      "exporter.web.tlsSecret=a,exporter.web.clientSecret=b,exporter.web.tokenSecret=c,"
      "remediator.webhook.tlsSecret=d");
  EXPECT_THAT(
      documents_of(secured),
      Contains(AllOf(HasSubstr("  name: gpuward-test-exporter\n"),
                     HasSubstr("  namespace: gpu-healthcheck\n"),
                     HasSubstr("probe https://gpuward-exporter.gpu-healthcheck.svc:10980/metrics "
                               "--expect=gpuward_node_severity --probe.ca-file=/run/web/ca.crt "
                               "--probe.certificate-file=/run/web/tls.crt "
                               "--probe.key-file=/run/web/tls.key "
                               "--probe.bearer-token-file=/scratch/token\n"),
                     Not(HasSubstr("gpuward-webhook")))));
  EXPECT_THAT(secured, HasSubstr("--status=401 --probe.ca-file=/run/webhook/ca.crt\n"));
  EXPECT_THAT(secured, Not(HasSubstr("--probe.credentials-over-http")));
  EXPECT_THAT(secured, Not(HasSubstr("http://gpuward")));
  EXPECT_THAT(
      pods("exporter.web.tokenSecret=c"),
      HasSubstr("--probe.bearer-token-file=/scratch/token --probe.credentials-over-http\n"));
}

TEST_F(Listeners, RefuseHalfOfWhatTheyNeed) {
  for (const Listener& listener : kListeners)
    EXPECT_THAT(refusal(listener.values + ".clientSecret=b"), HasSubstr("set tlsSecret beside it"));
  for (const Listener& listener : kListeners)
    EXPECT_THAT(refusal(listener.values + ".clientSecret=b," + listener.values + ".tlsSecret=b"),
                HasSubstr(listener.values + ".clientSecret and .tlsSecret are both b"));
  for (const char* values : {"exporter.web", "remediator.telemetry"})
    EXPECT_THAT(refusal(std::string(values) + ".usersSecret=d"),
                HasSubstr("set tokenSecret beside it"));
  EXPECT_THAT(refusal("remediator.webhook.usersSecret=d"),
              HasSubstr("set remediator.webhook.tlsSecret beside it"));
  EXPECT_THAT(refusal("exporter.web.usersSecret=d,exporter.web.tokenSecret=c"),
              HasSubstr("set exporter.web.tlsSecret beside it"));
  EXPECT_THAT(refusal("remediator.webhook.usersSecret=d,remediator.webhook.tlsSecret=a"),
              IsEmpty());
  EXPECT_THAT(refusal("exporter.web.tlsSecrets=a"), HasSubstr("'tlsSecrets' not allowed"));
  EXPECT_THAT(refusal("exporter.web.tlsSecret=A_b"), HasSubstr("/exporter/web/tlsSecret"));
}

TEST_F(Listeners, RefuseAFileOfYoursBesideTheirValues) {
  for (const Listener& listener : kListeners) {
    const std::string argument = listener.program + ".args={" + listener.flag + "=/mine.yaml}";
    EXPECT_THAT(refusal(argument + "," + listener.values + ".tlsSecret=a"),
                HasSubstr(listener.program + ".args has " + listener.flag +
                          ", and the values make that file"));
    EXPECT_THAT(refusal(argument), IsEmpty());
  }
}

}  // namespace
}  // namespace gpuward::manifests
