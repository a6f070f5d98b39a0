// The root file systems of the two images: their files, their size, and that the programs run in
// them as in a container, but without an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/runtime/files.h"
#include "tests/image/root_fs.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/serving_exporter.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::image {
namespace {

namespace fs = std::filesystem;
using support::Process;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

std::vector<std::string> lines_of(const std::string& name) {
  std::vector<std::string> out;
  std::istringstream text(
      read_file(fs::path(GPUWARD_SOURCE_DIR) / "tests/image" / name).value_or(""));
  for (std::string line; std::getline(text, line);) out.push_back(line);
  return out;
}

// New libraries, and new files in general, are a decision: add them to the list.
void expect_listed(const RootFs& root, const std::string& list) {
  auto files = root.files();
  // A few hundred files, which depend on the release of tzdata.
  std::erase_if(files,
                [](const std::string& path) { return path.starts_with("/usr/share/zoneinfo/"); });
#ifdef __x86_64__
  EXPECT_THAT(files, ElementsAreArray(lines_of(list)));
#else
  EXPECT_EQ(files.size(), lines_of(list).size());
#endif
  for (const auto& entry : fs::recursive_directory_iterator(root.path())) {
    if (entry.is_symlink()) continue;
    const auto special = fs::perms::set_uid | fs::perms::set_gid;
    EXPECT_EQ(entry.status().permissions() & special, fs::perms::none) << entry.path();
  }
}

TEST(ExporterImage, HasTheFilesThatAreListedAndIsSmall) {
  const RootFs root("exporter");
  expect_listed(root, "exporter.files");
  EXPECT_LT(root.bytes(), 48U << 20U);
}

TEST(RemediatorImage, HasTheFilesThatAreListedAndIsSmall) {
  const RootFs root("remediator");
  expect_listed(root, "remediator.files");
  EXPECT_LT(root.bytes(), 36U << 20U);
}

TEST(RemediatorImage, RunsTheRemediatorAndHasNoShell) {
  GPUWARD_REQUIRE(why_no_root());
  const RootFs root("remediator");
  EXPECT_EQ(root.said_by({"/usr/bin/gpuward-remediator", "--version"}),
            "gpuward-remediator " GPUWARD_VERSION "\n");
  EXPECT_FALSE(fs::exists(root.path() / "usr/bin/sh"));
}

TEST(RemediatorImage, KnowsTheTimeZonesOfWindows) {
  GPUWARD_REQUIRE(why_no_root());
  const RootFs root("remediator");
  std::ofstream(root.path() / "tmp/policy.yaml")
      << "maintenance_windows:\n"
         "  - {name: nights, start: \"22:00\", duration: 8h, time_zone: Europe/Berlin}\n";
  std::ofstream(root.path() / "tmp/token") << "a-token-of-some-length\n";
  EXPECT_THAT(root.said_by({"/usr/bin/gpuward-remediator", "--config.file=/tmp/policy.yaml",
                            "--web.bearer-token-file=/tmp/token", "--check-config"}),
              HasSubstr("The configuration is valid."));
}

TEST(ExporterImage, RunsWhatTheJobsCall) {
  GPUWARD_REQUIRE(why_no_root());
  const RootFs root("exporter");
  EXPECT_EQ(root.said_by({"/bin/sh", "-c",
                          "mkdir -p /tmp/a/b && { gpuward-exporter --version; dmesg --version "
                          ">/dev/null 2>&1 || exit 1; } >/tmp/a/b/c && cat /tmp/a/b/c"}),
            "gpuward-exporter " GPUWARD_VERSION "\n");
}

// The manifests mount the exporter's ConfigMap there, also in the Jobs.
TEST(ExporterImage, ReadsItsConfigurationAtTheUsualPlace) {
  GPUWARD_REQUIRE(why_no_root());
  const RootFs root("exporter");
  EXPECT_THAT(root.said_by({"/bin/sh", "-c",
                            "mkdir -p /etc/gpuward && echo 'profile: no' >/etc/gpuward/config.yaml "
                            "&& gpuward-exporter --check-config 2>&1 | cat"}),
              HasSubstr("/etc/gpuward/config.yaml:1"));
}

// The image's shell copies the files; the collector searches elsewhere for files that the image
// lacks.
TEST(ExporterImage, CollectsEvidenceIntoAFolder) {
  GPUWARD_REQUIRE(why_no_root());
  const RootFs root("exporter");
  EXPECT_THAT(root.said_by({"/usr/bin/gpuward-exporter", "collect-evidence", "--remediation=gpu-1",
                            "--state.path=/tmp/state", "--upload=/tmp"}),
              HasSubstr("/tmp/gpu-1-"));
  const auto uploaded = root.files();
  EXPECT_TRUE(std::ranges::any_of(uploaded, [](const std::string& path) {
    return path.starts_with("/tmp/gpu-1-") && path.ends_with(".tar.gz");
  }));
  EXPECT_THAT(root.said_by({"/bin/sh", "-c", "chroot / /usr/bin/gpuward-exporter --version"}),
              HasSubstr(GPUWARD_VERSION));
}

TEST(ExporterImage, ServesMetricsOfItsGpus) {
  GPUWARD_REQUIRE(why_no_root());
  const RootFs root("exporter");
  std::ofstream(root.path() / "tmp/kernel.log") << "";
  std::ofstream(root.path() / "tmp/gpus.yaml") << "gpus: [{pci: \"0000:4e:00.0\", uuid: GPU-1}]\n";
  const auto exporter =
      Process::spawn(root.inside({"/usr/bin/gpuward-exporter", "--web.listen-address=127.0.0.1:0",
                                  "--kernel-log.path=/tmp/kernel.log",
                                  "--gpu.simulate=/tmp/gpus.yaml", "--state.path=/tmp/state"}));
  ASSERT_TRUE(exporter) << exporter.error().message;
  EXPECT_TRUE(support::wait_until(
      [&] {
        return support::metrics_page_of(**exporter).find("gpuward_gpu_info{") != std::string::npos;
      },
      "the GPU is served"))
      << (*exporter)->error_output();
}

// The test names both, so that a chart's default and an image's name stay equal.
TEST(Containerfile, BuildsTheImagesThatTheChartNames) {
  const std::string text = read_file(fs::path(GPUWARD_SOURCE_DIR) / "Containerfile").value_or("");
  const std::string values =
      read_file(fs::path(GPUWARD_SOURCE_DIR) / "manifests/chart/gpuward/values.yaml").value_or("");
  for (const std::string image : {"exporter", "remediator"}) {
    EXPECT_THAT(text, HasSubstr("\nFROM scratch AS " + image + "\n"));
    EXPECT_THAT(text,
                HasSubstr("manifests/image/rootfs " + image + " build/release/bin /" + image));
    EXPECT_THAT(text, HasSubstr("\nENTRYPOINT [\"/usr/bin/gpuward-" + image + "\"]\n"));
    EXPECT_THAT(values, HasSubstr("\n  " + image + ": {repository: gpuward-" + image + ","));
  }
  EXPECT_THAT(text, HasSubstr("\nUSER 65532:65532\n"));
  EXPECT_THAT(text, HasSubstr("\nFROM ${DIAGNOSTICS_BASE} AS exporter-diagnostics\n"));
  EXPECT_THAT(text, HasSubstr("manifests/image/rootfs exporter-diagnostics build/release/bin "
                              "/exporter-diagnostics\n"));
}

// A tag can be pushed again, a digest cannot.
TEST(Containerfile, NamesEachBaseByItsDigest) {
  const std::string text = read_file(fs::path(GPUWARD_SOURCE_DIR) / "Containerfile").value_or("");
  EXPECT_THAT(text,
              ContainsRegex("\nARG DEBIAN=[a-z./]+:12@sha256:[0-9a-f]+\nARG DIAGNOSTICS_BASE=[$]"));
  const std::regex from("\nFROM ([^ \n]+)");
  for (std::sregex_iterator one(text.begin(), text.end(), from), end; one != end; ++one)
    EXPECT_THAT((*one)[1].str(), AnyOf("scratch", "${DEBIAN}", "${DIAGNOSTICS_BASE}"));
}

// docker looks for a Dockerfile, and it does not know podman's .containerignore.
TEST(Containerfile, IsNamedInEachDocumentedDockerBuild) {
  int builds = 0;
  for (const auto& page : fs::recursive_directory_iterator(fs::path(GPUWARD_SOURCE_DIR) / "docs")) {
    if (page.path().extension() != ".md") continue;
    const std::string text = read_file(page.path()).value_or("");
    for (auto at = text.find("docker build "); at != std::string::npos;
         at = text.find("docker build ", at + 1), ++builds) {
      EXPECT_THAT(text.substr(at, text.find('\n', at) - at), HasSubstr(" -f Containerfile "))
          << page.path();
    }
  }
  EXPECT_GE(builds, 3);
  EXPECT_THAT(read_file(fs::path(GPUWARD_SOURCE_DIR) / ".dockerignore").value_or(""),
              HasSubstr("build\n"));
}

// The images' user is nobody; a Job that loads or resets GPUs on a node runs as root there.
TEST(Jobs, AreRootWhateverUserTheirImageHas) {
  const fs::path manifests = fs::path(GPUWARD_SOURCE_DIR) / "manifests";
  for (const char* step :
       {"collect-evidence", "gpu-reset", "quarantine-job", "nccl-test", "nccl-pairs"}) {
    const auto job = manifests / ("remediator-job-" + std::string(step) + ".json");
    EXPECT_THAT(read_file(job).value_or(""), HasSubstr(R"({"privileged": true, "runAsUser": 0})"));
  }
  EXPECT_THAT(read_file(manifests / "exporter-quarantine.yaml").value_or(""),
              HasSubstr("privileged: true\n            runAsUser: 0\n"));
}

}  // namespace
}  // namespace gpuward::image
