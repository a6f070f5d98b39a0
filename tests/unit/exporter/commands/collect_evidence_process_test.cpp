// `gpuward-exporter collect-evidence`, the real program, with fakes of the tools and real servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/aws/s3.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"
#include "tests/support/on_moto.h"
#include "tests/support/wait.h"
#include "tests/unit/core/http/test_server.h"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class CollectEvidence : public support::OnMoto<> {
 protected:
  void SetUp() override {
    add_tool("dmesg", "echo NVRM: Xid 79");
    add_tool("nvidia-smi", "echo \"nvidia-smi $*\"");
    add_tool("nvidia-bug-report.sh",
             "while [ $# -gt 1 ]; do shift; done; echo the report > \"$1.gz\"");
  }
  void add_tool(const std::string& name, const std::string& script) {
    fs::permissions(folder_.write(name, "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
  }
  // The command of the step's Job, with additions as in an operator's template.
  support::ProcessOptions command(std::map<std::string, std::string> env,
                                  const std::vector<std::string>& more) {
    const fs::path job =
        fs::path(GPUWARD_SOURCE_DIR) / "manifests/remediator-job-collect-evidence.json";
    const auto json = parse_json(read_file(job).value_or(""));
    EXPECT_TRUE(json);
    if (!json) return {};
    std::vector<std::string> argv = (*json)["spec"]["template"]["spec"]["containers"][0]["command"];
    EXPECT_EQ(argv.back(), "--termination-log=/run/termination-log");
    EXPECT_EQ(argv.front(), "gpuward-exporter");
    argv.front() = exporter_binary().string();
    argv.back() = "--termination-log=" + words().string();
    argv.push_back("--state.path=" + state().string());
    argv.push_back("--path.procfs=" + folder_.path().string());
    argv.insert(argv.end(), more.begin(), more.end());
    env.insert({{"REMEDIATION", "gpu-01-ab-1"},
                {"NODE_NAME", "gpu-01"},
                {"PATH", folder_.path().string() + ":/usr/bin:/bin"}});
    return {.argv = std::move(argv), .env = std::move(env)};
  }
  support::Process::Outcome run(std::map<std::string, std::string> env = {},
                                const std::vector<std::string>& more = {}) {
    auto outcome = support::Process::run(command(std::move(env), more));
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{});
  }
  fs::path words() const { return folder_ / "termination-log"; }
  fs::path state() const { return folder_ / "state"; }
  std::vector<fs::path> kept() const {
    std::vector<fs::path> all;
    std::error_code none;
    for (fs::directory_iterator at(state() / "evidence", none), end; !none && at != end; ++at)
      all.push_back(at->path());
    return all;
  }
  static std::string unpacked(const fs::path& path) {
    const auto text = support::Process::run({.argv = {"tar", "xzOf", path.string()}});
    return text ? text->output : std::string();
  }
  support::TempDir folder_;
};

TEST_F(CollectEvidence, KeepsItOnTheNodeAndSaysWhere) {
  const auto outcome = run();

  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_THAT(kept()[0].filename().string(),
              MatchesRegex("gpu-01-ab-1-[0-9]{8}T[0-9]{6}Z\\.tar\\.gz"));
  EXPECT_THAT(outcome.output,
              MatchesRegex("on the node in " + kept()[0].string() + " .[12] KiB.\n"));
  EXPECT_EQ(read_file(words()).value_or("") + "\n", outcome.output);
  EXPECT_THAT(
      unpacked(kept()[0]),
      AllOf(HasSubstr("node gpu-01"), HasSubstr("NVRM: Xid 79"), HasSubstr("nvidia-smi -q\n"),
            HasSubstr("the report"), HasSubstr("there is no rocm-smi"), HasSubstr("state.json")));
}

TEST_F(CollectEvidence, PutsItToAUrlWithAToken) {
  http::Request seen;
  http::TestServer server({{"/gpu/",
                            {"PUT"},
                            [&](const http::Request& request) {
                              seen = request;
                              return http::Response::text(201, "");
                            },
                            http::Access::kOpen,
                            http::Match::kPrefix}});
  const auto token = folder_.write("token", "very-secret\n");
  const std::string url = server.url("/gpu/");

  const auto outcome =
      run({{"EVIDENCE_UPLOAD", url}}, {"--upload.bearer-token-file=" + token.string()});
  server.stop();  // now its threads have written

  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  ASSERT_EQ(kept().size(), 1U);
  const std::string name = kept()[0].filename().string();
  EXPECT_EQ(seen.path, "/gpu/" + name);
  EXPECT_EQ(seen.header("Authorization"), "Bearer very-secret");
  EXPECT_EQ(seen.body, read_file(kept()[0], 64U << 20U).value_or(""));
  EXPECT_THAT(outcome.output,
              testing::StartsWith(url + name + ", and on the node in " + kept()[0].string()));
  EXPECT_THAT(outcome.output + outcome.error_output + unpacked(kept()[0]),
              Not(HasSubstr("very-secret")));
}

