// The lines of a shell in the Jobs of the step gpu-reset, with the real gpuward-exporter and fakes
// of the vendors' tools and of the kernel's files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/places.inc"
#include "tests/unit/exporter/running_exporter.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// A driver with two GPUs: persistence mode is an attachment to a GPU, so that a reset is refused.
// A file for each GPU has its mode; another has the calls.
constexpr const char* kDriver = R"(cd ${0%/*}
case "$*" in
"--query-gpu=pci.bus_id,persistence_mode --format=csv,noheader")
  for gpu in 1A 1B; do echo "00000000:$gpu:00.0, `cat mode-$gpu`"; done;;
"-i 00000000:1A:00.0 -pm 0") echo $* >> calls; echo Disabled > mode-1A;;
"-i 00000000:1A:00.0 -pm 1") echo $* >> calls; echo Enabled > mode-1A;;
"-pm 0") echo $* >> calls; echo Disabled | tee mode-1A > mode-1B;;
"-pm 1") echo $* >> calls; echo Enabled | tee mode-1A > mode-1B;;
--gpu-reset)
  echo $* >> calls
  [ `cat mode-1A mode-1B | grep -c Enabled` = 0 ] || { echo 'GPU 1A: In use by another client'; exit 255; }
  RESET;;
*) echo "unexpected $*"; exit 2;;
esac)";

class GpuResetJob : public testing::Test {
 protected:
  // Not the real one: it would clear what is held against this machine.
  void stand_in_for_exporter(const std::string& commands) {
    fs::permissions(
        folder_.write(
            "gpuward-exporter",
            "#!/bin/sh\n[ \"$1 $2\" != 'gpu-release --' ] || { shift 2; exec \"$@\"; }\n" +
                commands),
        fs::perms::owner_all);
  }
  support::Process::Outcome run_with_driver(const std::string& reset,
                                            const std::string& other_mode = "Disabled") {
    folder_.write("mode-1A", "Enabled\n");
    folder_.write("mode-1B", other_mode + "\n");
    std::string driver = kDriver;
    replace_all(driver, "RESET", reset);
    stand_in_for_exporter("cd ${0%/*}; " + stand_in_);
    return run(driver);
  }
  std::string mode_of(const std::string& gpu) {
    return read_file(folder_ / ("mode-" + gpu)).value_or("");
  }
  support::Process::Outcome run(const std::string& nvidia_smi) {
    fs::permissions(folder_.write("nvidia-smi", "#!/bin/sh\n" + nvidia_smi + "\n"),
                    fs::perms::owner_all);
    const fs::path job = fs::path(GPUWARD_SOURCE_DIR) / "manifests/remediator-job-gpu-reset.json";
    const auto json = parse_json(read_file(job).value_or(""));
    EXPECT_TRUE(json);
    if (!json) return {};
    std::vector<std::string> argv = (*json)["spec"]["template"]["spec"]["containers"][0]["command"];
    replace_all(argv.back(), "timeout --foreground 5 tail -f /dev/null", "true");
    replace_all(argv.back(), "/proc/1/root", (folder_ / "host").string());
    replace_all(argv.back(), " /run/nvidia-persistenced",
                " " + (folder_ / "persistenced").string());
    const std::string path =
        folder_.path().string() + ":" + exporter_binary().parent_path().string() + ":/usr/bin:/bin";
    argv.insert(argv.begin(), "/usr/bin/env");  // looks on that PATH
    auto outcome = support::Process::run({.argv = std::move(argv), .env = {{"PATH", path}}});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{});
  }
  std::string stand_in_ = "exit 0";  // the shell lines of the stand-in
  support::TempDir folder_;
};

