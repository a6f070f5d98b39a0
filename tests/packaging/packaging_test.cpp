// The Debian packages: their files, that their units are valid and hardened, and that they install,
// run and uninstall, in their own root: nothing on this machine changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "core/runtime/files.h"
#include "tests/places.inc"
#include "tests/support/process.h"
#include "tests/support/require.h"
#include "tests/support/serving_exporter.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::packaging {
namespace {

namespace fs = std::filesystem;
using support::Process;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kUnit = "/lib/systemd/system/gpuward-exporter.service";
constexpr const char* kRemediatorUnit = "/lib/systemd/system/gpuward-remediator.service";

std::string output_of(std::vector<std::string> argv) {
  const auto outcome = Process::run({.argv = argv});
  if (!outcome) {
    ADD_FAILURE() << outcome.error().message;
    return {};
  }
  EXPECT_EQ(outcome->exit_code, 0) << argv[0] << ": " << outcome->output << outcome->error_output;
  return outcome->output + outcome->error_output;
}

// Made once for all tests, from the programs of this build.
class Package : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<support::TempDir>();
    const fs::path build = fs::path(GPUWARD_BIN_DIR).parent_path();
    output_of({"cpack", "--config", (build / "CPackConfig.cmake").string(), "-B",
               folder_->path().string()});
    for (const auto& entry : fs::directory_iterator(folder_->path())) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".deb")) continue;
      if (name.starts_with("gpuward-exporter_")) file_ = entry.path().string();
      if (name.starts_with("gpuward-remediator_")) remediator_ = entry.path().string();
      if (name.starts_with("gpuwardctl_")) ctl_ = entry.path().string();
    }
  }
  static void TearDownTestSuite() { folder_.reset(); }
  void SetUp() override {
    GPUWARD_REQUIRE(support::why_no_program("cpack"));
    GPUWARD_REQUIRE(support::why_no_program("dpkg"));
    ASSERT_FALSE(file_.empty() || remediator_.empty() || ctl_.empty());
  }

  static std::unique_ptr<support::TempDir> folder_;
  static std::string file_, remediator_, ctl_;  // of the exporter, of the remediator, for operators
};

std::unique_ptr<support::TempDir> Package::folder_;
std::string Package::file_, Package::remediator_, Package::ctl_;

// A root with an empty database of packages.
class Machine {
 public:
  Machine() {
    fs::create_directories(root() / "var/lib/dpkg/updates");
    fs::create_directories(root() / "var/lib/dpkg/info");
    std::ofstream(root() / "var/lib/dpkg/status").flush();
  }
  // Its scripts run with DPKG_ROOT; the package's dependencies are this machine's.
  void dpkg(const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"dpkg",
                                     "--root=" + root().string(),
                                     "--log=" + (root() / "dpkg.log").string(),
                                     "--force-depends",
                                     "--force-script-chrootless",
                                     "--force-not-root",
                                     "--force-bad-path"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    output_of(std::move(argv));
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }
  [[nodiscard]] fs::path at(const std::string& path) const { return root() / path.substr(1); }
  [[nodiscard]] std::string text(const std::string& path) const {
    return read_file(at(path)).value_or("");
  }

 private:
  support::TempDir folder_;
};

// The command of the unit, in this root.
std::vector<std::string> command_of_unit(const Machine& machine) {
  static const std::regex kCommand("\nExecStart=(.*)\n");
  const std::string unit = machine.text(kUnit);
  std::smatch found;
  EXPECT_TRUE(std::regex_search(unit, found, kCommand));
  std::vector<std::string> out;
  std::istringstream words(found[1].str());
  for (std::string word; words >> word;) {
    if (word == "$ARGS") continue;
    const auto path = word.find('/');
    out.push_back(word.substr(0, path) + machine.at(word.substr(path)).string());
  }
  return out;
}

