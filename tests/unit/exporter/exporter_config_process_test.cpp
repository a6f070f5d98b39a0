// The program and its configuration: good, bad, changed while it runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/support/certificates.h"
#include "tests/support/http_get.h"
#include "tests/support/kubelet_socket.h"
#include "tests/support/require.h"
#include "tests/support/wait.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

using testing::HasSubstr;

constexpr const char* kPolicy79 = "gpuward_xid_policy_info{xid=\"79\",severity=\"";

class ExporterConfig : public testing::Test {
 protected:
  std::vector<std::string> with_config(const std::string& yaml) {
    exporter.write("config.yaml", yaml);
    return {"--config.file=" + exporter.file("config.yaml").string()};
  }
  bool shows(const std::string& text) {
    return support::poll_until([&] { return exporter.metrics().find(text) != std::string::npos; });
  }
  static support::Process::Outcome run(std::vector<std::string> arguments, std::string input = {}) {
    arguments.insert(arguments.begin(), exporter_binary().string());
    auto outcome = support::Process::run({.argv = std::move(arguments), .input = std::move(input)});
    EXPECT_TRUE(outcome.has_value());
    return outcome.value_or(support::Process::Outcome{});
  }

  RunningExporter exporter;
};

TEST_F(ExporterConfig, IsReadAgainOnSighup) {
  exporter.start(with_config("xid: {\"79\": {severity: isolate}}\n"));
  EXPECT_TRUE(shows(std::string(kPolicy79) + "isolate\""));

  exporter.write("config.yaml", "xid: {\"79\": {severity: monitor}}\n");
  exporter.process().signal(SIGHUP);

  EXPECT_TRUE(shows(std::string(kPolicy79) + "monitor\""));
  exporter.append_log(xid_line(79));
  EXPECT_TRUE(exporter.has(xid_series(79), "1"));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "1") << "the new table judges";
}

TEST_F(ExporterConfig, IsReadAgainWhenAMountedConfigMapIsSwapped) {
  exporter.write("one.yaml", "xid: {\"79\": {severity: isolate}}\n");
  exporter.write("two.yaml", "xid: {\"79\": {severity: reset}}\n");
  std::filesystem::create_symlink("one.yaml", exporter.file("config.yaml"));
  exporter.start({"--config.file=" + exporter.file("config.yaml").string()});

  std::filesystem::create_symlink("two.yaml", exporter.file("next"));
  std::filesystem::rename(exporter.file("next"), exporter.file("config.yaml"));

  EXPECT_TRUE(shows(std::string(kPolicy79) + "reset\""));
}

// The kubelet mounts a ConfigMap like this: the files are links through ..data, which it swaps.
TEST_F(ExporterConfig, IsReadAgainWhenTheFolderOfTheReplacedSuitesKeysIsSwapped) {
  const auto folder = exporter.file("keys");
  std::filesystem::create_directories(folder / "..2026_01");
  std::filesystem::create_directories(folder / "..2026_02");
  exporter.write("keys/..2026_01/STRICT_PSHC", "0");
  exporter.write("keys/..2026_02/STRICT_PSHC", "1\n");
  for (const char* data : {"keys/..2026_01/", "keys/..2026_02/"})
    exporter.write(data + std::string("CHECK_INTERVAL"), "1");
  exporter.write("keys/..2026_01/CHECKS_LIGHTWEIGHT", "0 2");
  exporter.write("keys/..2026_02/CHECKS_LIGHTWEIGHT", "0 3");
  std::filesystem::create_symlink("..2026_01", folder / "..data");
  for (const char* key : {"STRICT_PSHC", "CHECK_INTERVAL", "CHECKS_LIGHTWEIGHT"})
    std::filesystem::create_symlink(std::filesystem::path("..data") / key, folder / key);
  exporter.start({"--config.directory=" + folder.string()});
  EXPECT_TRUE(shows("gpuward_xid_policy_info{xid=\"165\",severity=\"monitor\""));
  EXPECT_TRUE(shows("gpuward_check_status{check=\"2-efa-enumeration\""));
  EXPECT_FALSE(exporter.metrics().contains("check=\"3-topology-check\""));

  std::filesystem::create_symlink("..2026_02", folder / "..data_tmp");
  std::filesystem::rename(folder / "..data_tmp", folder / "..data");
  std::filesystem::remove_all(folder / "..2026_01");

  EXPECT_TRUE(shows("gpuward_xid_policy_info{xid=\"165\",severity=\"isolate\""));
  EXPECT_TRUE(shows("gpuward_check_status{check=\"3-topology-check\"")) << "at the next cycle";
  EXPECT_EQ(exporter.value("gpuward_config_last_reload_successful"), "1");
}