TEST_F(GpuResetJob, NamesWhoHasAGpuOpenIfTheResetIsRefused) {
  fs::create_directory(folder_ / "dev");
  // Only a user who may make devices can make one of that name; a file is none.
  const std::string path = folder_ / "dev/nvidia0";
  const bool is_device = ::mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0;
  int device = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
  const bool is_open = is_device && device >= 0;
  if (device < 0) {  // a file system without devices
    fs::remove(path);
    device = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
  }
  ASSERT_GE(device, 0);

  const auto outcome = run("echo 'GPU 00000000:F9:00.0: In use by another client'; exit 255");

  ::close(device);
  EXPECT_EQ(outcome.exit_code, 255) << "as nvidia-smi has ended";
  const std::string user =
      is_open ? "(pid " + std::to_string(::getpid()) + ": nvidia0" : "no process has a GPU open";
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("In use by another client"), HasSubstr(user)));
}

TEST_F(GpuResetJob, ClearsFindingsIfTheGpusAreResetAndAsksForNobody) {
  for (const char* clears : {"exit 0", "exit 3"}) {
    stand_in_for_exporter("echo called \"$@\"\n" + std::string(clears));

    const auto outcome = run("echo 'All done.'");

    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.output, "called findings clear --after-gpu-reset\nAll done.\n") << clears;
  }
}

TEST_F(GpuResetJob, TurnsPersistenceModeOffForTheResetAndOnAgain) {
  for (const auto& [reset, code] : {std::pair("echo 'All done.'", 0), std::pair("exit 3", 3)}) {
    fs::remove(folder_ / "calls");
    const auto outcome = run_with_driver(reset);
    EXPECT_EQ(outcome.exit_code, code) << outcome.output;
    EXPECT_EQ(read_file(folder_ / "calls").value_or(""),
              "-i 00000000:1A:00.0 -pm 0\n--gpu-reset\n-i 00000000:1A:00.0 -pm 1\n");
    EXPECT_EQ(mode_of("1A"), "Enabled\n");
    EXPECT_EQ(mode_of("1B"), "Disabled\n");
  }
}

// One call for all: with persistence mode off, each call initialises the GPUs.
TEST_F(GpuResetJob, TurnsPersistenceModeOfAllGpusOffAtOnce) {
  const auto outcome = run_with_driver("echo 'All done.'", "Enabled");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(read_file(folder_ / "calls").value_or(""), "-pm 0\n--gpu-reset\n-pm 1\n");
  EXPECT_EQ(mode_of("1A") + mode_of("1B"), "Enabled\nEnabled\n");
}

// Such as gpu-feature-discovery, which asks the driver once a minute.
TEST_F(GpuResetJob, WaitsUntilNoProcessHasAGpuOpen) {
  stand_in_ = "[ $1 = gpu-users ] || exit 0; echo x >> looks; [ `cat looks | grep -c x` -gt 3 ]";
  const auto outcome = run_with_driver("echo x >> resets; echo 'All done.'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(read_file(folder_ / "looks").value_or(""), "x\nx\nx\nx\n");
  EXPECT_EQ(read_file(folder_ / "resets").value_or(""), "x\n");
}

TEST_F(GpuResetJob, TriesOnceMoreIfTheUserOfAGpuIsGone) {
  const auto outcome = run_with_driver(
      "echo x >> resets; [ `cat resets | grep -c x` = 2 ] || { echo 'In use by another client'; "
      "exit "
      "255; }; echo 'All done.'");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
}

TEST_F(GpuResetJob, TriesTwiceAtMost) {
  const auto outcome =
      run_with_driver("echo x >> resets; echo 'In use by another client'; exit 255");
  EXPECT_EQ(outcome.exit_code, 255);
  EXPECT_EQ(read_file(folder_ / "resets").value_or(""), "x\nx\n");
}

TEST_F(GpuResetJob, DoesNotTryAgainWhileAProcessHasAGpuOpen) {
  stand_in_ = "[ $1 = findings ]";
  const auto outcome =
      run_with_driver("echo x >> resets; echo 'In use by another client'; exit 255");
  EXPECT_EQ(outcome.exit_code, 255);
  EXPECT_EQ(read_file(folder_ / "resets").value_or(""), "x\n");
}

TEST_F(GpuResetJob, SaysWhatIsKnownOfPersistenceModeIfTheResetFails) {
  const auto outcome = run_with_driver("echo 'Unable to reset'; exit 3", "[N/A]");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.output, HasSubstr("00000000:1A:00.0, Enabled"));
  EXPECT_EQ(read_file(folder_ / "calls").value_or(""),
            "-i 00000000:1A:00.0 -pm 0\n--gpu-reset\n-i 00000000:1A:00.0 -pm 1\n");
}

