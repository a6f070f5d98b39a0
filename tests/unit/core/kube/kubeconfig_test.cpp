#include "core/kube/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/runtime/encoding.h"
#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"

namespace gpuward::kube {
namespace {

using support::Environment;
using ::testing::HasSubstr;
using ::testing::Not;

class KubeconfigTest : public ::testing::Test {
 protected:
  // A config with one context "c"; `cluster` and `user` are the lines of these mappings.
  static std::string text(const std::string& cluster, const std::string& user) {
    return "apiVersion: v1\nkind: Config\npreferences: {}\ncurrent-context: c\n"
           "clusters:\n- name: k\n  cluster:\n    server: https://k:6443/\n" +
           indented(cluster) + "users:\n- name: u\n  user:\n    x-unknown: 1\n" + indented(user) +
           "contexts:\n- name: c\n  context:\n    cluster: k\n    user: u\n    namespace: gpu\n";
  }
  static std::string indented(const std::string& lines) {
    std::string out;
    for (std::size_t at = 0; at < lines.size();) {
      const std::size_t end = lines.find('\n', at);
      out += "    " + lines.substr(at, end - at) + "\n";
      at = end == std::string::npos ? lines.size() : end + 1;
    }
    return out;
  }
  Result<ClusterConfig> load(const std::string& cluster, const std::string& user,
                             const std::string& context = "") {
    return load_kubeconfig(folder.write("config", text(cluster, user)), context);
  }
  std::string refusal(const std::string& cluster, const std::string& user) {
    const auto config = load(cluster, user);
    if (config) return "taken";
    EXPECT_EQ(config.error().kind, ErrorKind::kInvalid);
    return config.error().message;
  }
  support::TempDir folder;
};

TEST_F(KubeconfigTest, JoinsClusterAndUserOfTheCurrentContext) {
  const auto config = load("extensions: [{name: minikube}]", "token: t0k3n");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->server, "https://k:6443");
  EXPECT_EQ(config->default_namespace, "gpu");
  EXPECT_EQ(config->token, "t0k3n");
}

TEST_F(KubeconfigTest, TakesJsonToo) {
  const auto path = folder.write(
      "config",
      R"({"current-context":"c","clusters":[{"name":"k","cluster":{"server":"https://k"}}],
      "users":[{"name":"u","user":{"token":"t"}}],"contexts":[{"name":"c","context":{"cluster":"k","user":"u"}}]})");
  const auto config = load_kubeconfig(path, "");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token, "t");
}

TEST_F(KubeconfigTest, PathsAreRelativeToTheFile) {
  folder.write("c.pem", "CERT");
  folder.write("k.pem", "KEY");
  const auto config = load("certificate-authority: sub/../ca.pem",
                           "client-certificate: c.pem\nclient-key: k.pem\ntokenFile: tok");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tls.ca_file, folder / "ca.pem");
  EXPECT_EQ(config->tls.certificate_pem, "CERT");
  EXPECT_EQ(config->tls.key_pem, "KEY");
  EXPECT_EQ(config->token_file, folder / "tok");
}

TEST_F(KubeconfigTest, DataWinsOverFiles) {
  const auto config =
      load("certificate-authority: /absent\ncertificate-authority-data: " + encode_base64("CA"),
           "client-certificate: /absent\nclient-certificate-data: " + encode_base64("CERT") +
               "\nclient-key: /absent\nclient-key-data: " + encode_base64("KEY"));
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->tls.ca_pem, "CA");
  EXPECT_EQ(config->tls.certificate_pem, "CERT");
  EXPECT_EQ(config->tls.key_pem, "KEY");
}

TEST_F(KubeconfigTest, ReadsTheOptionsOfTls) {
  const auto config = load("insecure-skip-tls-verify: true\ntls-server-name: api.internal",
                           "username: a\npassword: b");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->tls.skip_verify);
  EXPECT_EQ(config->tls.server_name, "api.internal");
  EXPECT_EQ(config->username, "a");
  EXPECT_EQ(config->password, "b");
}

TEST_F(KubeconfigTest, ReadsAnExecPlugin) {
  const auto config = load(
      "",
      "exec:\n  apiVersion: client.authentication.k8s.io/v1\n  command: bin/get\n  args: [--x, y]\n"
      "  env:\n  - name: A\n    value: b\n  interactiveMode: IfAvailable\n  provideClusterInfo: "
      "true\n  installHint: get it");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_TRUE(config->exec);
  EXPECT_EQ(config->exec->command, folder / "bin/get");
  EXPECT_THAT(config->exec->args, ::testing::ElementsAre("--x", "y"));
  EXPECT_EQ(config->exec->env.at("A"), "b");
  EXPECT_TRUE(config->exec->provide_cluster_info);
}

TEST_F(KubeconfigTest, ReadsWhatTheAwsToolWrites) {
  const auto config =
      load("",
           "exec:\n  apiVersion: client.authentication.k8s.io/v1beta1\n  command: aws\n  args:\n"
           "  - --region\n  - eu-central-1\n  env: null\n  interactiveMode: IfAvailable\n  "
           "provideClusterInfo: false");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->exec->command, "aws");
}