// node-problem-detector's files at work: a plug-in runs, and a line of the kernel log counts.
TEST_F(ExporterConfig, TakesTheFilesOfNodeProblemDetectorAsTheyAre) {
  const auto folder = exporter.file("npd");
  std::filesystem::create_directories(folder);
  exporter.write("npd/check_ntp.sh", "#!/bin/sh\necho clock is off\nexit 1\n");
  std::filesystem::permissions(folder / "check_ntp.sh", std::filesystem::perms::owner_all);
  exporter.write("npd/ntp.json",
                 R"({"plugin": "custom", "rules": [{"type": "permanent", "condition": "NTPProblem",
                     "reason": "NTPIsDown", "path": ")" +
                     (folder / "check_ntp.sh").string() + "\"}]}");
  exporter.write("npd/kernel.json", R"({"plugin": "kmsg", "rules": [
    {"type": "permanent", "condition": "ReadonlyFilesystem", "reason": "FilesystemIsReadOnly",
     "pattern": "Remounting filesystem read-only"}]})");
  auto arguments = with_config("npd: {severities: {ReadonlyFilesystem: reset}}\n");
  arguments.push_back("--npd.config=" + folder.string());
  exporter.start(arguments);

  exporter.append_log("EXT4-fs (sda1): Remounting filesystem read-only");

  EXPECT_TRUE(exporter.has(
      "gpuward_kernel_events_total{kind=\"kernel_rule\",label=\"FilesystemIsReadOnly\","
      "pci_bus_id=\"\"}",
      "1"));
  EXPECT_TRUE(exporter.has("gpuward_node_severity", "2"));
  EXPECT_TRUE(exporter.has("gpuward_check_status{check=\"NTPProblem\",status=\"warn\"}", "1"));
  EXPECT_TRUE(shows("code=\"NTPIsDown\""));
}

TEST_F(ExporterConfig, KeepsTheOldOneIfTheNewOneIsBadAndSaysSoInAMetric) {
  exporter.start(with_config("xid: {\"79\": {severity: isolate}}\n"));
  EXPECT_EQ(exporter.value("gpuward_config_last_reload_successful"), "1");

  exporter.write("config.yaml", "xid:\n  \"79\": {severity: awful}\n");
  exporter.process().signal(SIGHUP);

  EXPECT_TRUE(exporter.has("gpuward_config_last_reload_successful", "0"));
  EXPECT_TRUE(shows(std::string(kPolicy79) + "isolate\""));
  EXPECT_TRUE(exporter.says("config.yaml:2")) << exporter.process().error_output();

  exporter.write("config.yaml", "{}\n");
  exporter.process().signal(SIGHUP);

  EXPECT_TRUE(exporter.has("gpuward_config_last_reload_successful", "1"));
}

// An operator who removes a check ends its findings. A file that cannot be read does not.
TEST_F(ExporterConfig, EndsTheFindingsOfAProgramOnceAFileThatCanBeReadHasItNoMore) {
  exporter.start(
      with_config("checks: {programs: [{name: ntp, command: [/bin/false], severity: reset}]}\n"));
  ASSERT_TRUE(exporter.has("gpuward_node_severity", "2"));

  exporter.write("config.yaml", "checks: {programs: [\n");
  exporter.process().signal(SIGHUP);
  ASSERT_TRUE(exporter.has("gpuward_config_last_reload_successful", "0"));
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "2");

  exporter.write("config.yaml", "{}\n");
  exporter.process().signal(SIGHUP);
  EXPECT_TRUE(exporter.has("gpuward_node_severity", "0"));
  EXPECT_TRUE(exporter.has("gpuward_check_status{check=\"ntp\",status=\"skip\"}", "1"));
  EXPECT_TRUE(exporter.says("Ended finding, its check is not enabled any more"));
}

TEST_F(ExporterConfig, SighupAsksTheKubeletAgainToo) {
  GPUWARD_REQUIRE(support::KubeletSocket::why_unavailable());
  exporter.start(with_config("pods: {socket: " + exporter.file("kubelet.sock").string() + "}\n"));
  ASSERT_TRUE(exporter.says("Cannot read pod-to-GPU assignments from kubelet"));
  const support::KubeletSocket kubelet(
      R"({"pod_resources": [{"name": "train-0", "namespace": "team-a", "containers": [{"name": "worker",
          "devices": [{"resource_name": "nvidia.com/gpu", "device_ids": ["GPU-3"]}]}]}]})");
  std::filesystem::create_symlink(kubelet.path(), exporter.file("kubelet.sock"));

  exporter.process().signal(SIGHUP);

  EXPECT_TRUE(shows(R"(gpuward_gpu_pod_info{gpu="3",uuid="GPU-3",pci_bus_id="0000:7e:00",)"
                    R"(namespace="team-a",pod="train-0",container="worker"} 1)"));
}