TEST_F(CollectEvidence, PutsItToS3WithTheKeysOfItsEnvironment) {
  GPUWARD_REQUIRE_IN(kAll, support::Moto::why_unavailable());
  ASSERT_TRUE(moto->admin().call({.service = aws::kS3,
                                  .what = "CreateBucket",
                                  .method = "PUT",
                                  .path = "",
                                  .bucket = "evidence"}));
  auto keys = moto->add_user(
      "node",
      R"({"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:PutObject","Resource":"*"}]})");
  ASSERT_TRUE(keys);
  keys->emplace("EVIDENCE_UPLOAD", "s3://evidence/prod");

  const auto outcome = run(*keys);

  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  ASSERT_EQ(kept().size(), 1U);
  const std::string name = kept()[0].filename().string();
  EXPECT_THAT(outcome.output, testing::StartsWith("s3://evidence/prod/" + name + ", and on the"));
  const auto got = moto->admin().call({.service = aws::kS3,
                                       .what = "GetObject",
                                       .method = "GET",
                                       .path = "/prod/" + name,
                                       .bucket = "evidence"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, read_file(kept()[0], 64U << 20U).value_or(""));
}

TEST_F(CollectEvidence, IsDoneIfItCouldNotBeUploadedAndSaysSo) {
  const http::TestServer server(
      {{"/gpu/",
        {"PUT"},
        [](const http::Request&) { return http::Response::text(503, "very-secret"); },
        http::Access::kOpen,
        http::Match::kPrefix}});

  const auto outcome = run({{"EVIDENCE_UPLOAD", server.url("/gpu/")}});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.error_output;
  ASSERT_EQ(kept().size(), 1U);
  EXPECT_THAT(outcome.output, testing::StartsWith("on the node in " + kept()[0].string() +
                                                  "; not uploaded to " + server.url("/gpu/") +
                                                  kept()[0].filename().string() + ": HTTP 503"));
  EXPECT_THAT(outcome.output, Not(HasSubstr("very-secret")));
}

TEST_F(CollectEvidence, WaitsForAHangingServerNoLongerThanItIsTold) {
  std::atomic<bool> over{false};
  const http::TestServer server({{"/gpu/",
                                  {"PUT"},
                                  [&](const http::Request&) {
                                    static_cast<void>(
                                        support::poll_until([&] { return over.load(); }));
                                    return http::Response::text(200, "");
                                  },
                                  http::Access::kOpen,
                                  http::Match::kPrefix}});
  const auto begun = std::chrono::steady_clock::now();
  const auto outcome = run({{"EVIDENCE_UPLOAD", server.url("/gpu/")}}, {"--upload.timeout=1s"});
  over = true;
  EXPECT_LT(std::chrono::steady_clock::now() - begun, support::kGenerousRequest);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("; not uploaded to "));
}

TEST_F(CollectEvidence, IsDoneIfItLiesElsewhereAlone) {
  const support::TempDir mounted;
  folder_.write("state", "no folder");

  const auto outcome = run({{"EVIDENCE_UPLOAD", mounted.path().string()}});

  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, AllOf(testing::StartsWith(mounted.path().string() + "/gpu-01-ab-1-"),
                                    HasSubstr("; not kept on the node: ")));
}

TEST_F(CollectEvidence, FailsIfItLiesNowhere) {
  folder_.write("state", "no folder");
  const auto outcome = run({{"EVIDENCE_UPLOAD", (folder_ / "away").string()}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("the evidence is lost"), HasSubstr("; not uploaded to ")));
}

TEST_F(CollectEvidence, NamesWhatIsIncomplete) {
  add_tool("nvidia-smi", "echo Unable to determine the device handle >&2; exit 15");
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("; incomplete: nvidia-smi.txt, nvidia-smi-topo.txt"));
}

// The kubelet ends the pod of a Job like this when its time is over.
TEST_F(CollectEvidence, KeepsWhatItHasWhenItIsEnded) {
  add_tool("nvidia-smi", ": > " + (folder_ / "hangs").string() + "; exec sleep 600");
  const support::TempDir mounted;
  auto started =
      support::Process::spawn(command({{"EVIDENCE_UPLOAD", mounted.path().string()}}, {}));
  ASSERT_TRUE(started) << started.error().message;
  ASSERT_TRUE(support::poll_until([&] { return fs::exists(folder_ / "hangs"); }));

  EXPECT_EQ((*started)->stop(), 0);

  ASSERT_EQ(kept().size(), 1U);
  EXPECT_THAT(unpacked(kept()[0]), HasSubstr("NVRM: Xid 79"));
  EXPECT_THAT((*started)->output(), HasSubstr("; not uploaded to "));
  EXPECT_TRUE(fs::is_empty(mounted.path()));
}

TEST_F(CollectEvidence, KeepsNoMoreFilesThanItIsTold) {
  fs::create_directories(state() / "evidence");
  folder_.write("state/evidence/gpu-01-aa-1.txt", "of an earlier version");
  EXPECT_EQ(run({}, {"--keep.files=1"}).exit_code, 0);
  EXPECT_EQ(kept().size(), 1U);
  EXPECT_EQ(kept()[0].extension(), ".gz");
}

TEST_F(CollectEvidence, RefusesWhatCannotBe) {
  EXPECT_EQ(run({{"REMEDIATION", "../x"}}).exit_code, 2);
  EXPECT_EQ(run({{"EVIDENCE_UPLOAD", "https://user:very-secret@host/"}}).exit_code, 2);
  const auto token = folder_.write("token", "very-secret\n");
  const auto clear = run({{"EVIDENCE_UPLOAD", "http://files.example/"}},
                         {"--upload.bearer-token-file=" + token.string()});
  EXPECT_EQ(clear.exit_code, 2);
  EXPECT_THAT(clear.error_output, AllOf(HasSubstr("https://"), Not(HasSubstr("very-secret"))));
  EXPECT_TRUE(kept().empty());
}

}  // namespace
}  // namespace gpuward::exporter
