// The promises of the manifests of the sweep and of the quarantine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "core/runtime/files.h"
#include "exporter/checks/check/check.h"
#include "exporter/checks/schedule.h"
#include "exporter/commands/quarantine.h"
#include "tests/places.inc"

namespace gpuward::exporter {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::filesystem::path kManifests = GPUWARD_SOURCE_DIR "/manifests";

std::string manifest(const std::string& name) {
  auto text = read_file(kManifests / name);
  EXPECT_TRUE(text) << name;
  return text.value_or("");
}

// CONTRACTS A: every six hours, at most ten nodes.
TEST(Manifests, SweepEverySixHours) {
  const std::string sweep = manifest("exporter-sweep.yaml");
  EXPECT_THAT(sweep, HasSubstr("kind: CronJob\n"));
  EXPECT_THAT(sweep, HasSubstr("schedule: \"0 */6 * * *\""));
  EXPECT_THAT(sweep.substr(sweep.find("\n      template:\n")),
              HasSubstr("app.kubernetes.io/component: sweeper}"));
  EXPECT_THAT(sweep, HasSubstr("{name: MAX_NODES_PER_SWEEP, value: \"10\"}"));
  EXPECT_THAT(sweep, HasSubstr("args: [sweep, \"--node-selector=nvidia.com/gpu.present=true\"]"));
}

// CONTRACTS A: a Job on a cordoned node. It lives longer than checks 4 and 6 together may take,
// with the wait for the node's own level 2, the last tries to write the result, and a pull.
TEST(Manifests, QuarantineACordonedNode) {
  const std::string quarantine = manifest("exporter-quarantine.yaml");
  const CheckSettings settings;
  const auto longest = time_limit_of(check_numbered(1), settings) + std::chrono::minutes(1) +
                       time_limit_of(check_numbered(4), settings) +
                       time_limit_of(check_numbered(6), settings);
  const QuarantineOptions options;
  EXPECT_GT(options.limit, longest + options.patience + std::chrono::minutes(10));
  EXPECT_THAT(quarantine, HasSubstr("activeDeadlineSeconds: " +
                                    std::to_string(options.limit / std::chrono::seconds(1))));
  EXPECT_THAT(quarantine, HasSubstr("args: [quarantine]"));
  EXPECT_THAT(quarantine, HasSubstr("node.kubernetes.io/unschedulable"));
  EXPECT_THAT(quarantine, HasSubstr("gpuward.dev/target-node: TARGET_NODE_NAME"));
}

// In the exporter's own image they only skip.
TEST(Manifests, SweepAndQuarantineRunTheDiagnosticsImage) {
  EXPECT_THAT(manifest("exporter-sweep.yaml"),
              HasSubstr("{name: SWEEP_IMAGE, value: \"gpuward-exporter-diagnostics:" GPUWARD_VERSION
                        "\"}"));
  EXPECT_THAT(manifest("exporter-quarantine.yaml"),
              HasSubstr("image: gpuward-exporter-diagnostics:" GPUWARD_VERSION "\n"));
}

// A monitor that waited for the labels of a GPU operator did not run if the driver was installed
// with the image.
// The sweep names the nodes that it takes by such a label, and its own pod prefers others. The
// remediator's files name them for what it prefers and may write.
TEST(Manifests, DriverPreInstalledSoNoPodNeedsLabelsOfAnOperator) {
  const std::set<std::string> excepted = {"remediator.yaml", "remediator-admission.yaml",
                                          "exporter-sweep.yaml"};
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kManifests)) {
    if (!entry.is_regular_file() || excepted.contains(entry.path().filename())) continue;
    const std::string text = manifest(entry.path().filename());
    ++count;
    for (const char* const label : {"nvidia.com/gpu.deploy", "nvidia.com/gpu.present",
                                    "feature.node.kubernetes.io", "amd.com/gpu.deploy"}) {
      EXPECT_THAT(text, Not(HasSubstr(label))) << entry.path();
    }
  }
  EXPECT_GE(count, 4U);
}

}  // namespace
}  // namespace gpuward::exporter