TEST_F(GpuResetJob, TriesNothingElseAgain) {
  const auto outcome = run_with_driver("echo x >> resets; echo 'Unable to reset GPU'; exit 3");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(read_file(folder_ / "resets").value_or(""), "x\n");
}

TEST_F(GpuResetJob, TurnsPersistenceModeOnAgainIfItIsEnded) {
  run_with_driver("kill $PPID; sleep 1; echo 'All done.'");
  EXPECT_EQ(mode_of("1A"), "Enabled\n");
}

// The daemon holds the GPUs until nvidia-smi tells it otherwise by its socket, on the machine or in
// the driver container of the GPU operator.
TEST_F(GpuResetJob, FindsTheSocketOfThePersistenceDaemon) {
  stand_in_for_exporter("exit 0");
  for (const char* place :
       {"run/nvidia-persistenced", "run/nvidia/driver/run/nvidia-persistenced"}) {
    fs::remove_all(folder_ / "host");
    fs::remove(folder_ / "persistenced");
    fs::create_directories(folder_ / "host" / place);
    folder_.write("host/" + std::string(place) + "/socket", "");
    run("echo 'All done.'");
    EXPECT_TRUE(fs::exists(folder_ / "persistenced/socket")) << place;
  }
}

// AMD's Job with the /sys of the test, and tools that are found before the machine's own.
class AmdGpuResetJob : public testing::Test {
 protected:
  void SetUp() override {
    // All that the exporter's image has of what the lines could call (manifests/image/rootfs).
    fs::create_symlink("/bin/cat", folder_ / "cat");
    add_tool("gpuward-exporter",
             "[ \"$1 $2\" != 'gpu-release --' ] || { shift 2; exec \"$@\"; }\n"
             "echo called \"$@\" >> " +
                 (folder_ / "calls").string() + "; cat " + (folder_ / "users").string() +
                 " 2>/dev/null && exit 1; exit 0");
    add_card(0, "0x1a03");  // the board's own graphics
    add_card(1, "0x1002");
    add_card(2, "0x1002");
    fs::create_directories(folder_ / "sys/class/drm/card1-VGA-1");
  }
  void add_tool(const std::string& name, const std::string& script) {
    fs::permissions(folder_.write(name, "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
  }
  void add_card(int number, const std::string& vendor) {
    write("sys/class/drm/card" + std::to_string(number) + "/device/vendor", vendor);
  }
  void set_hive(int number, const std::string& hive) {
    write("sys/class/drm/card" + std::to_string(number) + "/device/xgmi_hive_info/xgmi_hive_id",
          hive);
  }
  // What the kernel answers to whoever reads the file, which resets the GPU.
  void set_recover(int number, const std::string& result) {
    write("sys/kernel/debug/dri/" + std::to_string(number) + "/amdgpu_gpu_recover", result);
  }
  void write(const std::string& path, const std::string& line) {
    fs::create_directories((folder_ / path).parent_path());
    folder_.write(path, line + "\n");
  }
  support::Process::Outcome run() {
    const fs::path job =
        fs::path(GPUWARD_SOURCE_DIR) / "manifests/remediator-job-gpu-reset-amd.json";
    const auto json = parse_json(read_file(job).value_or(""));
    EXPECT_TRUE(json);
    if (!json) return {};
    std::vector<std::string> argv = (*json)["spec"]["template"]["spec"]["containers"][0]["command"];
    std::string& script = argv.back();
    for (auto at = script.find("/sys/"); at != std::string::npos;
         at = script.find("/sys/", at + folder_.path().string().size() + 1))
      script.insert(at, folder_.path().string());
    argv.insert(argv.begin(), "/usr/bin/env");  // looks on that PATH
    auto outcome = support::Process::run(
        {.argv = std::move(argv), .env = {{"PATH", folder_.path().string()}}});
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome.value_or(support::Process::Outcome{});
  }
  support::TempDir folder_;
};

TEST_F(AmdGpuResetJob, ResetsAllByAmdSmi) {
  add_tool("amd-smi", "echo \"$@\"; echo GPU_RESET: Successfully reset GPU");
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "reset --gpureset --gpu all\nGPU_RESET: Successfully reset GPU\n");
  EXPECT_EQ(read_file(folder_ / "calls").value_or(""), "called gpu-users --require-none\n");
}

// amd-smi of ROCm 6 and 7 ends with 0 after a reset that has failed.
TEST_F(AmdGpuResetJob, ReadsWhatAmdSmiSaysAndNotItsExitCodeAlone) {
  for (const char* said :
       {"Successfully reset GPU\nGPU: 1\nFailed to reset GPU", "", "Unable to reset non-amd GPU"}) {
    add_tool("amd-smi", "echo '" + std::string(said) + "'");
    EXPECT_EQ(run().exit_code, 1) << said;
  }
  add_tool("amd-smi", "echo 'Command requires elevation'; exit 10");
  EXPECT_NE(run().exit_code, 0);
}

TEST_F(AmdGpuResetJob, ResetsEachGpuByRocmSmiIfThatIsAllThereIs) {
  add_tool("rocm-smi", "echo \"$@: Successfully reset GPU\"");
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("--gpureset -d 0"), HasSubstr("--gpureset -d 1"),
                                    testing::Not(HasSubstr("-d 2"))));
  add_tool("rocm-smi", "echo \"$@\"; [ $3 = 1 ] || echo Successfully reset GPU");
  EXPECT_NE(run().exit_code, 0) << "of two GPUs one has failed";
  // As Debian's rocm-smi 5.2 does without the driver.
  add_tool("rocm-smi", "echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)'");
  EXPECT_EQ(run().exit_code, 1);
}

