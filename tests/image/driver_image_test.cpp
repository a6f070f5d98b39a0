// The exporter's image on the platforms of docs/install.md: a root file system with the driver's
// library where the platform has it, mounted as the chart renders it with the documented values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/image/root_fs.h"
#include "tests/manifests/tools.h"
#include "tests/places.inc"
#include "tests/support/driver_places.h"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/serving_exporter.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::image {
namespace {

namespace fs = std::filesystem;
using support::DriverPlace;
using support::Process;
using ::testing::HasSubstr;

// What the pod of the chart gets of its node.
struct PodParts {
  std::string driver_source, driver_target, flag;
  std::string dev_source;
};

std::string found_in(const std::string& text, const std::string& expression) {
  std::smatch found;
  EXPECT_TRUE(std::regex_search(text, found, std::regex(expression))) << expression;
  return found.size() > 1 ? found[1].str() : std::string();
}

PodParts rendered_for(const DriverPlace& place) {
  const std::string text = manifests::chart({"--show-only=templates/exporter.yaml",
                                             "--set=exporter.driverRoot=" + place.driver_root,
                                             "--set=exporter.devPath=" + place.dev_path});
  EXPECT_THAT(text, HasSubstr("{name: dev, mountPath: /dev, readOnly: true}"));
  return {.driver_source = found_in(text, R"(- name: driver\n +hostPath: \{path: ([^,]+),)"),
          .driver_target = found_in(text, R"(\{name: driver, mountPath: ([^,]+), readOnly: true, )"
                                          R"(mountPropagation: HostToContainer\})"),
          .flag = found_in(text, R"(- (--gpu\.driver-root=\S+))"),
          .dev_source = found_in(text, R"(- name: dev\n +hostPath: \{path: ([^,]+),)")};
}

// A node of that platform: the library, under the version's name and by a link, and its devices.
void make_node(const fs::path& node, const DriverPlace& place) {
  const fs::path folder = node / place.folder.substr(1);
  fs::create_directories(folder);
  fs::copy_file(fake_nvml::FakeNvml::library(), folder / "libnvidia-ml.so.550.54.15");
  fs::create_symlink("libnvidia-ml.so.550.54.15", folder / "libnvidia-ml.so.1");
  const fs::path dev = node / place.dev_path.substr(1);
  fs::create_directories(dev);
  for (const char* name : {"null", "nvidiactl"}) std::ofstream(dev / name) << "";
}

class DriverOfPlatform : public ::testing::TestWithParam<DriverPlace> {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(why_no_root());
    GPUWARD_REQUIRE(manifests::why_no_helm());
  }
};

TEST_P(DriverOfPlatform, IsReadInTheImageWithTheDocumentedValues) {
  const PodParts pod = rendered_for(GetParam());
  ASSERT_FALSE(HasFailure());
  const support::TempDir node;
  make_node(node.path(), GetParam());
  const RootFs root("exporter");
  fs::create_directories(root.path() / pod.driver_target.substr(1));
  fs::copy(GPUWARD_SOURCE_DIR "/tests/testdata/invented/nvml", root.path() / "tmp/nvml");
  std::ofstream(root.path() / "tmp/kernel.log") << "";

  const std::string script =
      R"(mount --bind /dev/null "$1$2/null" && mount --rbind /proc "$0/proc" && )"
      R"(mount --rbind "$1$2" "$0/dev" && mount --rbind "$1$3" "$0$4" && test -e "$0/dev/nvidiactl" && )"
      R"(shift 4 && exec chroot "$0" "$@")";
  const auto exporter =
      Process::spawn({.argv = {"unshare",
                               "--user",
                               "--map-root-user",
                               "--mount",
                               "--kill-child",
                               "--fork",
                               "sh",
                               "-c",
                               script,
                               root.path().string(),
                               node.path(),
                               pod.dev_source,
                               pod.driver_source,
                               pod.driver_target,
                               "/usr/bin/gpuward-exporter",
                               "--web.listen-address=127.0.0.1:0",
                               "--kernel-log.path=/tmp/kernel.log",
                               "--state.path=/tmp/state",
                               "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                               pod.flag},
                      .env = {{"GPUWARD_FAKE_NVML", "/tmp/nvml/healthy_8x_h100.conf"}}});

  ASSERT_TRUE(exporter) << exporter.error().message;
  EXPECT_TRUE(support::wait_until(
      [&] {
        return support::metrics_page_of(**exporter)
            .contains("gpuward_gpu_library_state{vendor=\"nvidia\",state=\"ready\"} 1");
      },
      "the GPUs of the driver"))
      << (*exporter)->error_output();
  EXPECT_THAT((*exporter)->error_output(), HasSubstr("libraries=\"" + pod.driver_target + "/"));
}

#ifdef __x86_64__  // the table has the folders of this processor
INSTANTIATE_TEST_SUITE_P(Documented, DriverOfPlatform,
                         ::testing::ValuesIn(support::driver_places()),
                         [](const auto& row) { return "Row" + std::to_string(row.index + 1); });
#endif
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DriverOfPlatform);

}  // namespace
}  // namespace gpuward::image