TEST_F(Package, DependsOnTheLibrariesThatItsProgramsLoad) {
  const std::string fields = output_of({"dpkg-deb", "--info", file_});
  EXPECT_THAT(fields, AllOf(HasSubstr("Version: " GPUWARD_VERSION "\n"), HasSubstr("libc6 (>= "),
                            HasSubstr("libssl3 (>= "), HasSubstr("libyaml-cpp0.7")));
}

TEST_F(Package, CarriesItsLicenceWhereDebianLooksForIt) {
  const Machine machine;
  machine.dpkg({"--install", file_});
  machine.dpkg({"--install", remediator_});
  for (const std::string package : {"gpuward-exporter", "gpuward-remediator"}) {
    EXPECT_THAT(machine.text("/usr/share/doc/" + package + "/copyright"),
                AllOf(HasSubstr("License: Apache-2.0\n"), HasSubstr("== civetweb ==")));
  }
}

TEST_F(Package, InstallsRunsAndGoesAgain) {
  const Machine machine;
  machine.dpkg({"--install", file_});
  std::ofstream(machine.root() / "kernel.log") << "";
  std::vector<std::string> command = command_of_unit(machine);
  for (const std::string& flag :
       {std::string("--web.listen-address=127.0.0.1:0"), std::string("--gpu.none"),
        "--kernel-log.path=" + (machine.root() / "kernel.log").string(),
        "--state.path=" + (machine.root() / "var/lib/gpuward").string()})
    command.push_back(flag);
  auto exporter = Process::spawn({.argv = command});
  ASSERT_TRUE(exporter) << exporter.error().message;
  EXPECT_TRUE(support::wait_until(
      [&] {
        return support::metrics_page_of(**exporter).find("gpuward_kernel_log_up 1") !=
               std::string::npos;
      },
      "the kernel log is read"))
      << (*exporter)->error_output();
  EXPECT_EQ((*exporter)->stop(), 0);

  machine.dpkg({"--remove", "gpuward-exporter"});
  EXPECT_FALSE(fs::exists(machine.at("/usr/bin/gpuward-exporter")));
  EXPECT_FALSE(fs::exists(machine.at(kUnit)));
  // The administrator's files, and the exporter's findings, stay until a purge.
  EXPECT_TRUE(fs::exists(machine.at("/etc/gpuward/exporter.yaml")));
  EXPECT_TRUE(fs::exists(machine.at("/var/lib/gpuward")));
  machine.dpkg({"--purge", "gpuward-exporter"});
  EXPECT_FALSE(fs::exists(machine.at("/etc/gpuward/exporter.yaml")));
  EXPECT_FALSE(fs::exists(machine.at("/var/lib/gpuward")));
}

TEST_F(Package, KeepsWhatAnAdministratorHasWrittenWhenItIsInstalledAgain) {
  const Machine machine;
  machine.dpkg({"--install", file_});
  std::ofstream(machine.at("/etc/gpuward/exporter.yaml")) << "profile: seed\n";
  machine.dpkg({"--force-confold", "--install", file_});
  EXPECT_EQ(machine.text("/etc/gpuward/exporter.yaml"), "profile: seed\n");
}

// Requires an exposure of at most `exposure` of 100 by systemd-analyze; lower is stricter.
void expect_tight(const Machine& machine, const std::string& package, int exposure) {
  // Its program is in the root; all other files are this machine's.
  const std::string program = "/usr/bin/" + package;
  std::string text = machine.text("/lib/systemd/system/" + package + ".service");
  const auto named = text.find(program + " ");
  ASSERT_NE(named, std::string::npos);
  text.replace(named, program.size(), machine.at(program).string());
  const support::TempDir units;
  const std::string unit = units.write(package + ".service", text).string();
  EXPECT_THAT(output_of({"systemd-analyze", "verify", unit}),
              Not(HasSubstr(package + ".service:")));
  output_of({"systemd-analyze", "security", "--offline=true",
             "--threshold=" + std::to_string(exposure), unit});
}

