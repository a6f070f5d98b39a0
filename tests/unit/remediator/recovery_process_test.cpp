// The recovery of a whole node with the real programs: gpuward-remediator, and in its Jobs
// gpuward-exporter with an nccl-tests that replays recorded output.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <memory>
#include <regex>

#include "core/runtime/files.h"
#include "tests/fakes/tools/tool_box.h"
#include "tests/places.inc"
#include "tests/unit/remediator/fake_hands.h"
#include "tests/unit/remediator/job_kubelet.h"
#include "tests/unit/remediator/remediation_stage.h"

namespace gpuward::remediator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTwoGpus =
    "gpus:\n"
    "  - {index: 0, uuid: GPU-a, pci: \"0000:1a:00.0\"}\n"
    "  - {index: 1, uuid: GPU-b, pci: \"0000:2b:00.0\"}\n";
// The output of nccl-tests v2.13 for 466.7 GB/s.
constexpr const char* kRecorded =
    GPUWARD_SOURCE_DIR "/tests/testdata/nccl/v2.13-h100-two-nodes.txt";

// Turns a flow mapping into a block: each of its keys on a line.
std::string block_of(const std::string& flow) {
  std::string block;
  int depth = 0;
  for (const char c : flow.substr(1, flow.size() - 2)) {
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    const bool is_end = c == ',' && depth == 0;
    const bool is_indent = c == ' ' && (block.empty() || block.back() == '\n');
    if (!is_indent) block += is_end ? '\n' : c;
  }
  return block + "\n";
}

// The policy of that row of docs/migration.md, with `wanted` GB/s and without the time of a soak.
std::string policy_of_page(const std::string& row, const std::string& wanted) {
  const std::string page = read_file(GPUWARD_SOURCE_DIR "/docs/migration.md").value_or("");
  std::smatch found;
  const std::regex form("\\n\\| " + row + "[^|]*\\| `([^`]*)` \\| policy \\|");
  if (!std::regex_search(page, found, form)) return "no such row";
  std::string policy = block_of(found[1].str());
  policy = std::regex_replace(policy, std::regex("nccl-test,"),
                              "nccl-test: {min_bus_bandwidth: " + wanted + "},");
  return std::regex_replace(policy, std::regex("verify,"), "verify: {soak: 0s},");
}

class WholeRecovery : public ::testing::Test {
 protected:
  WholeRecovery() {
    hands_.kube().create("/api/v1/namespaces", {{"metadata", {{"name", "gpu-healthcheck"}}}});
    tools_.add("all_reduce_perf", "", {.output = *read_file(kRecorded)});
    put_exporter();
    kubelet_ = std::make_unique<JobKubelet>(
        hands_,
        std::map<std::string, std::string>{
            {"PATH", folder_.path().string() + ":" + tools_.path().string() + ":/usr/bin:/bin"},
            {"AWS_EC2_METADATA_DISABLED", "true"}});
  }
  // Puts the image's gpuward-exporter in place, with flags for facts that it cannot find on this
  // machine.
  void put_exporter() {
    const std::string sim = folder_.write("gpus.yaml", kTwoGpus).string();
    const std::string kubeconfig = hands_.kubeconfig();
    const std::string config =
        folder_.write("config.yaml", "checks: {tool_dirs: [" + tools_.path().string() + "]}\n")
            .string();
    const auto script =
        folder_.write("gpuward-exporter",
                      "#!/bin/sh\nexec " GPUWARD_BIN_DIR "/gpuward-exporter \"$@\"" +
                          (" --gpu.simulate=" + sim) + " --kubeconfig=" + kubeconfig +
                          " --config.file=" + config + " --path.procfs=" + empty_.path().string() +
                          " --state.path=" + state_.path().string() + "\n");
    ASSERT_EQ(::chmod(script.c_str(), 0700), 0);
  }
  void begin(const std::string& bandwidth) {
    stage_ = std::make_unique<RemediationStage>(
        hands_, StageOptions{.plan = "[taint, cordon, drain]",
                             .severity = "isolate",
                             .more_policy = "jobs: {image: here/gpuward:1}\n"
                                            "recovery:\n"
                                            "  isolate:\n"
                                            "    - nccl-test: {clears_latched: true, "
                                            "min_bus_bandwidth: " +
                                            bandwidth +
                                            "}\n"
                                            "    - verify: {soak: 0s}\n"
                                            "    - return-to-service\n"});
    stage_->start();
  }
  // The recipe of docs/migration.md for users of konduktor.
  void begin_by_page(const std::string& bandwidth) {
    tools_.add("nvidia-smi", "", {.output = "All done."});
    stage_ = std::make_unique<RemediationStage>(
        hands_, StageOptions{.severity = "reset",
                             .policy = policy_of_page("return by a test on one node", bandwidth),
                             .provider_id = "metal://gpu-01"});  // no reset in place on AWS
    stage_->start();
  }
  // The requests to clear findings that the exporter's own process would read. They improve its
  // report.
  [[nodiscard]] std::vector<Json> clear_requests() const {
    std::vector<Json> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(state_.path() / "clear.d", error))
      found.push_back(parse_json(read_file(entry.path()).value_or("")).value_or(Json()));
    return found;
  }
  ::testing::AssertionResult comes_to(const std::string& phase) {
    const bool has = stage_->play_until([&] {
      kubelet_->turn();
      // Either of them clears the exporter's findings.
      if (!clear_requests().empty() || !tools_.calls("nvidia-smi").empty()) {
        stage_->report_severity(0);
        stage_->end_alert();
      }
      return stage_->phase() == phase;
    });
    if (has) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "phase " << stage_->phase() << " of rule "
                                         << stage_->rule() << ": " << stage_->message() << "\n"
                                         << stage_->log();
  }

  FakeHands hands_;
  support::TempDir folder_, state_, empty_;
  fakes::ToolBox tools_;
  std::unique_ptr<JobKubelet> kubelet_;
  std::unique_ptr<RemediationStage> stage_;
};

