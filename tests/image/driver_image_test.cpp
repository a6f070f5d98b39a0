// The exporter's image on the platforms of docs/install.md: a root file system with the driver's
// library at the platform's path, mounted as the chart renders it with the documented values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string_view>

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

// The parts of its node that the chart's pod gets.
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

// A node of that platform: the library under its versioned name and by a link, and its devices.
void make_node(const fs::path& node, const DriverPlace& place) {
  const fs::path folder = node / place.folder.substr(1);
  fs::create_directories(folder);
  fs::copy_file(fake_nvml::FakeNvml::library(), folder / "libnvidia-ml.so.550.54.15");
  fs::create_symlink("libnvidia-ml.so.550.54.15", folder / "libnvidia-ml.so.1");
  const fs::path dev = node / place.dev_path.substr(1);
  fs::create_directories(dev);
  for (const char* name : {"null", "nvidiactl"}) std::ofstream(dev / name) << "";
}

// The container: the image, with the node's parts mounted as the runtime does it. $0 is the root,
// then the node, the source of /dev, source and target of the driver, and the command.
constexpr std::string_view kContainer =
    R"(mount --bind /dev/null "$1$2/null" && mount --rbind /proc "$0/proc" && )"
    R"(mount --rbind "$1$2" "$0/dev" && mount --rbind "$1$3" "$0$4" && )"
    R"(test -e "$0/dev/nvidiactl" && shift 4 && exec chroot "$0" "$@")";

class Driver : public ::testing::Test {
 protected:
  void SetUp() override {
    GPUWARD_REQUIRE(why_no_root());
    GPUWARD_REQUIRE(manifests::why_no_helm());
  }
  // `before`: shell lines that run on the node.
  void start(const DriverPlace& place, const std::string& before = {},
             const std::string& propagation = "private") {
    pod_ = rendered_for(place);
    ASSERT_FALSE(HasFailure());
    fs::create_directories(root_.path() / pod_.driver_target.substr(1));
    fs::copy(GPUWARD_SOURCE_DIR "/tests/testdata/invented/nvml", root_.path() / "tmp/nvml");
    std::ofstream(root_.path() / "tmp/kernel.log") << "";
    std::ofstream(root_.path() / "tmp/config.yaml") << "gpu: {interval: 1s}\n";
    const std::string script = before + "exec unshare --mount --propagation=" + propagation +
                               " sh -c '" + std::string(kContainer) + R"(' "$0" "$@")";
    auto spawned =
        Process::spawn({.argv = {"unshare",
                                 "--user",
                                 "--map-root-user",
                                 "--mount",
                                 "--kill-child",
                                 "--fork",
                                 "sh",
                                 "-c",
                                 script,
                                 root_.path().string(),
                                 node_.path().string(),
                                 pod_.dev_source,
                                 pod_.driver_source,
                                 pod_.driver_target,
                                 "/usr/bin/gpuward-exporter",
                                 "--web.listen-address=127.0.0.1:0",
                                 "--config.file=/tmp/config.yaml",
                                 "--kernel-log.path=/tmp/kernel.log",
                                 "--state.path=/tmp/state",
                                 "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                                 pod_.flag},
                        .env = {{"GPUWARD_FAKE_NVML", "/tmp/nvml/healthy_8x_h100.conf"}}});
    ASSERT_TRUE(spawned) << spawned.error().message;
    exporter_ = *std::move(spawned);
  }
  void expect_gpus() {
    EXPECT_TRUE(support::wait_until(
        [&] {
          return support::metrics_page_of(*exporter_)
              .contains("gpuward_gpu_library_state{vendor=\"nvidia\",state=\"ready\"} 1");
        },
        "the GPUs of the driver"))
        << exporter_->error_output();
    EXPECT_THAT(exporter_->error_output(), HasSubstr("libraries=\"" + pod_.driver_target + "/"));
  }

  const support::TempDir node_;
  const RootFs root_{"exporter"};
  PodParts pod_;
  std::unique_ptr<Process> exporter_;
};

class DriverOfPlatform : public Driver, public ::testing::WithParamInterface<DriverPlace> {};

TEST_P(DriverOfPlatform, IsReadInTheImageWithTheDocumentedValues) {
  make_node(node_.path(), GetParam());

  start(GetParam());

  expect_gpus();
}

// The driver container mounts its root when the driver is loaded, long after the exporter's start.
TEST_F(Driver, IsReadWhenItsContainerMountsItLater) {
  const DriverPlace place{"a driver container", "/run/nvidia/driver/usr/lib64",
                          "/run/nvidia/driver", "/dev"};
  fs::create_directories(node_.path() / "run/nvidia/driver");
  const fs::path container = node_.path() / "container";
  make_node(container, {"", "/usr/lib64", "/", "/dev"});
  make_node(node_.path(), {"", "/elsewhere", "/", "/dev"});
  const fs::path loaded = node_.path() / "loaded";
  ASSERT_EQ(::mkfifo(loaded.c_str(), 0600), 0);
  start(place,
        R"(mount --bind "$1" "$1"; mount --make-shared "$1"; )"
        R"({ timeout 300 cat "$1/loaded" >/dev/null; )"
        R"(mount --bind "$1/container" "$1/run/nvidia/driver"; } & )",
        "slave");
  ASSERT_TRUE(support::wait_until(
      [&] { return exporter_->error_output().contains("No GPU library found"); }, "an answer"))
      << exporter_->error_output();

  std::ofstream(loaded) << "\n";

  expect_gpus();
}

#ifdef __x86_64__  // the table has the folders of this processor
INSTANTIATE_TEST_SUITE_P(Documented, DriverOfPlatform,
                         ::testing::ValuesIn(support::driver_places()),
                         [](const auto& row) { return "Row" + std::to_string(row.index + 1); });
#endif
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DriverOfPlatform);

}  // namespace
}  // namespace gpuward::image