TEST_F(ExporterConfig, FollowsTheInventoryFile) {
  exporter.start();

  exporter.write("gpus.yaml", "gpus:\n  - {index: 5, uuid: GPU-new, pci: \"0000:aa:00.0\"}\n");

  EXPECT_TRUE(
      exporter.has("gpuward_gpu_severity{gpu=\"5\",uuid=\"GPU-new\",pci_bus_id=\"0000:aa:00\","
                   "namespace=\"\",pod=\"\"}",
                   "0"));
  exporter.write("gpus.yaml", "gpus: [\n");
  EXPECT_TRUE(exporter.has("gpuward_inventory_up", "0"));
  EXPECT_EQ(exporter.get("/readyz").status, 503);
  EXPECT_EQ(exporter.value("gpuward_node_severity"), "0");
}

TEST_F(ExporterConfig, EndsWithTwoAndFileAndLineIfItIsBadAtTheStart) {
  exporter.write("config.yaml", "profile: default\nbad: 1\n");

  const auto outcome = run({"--config.file=" + exporter.file("config.yaml").string()});

  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error_output, HasSubstr("config.yaml:2"));
}

TEST_F(ExporterConfig, IsCheckedWithoutBeingUsed) {
  exporter.write("good.yaml", "profile: seed\n");
  exporter.write("bad.yaml", "gpus: [\n");

  EXPECT_EQ(
      run({"--check-config", "--config.file=" + exporter.file("good.yaml").string()}).exit_code, 0);
  EXPECT_EQ(
      run({"--check-config", "--config.file=" + exporter.file("bad.yaml").string()}).exit_code, 2);
  EXPECT_EQ(
      run({"--check-config", "--gpu.simulate=" + exporter.file("bad.yaml").string()}).exit_code, 2);
  EXPECT_EQ(
      run({"--check-config", "--web.config.file=" + exporter.file("bad.yaml").string()}).exit_code,
      2);
  exporter.write("no-token.yaml", "auth: {bearer_token_files: [/no-token]}\n");
  const auto no_token =
      run({"--check-config", "--web.config.file=" + exporter.file("no-token.yaml").string()});
  EXPECT_EQ(no_token.exit_code, 2);
  EXPECT_THAT(no_token.error_output, HasSubstr("no-token"));
  EXPECT_EQ(run({"--check-config", "--config.file=/nowhere.yaml"}).exit_code, 2);
}

TEST_F(ExporterConfig, SendsNoTokenInTheClear) {
  exporter.write("token", "secret\n");
  const std::vector<std::string> flags = {
      "--check-config", "--loki.push-url=http://192.0.2.1:3100",
      "--loki.bearer-token-file=" + exporter.file("token").string()};
  const auto refused = run(flags);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.error_output,
              HasSubstr("--loki.bearer-token-file: credentials would be sent unencrypted to "
                        "192.0.2.1: use https://, or set --loki.credentials-over-http"));
  auto allowed = flags;
  allowed.emplace_back("--loki.credentials-over-http");
  EXPECT_EQ(run(allowed).exit_code, 0);
}

TEST_F(ExporterConfig, RefusesUnknownFlagsAndTakenAddresses) {
  exporter.start();

  EXPECT_EQ(run({"--no-such-flag"}).exit_code, 2);
  const auto taken = run({"--web.listen-address=127.0.0.1:" + std::to_string(exporter.port()),
                          "--kernel-log.path=" + exporter.log().string(),
                          "--state.path=" + exporter.file("other").string()});
  EXPECT_EQ(taken.exit_code, 1);
  EXPECT_THAT(taken.error_output, HasSubstr(std::to_string(exporter.port())));
}

TEST_F(ExporterConfig, AsksForCredentialsIfTheWebConfigurationNamesAny) {
  exporter.write("token", "a-long-secret-token-of-a-test\n");
  exporter.write("web.yaml",
                 "auth: {bearer_token_files: [" + exporter.file("token").string() + "]}\n");
  exporter.start({"--web.config.file=" + exporter.file("web.yaml").string()});

  EXPECT_EQ(exporter.get("/metrics").status, 401);
  EXPECT_EQ(exporter.get("/").status, 401);
  EXPECT_EQ(exporter.get("/healthz").status, 200) << "the kubelet has no token";
  EXPECT_EQ(support::http_get(exporter.url("/metrics"),
                              {{"Authorization", "Bearer a-long-secret-token-of-a-test"}})
                .status,
            200);
}