// CONTRACTS E: a single node needs 400 GB/s.
TEST_F(WholeRecovery, ANodeThatPassesItsNcclTestReturns) {
  begin("400");

  ASSERT_TRUE(comes_to("Released"));
  EXPECT_FALSE(stage_->is_cordoned());
  EXPECT_FALSE(stage_->is_tainted());
  EXPECT_EQ(stage_->lost_foreign_state(), "");
  EXPECT_THAT(kubelet_->commands(), ElementsAre(ElementsAre("gpuward-exporter", "quarantine",
                                                            "--checks=5", "--clear-latched=true")));
  EXPECT_THAT(tools_.calls("all_reduce_perf"), SizeIs(1));
  EXPECT_TRUE(clear_requests()[0].contains("passed_for_operator"));
  EXPECT_FALSE(clear_requests()[0].contains("passed_diagnostic"));
}

TEST_F(WholeRecovery, ANodeReturnsByItsNcclTestAsThePageForKonduktorSays) {
  begin_by_page("400");

  ASSERT_TRUE(comes_to("Released"));
  EXPECT_FALSE(stage_->is_cordoned());
  EXPECT_FALSE(stage_->is_tainted());
  EXPECT_EQ(stage_->step("nccl-test")["result"], "done");
  EXPECT_THAT(tools_.calls("all_reduce_perf"), SizeIs(1));
}

// Both recipes are for severity reset. No test clears an Xid of that severity: that needs a reset
// of the GPU.
TEST(RecoveryRecipes, OfThePageForKonduktorResetTheGpusBeforeTheTest) {
  for (const char* row : {"return by a test on one node", "a test between pairs of nodes"}) {
    const std::string policy = policy_of_page(row, "400");
    const auto reset = policy.find("gpu-reset");
    ASSERT_NE(reset, std::string::npos) << policy;
    EXPECT_LT(reset, policy.find("nccl-test")) << policy;
  }
}

TEST_F(WholeRecovery, ANodeThatIsTooSlowDoesNotReturnByThePageForKonduktor) {
  begin_by_page("500");

  ASSERT_TRUE(comes_to("Held"));
  EXPECT_EQ(stage_->step("nccl-test")["result"], "failed");
  EXPECT_TRUE(stage_->is_tainted());
  EXPECT_THAT(tools_.calls("all_reduce_perf"), SizeIs(1));
}

TEST_F(WholeRecovery, ANodeThatIsTooSlowStaysHeld) {
  begin("500");

  ASSERT_TRUE(comes_to("Held"));
  EXPECT_TRUE(stage_->is_cordoned());
  EXPECT_TRUE(stage_->is_tainted());
  EXPECT_THAT(stage_->message(), HasSubstr("not returned: nccl-test failed"));
  EXPECT_THAT(stage_->message(), HasSubstr("466.7 GB/s"));
  EXPECT_THAT(clear_requests(), IsEmpty());
}

}  // namespace
}  // namespace gpuward::remediator