// The driver's file, which both tools read, says more than they do: its value is the result.
TEST_F(AmdGpuResetJob, AsksTheDriverIfTheImageHasNoTool) {
  set_recover(1, "0");
  set_recover(2, "0");
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "card1: 0\ncard2: 0\n\n");
  set_recover(2, "-62");
  EXPECT_EQ(run().exit_code, 1);
}

// The driver resets a hive as one.
TEST_F(AmdGpuResetJob, ResetsEachHiveOnce) {
  set_recover(1, "0");
  set_hive(1, "1234");
  set_hive(2, "1234");
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "card1: 0\n\n");
}

TEST_F(AmdGpuResetJob, SaysWhyTheDriverCannot) {
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.output, HasSubstr("amdgpu_gpu_recover"));
}

// Unlike nvidia-smi, AMD's tools ask nobody whether a GPU is in use.
TEST_F(AmdGpuResetJob, ResetsNothingWhileAProcessHasAGpuOpen) {
  folder_.write("users", "the GPUs are open in python (pid 7: kfd)\n");
  add_tool("amd-smi", ": > " + (folder_ / "was_reset").string());
  const auto outcome = run();
  EXPECT_EQ(outcome.exit_code, 16);
  EXPECT_EQ(outcome.output,
            "in use by another process: the GPUs are open in python (pid 7: kfd)\n");
  EXPECT_FALSE(fs::exists(folder_ / "was_reset"));
}

TEST_F(AmdGpuResetJob, ResetsNothingIfThereIsNoGpuOfAmd) {
  add_card(1, "0x10de");
  add_card(2, "0x10de");
  add_tool("amd-smi", "echo Successfully reset GPU");
  EXPECT_EQ(run().exit_code, 1);
}

}  // namespace
}  // namespace gpuward::exporter