TEST_F(ExporterConfig, SpeaksTlsOnlyAndAsksForAClientCertificateIfToldTo) {
  const support::CertificateAuthority authority("of the servers");
  const support::CertificateAuthority clients("of the clients");
  const auto server = authority.issue_server({"127.0.0.1"});
  exporter.write("server.pem", server.certificate_pem);
  exporter.write("server.key", server.key_pem);
  exporter.write("clients.pem", clients.certificate_pem());
  exporter.write("web.yaml", "tls: {certificate_file: " + exporter.file("server.pem").string() +
                                 ", key_file: " + exporter.file("server.key").string() +
                                 ", client_ca_file: " + exporter.file("clients.pem").string() +
                                 "}\n");
  exporter.start({"--web.config.file=" + exporter.file("web.yaml").string()});
  http::ClientRequest request;
  request.url = "https://127.0.0.1:" + std::to_string(exporter.port()) + "/metrics";
  const auto scrape = [&](const support::KeyedCertificate& own, const std::string& ca) {
    http::ClientTls tls;
    tls.ca_pem = ca;
    tls.certificate_pem = own.certificate_pem;
    tls.key_pem = own.key_pem;
    return support::http_send(request, tls);
  };
  const auto prometheus = clients.issue_client("prometheus");

  const auto good = scrape(prometheus, authority.certificate_pem());

  EXPECT_EQ(good.status, 200) << good.body;
  EXPECT_THAT(good.body, HasSubstr("\ngpuward_node_severity 0\n"));
  EXPECT_EQ(scrape({}, authority.certificate_pem()).status, 0) << "no client certificate";
  EXPECT_EQ(scrape(authority.issue_client("stranger"), authority.certificate_pem()).status, 0);
  EXPECT_EQ(scrape(prometheus, clients.certificate_pem()).status, 0) << "the server is verified";
  EXPECT_NE(exporter.get("/metrics").status, 200) << "plain HTTP on the port of TLS";
}

TEST_F(ExporterConfig, NamesTheFileOfACertificateThatCannotBeRead) {
  exporter.write("web.yaml",
                 "tls: {certificate_file: /nowhere/server.pem, key_file: /nowhere/k}\n");

  const auto outcome =
      run({"--web.listen-address=127.0.0.1:0", "--kernel-log.path=" + exporter.log().string(),
           "--state.path=" + exporter.file("state").string(),
           "--web.config.file=" + exporter.file("web.yaml").string()});

  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error_output, HasSubstr("/nowhere/"));
}

TEST_F(ExporterConfig, RefusesForgedLinesIfToldTo) {
  exporter.start(with_config("kernel_log: {user_space_lines: refuse}\n"));

  exporter.append_log(xid_line(79), 12);
  exporter.append_log(xid_line(13));

  EXPECT_TRUE(exporter.has(xid_series(13), "1"));
  EXPECT_EQ(exporter.value(xid_series(79)), "0");
  EXPECT_TRUE(exporter.has("gpuward_kernel_log_user_space_lines_total", "1"));
}

TEST_F(ExporterConfig, TellsEventsOfALogOnStdin) {
  const auto outcome = run({"parse-log"}, "noise\n" + xid_line(79) + "\n");

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("\"line\":2"));
  EXPECT_THAT(outcome.output, HasSubstr("\"code\":79"));
  EXPECT_THAT(outcome.output, HasSubstr("\"severity\":\"reboot\""));
}

TEST_F(ExporterConfig, JudgesALogOnStdinToo) {
  auto arguments = with_config(
      "xid: {\"79\": {severity: isolate}}\n"
      "kernel_log: {rules: [{code: ReadOnly, pattern: read-only, severity: reset}]}\n");
  arguments.emplace_back("parse-log");
  const auto outcome = run(arguments, "read-only\n" + xid_line(79) + "\n");

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("\"code\":\"ReadOnly\""));
  EXPECT_THAT(outcome.output, HasSubstr("\"severity\":\"isolate\""));
}

TEST_F(ExporterConfig, SaysItsVersion) {
  const auto outcome = run({"--version"});

  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr(GPUWARD_VERSION));
}

}  // namespace
}  // namespace gpuward::exporter