TEST_F(Package, HasAUnitThatSystemdTakes) {
  GPUWARD_REQUIRE(support::why_no_program("systemd-analyze"));
  const Machine machine;
  machine.dpkg({"--install", file_});
  machine.dpkg({"--install", remediator_});
  expect_tight(machine, "gpuward-exporter", 30);
  expect_tight(machine, "gpuward-remediator", 15);
}

TEST_F(Package, OfTheRemediatorObservesAndWaitsForItsKubeconfig) {
  const Machine machine;
  machine.dpkg({"--install", remediator_});
  const std::string unit = machine.text(kRemediatorUnit);
  EXPECT_THAT(unit, HasSubstr("\nConditionPathExists=/etc/gpuward/kubeconfig\n"));
  EXPECT_THAT(unit, HasSubstr(" --kubeconfig=${CREDENTIALS_DIRECTORY}/kubeconfig "));
  const std::string checked = output_of(
      {machine.at("/usr/bin/gpuward-remediator").string(), "--check-config", "--web.insecure",
       "--config.file=" + machine.at("/etc/gpuward/policy.yaml").string()});
  EXPECT_THAT(checked, HasSubstr("Mode: observe"));
  const std::string fields = output_of({"dpkg-deb", "--info", remediator_});
  EXPECT_THAT(fields, AllOf(HasSubstr("Package: gpuward-remediator\n"), HasSubstr("libc6 (>= ")));

  machine.dpkg({"--purge", "gpuward-remediator"});
  EXPECT_FALSE(fs::exists(machine.at("/etc/gpuward/policy.yaml")));
  EXPECT_FALSE(fs::exists(machine.at("/usr/bin/gpuward-remediator")));
}

// Names below /usr, without folders.
std::vector<std::string> files_of(const Machine& machine) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(machine.at("/usr"))) {
    if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(machine.root()));
  }
  return names;
}

TEST_F(Package, ForPeopleHasTheProgramItsNameForKubectlAndItsCompletions) {
  const Machine machine;
  machine.dpkg({"--install", ctl_});

  EXPECT_THAT(files_of(machine),
              UnorderedElementsAre("usr/bin/gpuwardctl", "usr/bin/kubectl-gpuward",
                                   "usr/bin/kubectl_complete-gpuward",
                                   "usr/share/bash-completion/completions/gpuwardctl",
                                   "usr/share/doc/gpuwardctl/copyright",
                                   "usr/share/fish/vendor_completions.d/gpuwardctl.fish",
                                   "usr/share/gpuwardctl/completion.zsh"));
  EXPECT_FALSE(fs::exists(machine.at("/etc/gpuward")));
  EXPECT_EQ(fs::read_symlink(machine.at("/usr/bin/kubectl-gpuward")), "gpuwardctl");
  EXPECT_EQ(output_of({machine.at("/usr/bin/kubectl-gpuward").string(), "version"}),
            "gpuwardctl " GPUWARD_VERSION "\n");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string path = shell == "bash" ? "/usr/share/bash-completion/completions/gpuwardctl"
                             : shell == "zsh"
                                 ? "/usr/share/gpuwardctl/completion.zsh"
                                 : "/usr/share/fish/vendor_completions.d/gpuwardctl.fish";
    EXPECT_EQ(machine.text(path),
              output_of({machine.at("/usr/bin/gpuwardctl").string(), "completion", shell}));
  }

  machine.dpkg({"--remove", "gpuwardctl"});
  EXPECT_FALSE(fs::exists(machine.at("/usr/bin/kubectl-gpuward")));
}

TEST_F(Package, HasAConfigurationThatTheExporterReads) {
  const Machine machine;
  machine.dpkg({"--install", file_});
  output_of({machine.at("/usr/bin/gpuward-exporter").string(), "--check-config",
             "--config.file=" + machine.at("/etc/gpuward/exporter.yaml").string()});
}

}  // namespace
}  // namespace gpuward::packaging