TEST_F(KubeconfigTest, RefusesWhatItCannotDoAndSaysWhere) {
  EXPECT_THAT(refusal("proxy-url: http://p", ""),
              AllOf(HasSubstr("config:9: "), HasSubstr("proxy-url")));
  EXPECT_THAT(refusal("", "as: admin"), HasSubstr("as: is not supported"));
  EXPECT_THAT(refusal("", "auth-provider: {name: gcp}"), HasSubstr("auth-provider"));
  EXPECT_THAT(refusal("insecure-skip-tls-verify: true\ncertificate-authority: ca", ""),
              HasSubstr("conflicts with"));
  EXPECT_THAT(refusal("certificate-authority-data: '%%%'", ""), HasSubstr("base64"));
  EXPECT_THAT(refusal("", "exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}"),
              HasSubstr("v1beta1"));
  EXPECT_THAT(refusal("",
                      "exec: {command: x, apiVersion: client.authentication.k8s.io/v1, "
                      "interactiveMode: Always}"),
              HasSubstr("terminal"));
  EXPECT_THAT(refusal("insecure-skip-tls-verify: 'yes'", ""), HasSubstr("true or false"));
}

TEST_F(KubeconfigTest, RefusesHalfACertificate) {
  EXPECT_THAT(refusal("", "client-certificate-data: " + encode_base64("CERT")),
              HasSubstr("must be set together"));
}

TEST_F(KubeconfigTest, ChoosesTheContextAskedFor) {
  const auto path =
      folder.write("config", text("", "token: t") + "- name: other\n  context: {cluster: k}\n");
  EXPECT_EQ(load_kubeconfig(path, "other")->token, "");
  const auto absent = load_kubeconfig(path, "absent");
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message,
              HasSubstr(path.string() + ": kubeconfig: context \"absent\" not found; available: "));
  EXPECT_THAT(absent.error().message, HasSubstr("other"));
}

TEST_F(KubeconfigTest, SaysWhatAContextLacks) {
  const auto path = folder.write("config", text("", "") +
                                               "- name: d\n  context: {cluster: gone}\n- name: e\n "
                                               " context: {cluster: k, user: gone}\n");
  EXPECT_THAT(load_kubeconfig(path, "d").error().message, HasSubstr("cluster \"gone\" not found"));
  EXPECT_THAT(load_kubeconfig(path, "e").error().message, HasSubstr("user \"gone\" not found"));
}

TEST_F(KubeconfigTest, MergesFilesAndTheFirstOneWins) {
  const auto first =
      folder.write("first", "current-context: c\nusers:\n- {name: u, user: {token: first}}\n");
  const auto second = folder.write("second", text("", "token: second"));
  const Environment both(
      "KUBECONFIG", first.string() + ":" + (folder / "absent").string() + ":" + second.string());
  const auto config = load_kubeconfig("", "");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token, "first");
  EXPECT_EQ(config->server, "https://k:6443");
}

TEST_F(KubeconfigTest, FallsBackToTheHomeFolder) {
  std::filesystem::create_directory(folder / ".kube");
  folder.write(".kube/config", text("", "token: home"));
  const Environment none("KUBECONFIG", "");
  const Environment home("HOME", folder.path());
  EXPECT_EQ(load_kubeconfig("", "")->token, "home");
}

TEST_F(KubeconfigTest, AFileNamedMustBeThere) {
  EXPECT_EQ(load_kubeconfig(folder / "absent", "").error().kind, ErrorKind::kNotFound);
  const Environment none("KUBECONFIG", (folder / "absent").string());
  const auto config = load_kubeconfig("", "");
  EXPECT_EQ(config.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(
      config.error().message,
      HasSubstr("$KUBECONFIG names " + (folder / "absent").string() + ", which does not exist"));
}

TEST_F(KubeconfigTest, SaysThatAFileIsEmptyAndAsksForNoContextThen) {
  const auto config = load_kubeconfig(folder.write("empty", ""), "");

  ASSERT_FALSE(config);
  EXPECT_THAT(config.error().message, AllOf(HasSubstr("kubeconfig is empty or has no context"),
                                            Not(HasSubstr("--context"))));
}

TEST_F(KubeconfigTest, NamesTheContextsIfNoneIsChosen) {
  const auto path =
      folder.write("config",
                   "clusters:\n- {name: k, cluster: {server: 'https://k'}}\ncontexts:\n"
                   "- {name: a, context: {cluster: k}}\n- {name: b, context: {cluster: k}}\n");

  EXPECT_THAT(load_kubeconfig(path, "").error().message, HasSubstr("--context: a, b"));
}

TEST_F(KubeconfigTest, KnowsAsWhomTheContextLogsIn) { EXPECT_EQ(load("", "token: t")->user, "u"); }

TEST_F(KubeconfigTest, ErrorsNeverQuoteSecrets) {
  const auto config = load("", "token: s3cr3t\nclient-key-data: 's3cr3t%'");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message.find("s3cr3t"), std::string::npos) << config.error().message;
}

}  // namespace
}  // namespace gpuward::kube
