// A reset of the GPUs with fakes of the kernel's files and of the vendors' programs, which refuse
// as the real ones do.
#include "exporter/commands/gpu_reset.h"

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "core/runtime/files.h"
#include "exporter/config/exit_code.h"
#include "tests/support/environment.h"
#include "tests/support/host_tree.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The machine's clock, on which a sleep takes no time.
class QuickClock final : public Clock {
 public:
  [[nodiscard]] Wall wall() const override { return system_.wall() + slept_; }
  [[nodiscard]] Steady steady() const override { return system_.steady() + slept_; }
  bool sleep_until(Steady deadline, std::stop_token stop) override {
    slept_ += std::max(deadline - steady(), Steady::duration{0});
    ++sleeps;
    on_sleep();
    return !stop.stop_requested();
  }
  int sleeps = 0;
  std::function<void()> on_sleep = [] {};

 private:
  SystemClock system_;
  Steady::duration slept_{0};
};

class GpuResets : public testing::Test {
 protected:
  void add_program(const std::string& name, const std::string& script) {
    fs::permissions(folder_.write(name, "#!/bin/sh\n" + script + "\n"), fs::perms::owner_all);
  }
  GpuResetTools tools() {
    return {node_.paths(), clock_, clock_.steady() + seconds(500), stop_.get_token()};
  }
  std::string text_of(const std::string& name) { return read_file(folder_ / name).value_or(""); }
  void open_a_gpu(const std::string& device) {
    node_.with_process(99, "python").with_open_file(99, device);
  }

  support::TempDir folder_;
  support::HostTree node_;
  QuickClock clock_;
  std::stop_source stop_;
};

// A driver with two GPUs. Persistence mode is an attachment to a GPU, so that a reset is refused. A
// file for each GPU has its mode; another has the calls.
class NvidiaReset : public GpuResets {
 protected:
  // `reset` is the answer if nothing is attached.
  void add_driver(const std::string& reset, const std::string& other_mode = "Disabled") {
    folder_.write("mode-1A", "Enabled\n");
    folder_.write("mode-1B", other_mode + "\n");
    add_program("nvidia-smi", R"(cd ${0%/*}
set_mode() { case $1 in 0) echo Disabled;; 1) echo Enabled;; esac; }
case "$*" in
"--query-gpu=pci.bus_id,persistence_mode --format=csv,noheader")
  for gpu in 1A 1B; do echo "00000000:$gpu:00.0, `cat mode-$gpu`"; done;;
"-i 00000000:1A:00.0 -pm "[01]) echo $* >> calls; set_mode $4 > mode-1A;;
"-pm "[01]) echo $* >> calls; set_mode $2 | tee mode-1A > mode-1B;;
--gpu-reset)
  echo $* >> calls
  [ `cat mode-1A mode-1B | grep -c Enabled` = 0 ] || { echo 'GPU 1A: In use by another client'; exit 255; }
  )" + reset + R"(;;
*) echo "unexpected $*"; exit 2;;
esac)");
  }
  GpuReset reset() {
    const support::Environment path("PATH", folder_.path().string() + ":/usr/bin:/bin");
    return reset_nvidia_gpus(tools(), folder_ / "run");
  }
};

TEST_F(NvidiaReset, TurnsPersistenceModeOffForItAndOnAgain) {
  for (const auto& [script, code] : {std::pair("echo 'All done.'", 0), std::pair("exit 3", 3)}) {
    fs::remove(folder_ / "calls");
    add_driver(script);
    EXPECT_EQ(reset().exit_code, code);
    EXPECT_EQ(text_of("calls"),
              "-i 00000000:1A:00.0 -pm 0\n--gpu-reset\n-i 00000000:1A:00.0 -pm 1\n");
    EXPECT_EQ(text_of("mode-1A") + text_of("mode-1B"), "Enabled\nDisabled\n");
  }
}

// One call for all: with persistence mode off, each call initialises the GPUs.
TEST_F(NvidiaReset, TurnsPersistenceModeOfAllGpusOffAtOnce) {
  add_driver("echo 'All done.'", "Enabled");
  const GpuReset done = reset();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.words, "All done.\n");
  EXPECT_EQ(text_of("calls"), "-pm 0\n--gpu-reset\n-pm 1\n");
  EXPECT_EQ(text_of("mode-1A") + text_of("mode-1B"), "Enabled\nEnabled\n");
}

// For example gpu-feature-discovery, which calls the driver once a minute.
TEST_F(NvidiaReset, WaitsUntilNoProcessHasAGpuOpen) {
  add_driver("echo 'All done.'");
  open_a_gpu("/dev/nvidia0");
  clock_.on_sleep = [this] {
    EXPECT_THAT(text_of("calls"), Not(HasSubstr("--gpu-reset")));
    if (clock_.sleeps == 3) node_.remove("proc/99");
  };
  EXPECT_EQ(reset().exit_code, 0);
  EXPECT_EQ(clock_.sleeps, 3);
}

TEST_F(NvidiaReset, IsLeftToTheDriverIfAUserStays) {
  add_driver("echo x >> resets; echo 'In use by another client'; exit 255");
  open_a_gpu("/dev/nvidia0");
  const auto begin = clock_.steady();
  const GpuReset refused = reset();
  EXPECT_EQ(refused.exit_code, 255);
  EXPECT_THAT(refused.words,
              AllOf(HasSubstr("In use by another client"), HasSubstr("python (pid 99: nvidia0)")));
  EXPECT_EQ(text_of("resets"), "x\n") << "no second try while a process has a GPU open";
  EXPECT_LT(clock_.steady() - begin, seconds(150)) << "two waits of a minute";
}

TEST_F(NvidiaReset, IsTriedOnceMoreIfTheUserOfAGpuIsGone) {
  add_driver(
      "echo x >> resets; [ `cat resets | grep -c x` = 2 ] || { echo 'In use by another client'; "
      "exit 255; }; echo 'All done.'");
  EXPECT_EQ(reset().exit_code, 0);
}

TEST_F(NvidiaReset, IsTriedTwiceAtMost) {
  add_driver("echo x >> resets; echo 'In use by another client'; exit 255");
  EXPECT_EQ(reset().exit_code, 255);
  EXPECT_EQ(text_of("resets"), "x\nx\n");
}

// The container has no hostPID, but the driver knows.
TEST_F(NvidiaReset, DoesNotWaitIfItCannotTell) {
  add_driver("echo 'All done.'");
  node_.remove("proc/2");
  EXPECT_EQ(reset().exit_code, 0);
  EXPECT_EQ(clock_.sleeps, 0);
}

TEST_F(NvidiaReset, SaysWhatIsKnownOfPersistenceModeIfItFails) {
  add_driver("echo x >> resets; echo 'Unable to reset GPU' >&2; exit 3", "[N/A]");
  const GpuReset failed = reset();
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_THAT(failed.words,
              AllOf(HasSubstr("00000000:1A:00.0, Enabled"), HasSubstr("Unable to reset GPU\n")));
  EXPECT_EQ(text_of("resets"), "x\n") << "only a GPU in use is a reason for a second try";
}

TEST_F(NvidiaReset, TurnsPersistenceModeOnAgainIfItIsStopped) {
  add_driver("echo 'All done.'");
  open_a_gpu("/dev/nvidia0");
  clock_.on_sleep = [this] { stop_.request_stop(); };
  EXPECT_EQ(reset().exit_code, kFailed);
  EXPECT_EQ(text_of("mode-1A"), "Enabled\n");
  EXPECT_THAT(text_of("calls"), Not(HasSubstr("--gpu-reset")));
}

// The driver would have refused it, and the policy has a rule for a refused reset.
TEST_F(NvidiaReset, NamesTheUsersIfItIsStoppedBeforeItBegins) {
  add_driver("echo 'All done.'");
  open_a_gpu("/dev/nvidia0");
  clock_.on_sleep = [this] { stop_.request_stop(); };
  const GpuReset stopped = reset();
  EXPECT_THAT(stopped.words, AllOf(HasSubstr("in use by another process: the GPUs are open in "
                                             "python (pid 99: nvidia0)"),
                                   HasSubstr("stopped before the reset")));
  EXPECT_FALSE(stopped.ended);
}

TEST_F(NvidiaReset, EndsByItselfIfItHasBegunWhenAStopComes) {
  add_driver("touch begun; while [ ! -e go ]; do sleep 0.01; done; echo 'All done.'");
  const std::jthread stopper([this] {
    EXPECT_TRUE(support::wait_until([&] { return fs::exists(folder_ / "begun"); }, "the reset"));
    stop_.request_stop();
    folder_.write("go", "");
  });
  const GpuReset done = reset();
  EXPECT_EQ(done.exit_code, 0) << done.words;
  EXPECT_TRUE(done.ended);
  EXPECT_EQ(text_of("mode-1A"), "Enabled\n");
}

TEST_F(NvidiaReset, SaysThatThereIsNoProgram) {
  const support::Environment path("PATH", folder_.path().string());
  EXPECT_EQ(reset_nvidia_gpus(tools(), folder_ / "run").exit_code, 127);
}

// The daemons hold the GPUs, or train their links, until nvidia-smi tells them otherwise over their
// sockets, on the machine or in the driver container of the GPU operator.
TEST_F(NvidiaReset, FindsTheSocketsOfTheDaemons) {
  fs::create_directory(folder_ / "run");
  add_driver("ls run/*/socket");
  for (const char* place : {"run/", "run/nvidia/driver/run/"}) {
    for (const char* daemon : {"nvidia-persistenced", "nvidia-fabricmanager"})
      node_.write("proc/1/root/" + std::string(place) + daemon + "/socket", "");
    EXPECT_EQ(reset().words, "run/nvidia-fabricmanager/socket\nrun/nvidia-persistenced/socket\n");
    EXPECT_TRUE(fs::is_empty(folder_ / "run")) << "as it was";
    node_.remove("proc/1/root");
  }
}

// systemd does this: nvidia-dcgm.service stops the unit that requires it.
TEST_F(GpuResets, StopsUnitsThatRunAndStartsThemAgain) {
  for (const char* unit : {"nvidia-dcgm", "exporter", "stuck"})
    folder_.write(std::string(unit) + ".service", "");
  add_program("chroot", R"(cd ${0%/*}
root=$1; shift
[ "$root" = ")" + (node_.paths().proc / "1/root").string() +
                            R"(" ] || exit 125
[ "$1 $3 $4" = "systemctl --quiet --" ] || exit 125
case "$2 $5" in
is-active*) [ -e $5 ] || exit 3;;
"stop stuck.service") echo 'timed out' >&2; exit 1;;
"start stuck.service") echo 'it is masked' >&2; exit 1;;
"stop nvidia-dcgm.service") rm $5 exporter.service;;
stop*) rm -f $5;;
start*) touch $5;;
esac)");
  const support::Environment path("PATH", folder_.path().string() + ":/usr/bin:/bin");
  const GpuResetTools all = tools();
  PausedUnits paused(
      all, {"nvidia-dcgm.service", "exporter.service", "not-here.service", "stuck.service"});
  EXPECT_FALSE(fs::exists(folder_ / "nvidia-dcgm.service"));
  EXPECT_FALSE(fs::exists(folder_ / "exporter.service"));
  stop_.request_stop();
  EXPECT_EQ(paused.start_again(),
            "stopping stuck.service: timed out\nstarting stuck.service: it is masked\n");
  EXPECT_TRUE(fs::exists(folder_ / "nvidia-dcgm.service"));
  EXPECT_TRUE(fs::exists(folder_ / "exporter.service"));
  EXPECT_FALSE(fs::exists(folder_ / "not-here.service"));
}

TEST_F(NvidiaReset, IsNotBegunWithTooLittleTime) {
  add_driver("echo 'All done.'");
  const support::Environment path("PATH", folder_.path().string() + ":/usr/bin:/bin");
  const GpuResetTools late(node_.paths(), clock_, clock_.steady() + seconds(20), stop_.get_token());
  const GpuReset refused = reset_nvidia_gpus(late, folder_ / "run");
  EXPECT_EQ(refused.exit_code, kFailed);
  EXPECT_THAT(refused.words, HasSubstr("stopped before the reset"));
  EXPECT_THAT(text_of("calls"), Not(HasSubstr("--gpu-reset")));
  EXPECT_EQ(text_of("mode-1A"), "Enabled\n");
}

// AMD's programs and its driver also reset a GPU that is in use.
class AmdReset : public GpuResets {
 protected:
  void SetUp() override {
    fs::create_symlink("/bin/cat", folder_ / "cat");
    add_card(0, "0x1a03");  // the board's own graphics
    add_card(1, "0x1002");
    add_card(2, "0x1002");
    node_.write("sys/class/drm/card1-VGA-1/status", "connected\n");
  }
  void add_card(int number, const std::string& vendor) {
    node_.write("sys/class/drm/card" + std::to_string(number) + "/device/vendor", vendor + "\n");
  }
  void set_hive(int number, const std::string& hive) {
    node_.write(
        "sys/class/drm/card" + std::to_string(number) + "/device/xgmi_hive_info/xgmi_hive_id",
        hive + "\n");
  }
  // Sets the kernel's answer to a reader of the file, which resets the GPU.
  void set_recover(int number, const std::string& result) {
    node_.write("sys/kernel/debug/dri/" + std::to_string(number) + "/amdgpu_gpu_recover",
                result + "\n");
  }
  GpuReset reset() {
    const support::Environment path("PATH", folder_.path().string());
    return reset_amd_gpus(tools());
  }
};

TEST_F(AmdReset, IsOfAllByAmdSmi) {
  add_program("amd-smi", "echo \"$@\"; echo GPU_RESET: Successfully reset GPU");
  const GpuReset done = reset();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.words, "reset --gpureset --gpu all\nGPU_RESET: Successfully reset GPU\n");
}

// amd-smi of ROCm 6 and 7 ends with 0 after a reset that has failed.
TEST_F(AmdReset, ReadsWhatAmdSmiSaysAndNotItsExitCodeAlone) {
  for (const char* said :
       {"Successfully reset GPU\nGPU: 1\nFailed to reset GPU", "", "Unable to reset non-amd GPU"}) {
    add_program("amd-smi", "echo '" + std::string(said) + "'");
    EXPECT_EQ(reset().exit_code, kFailed) << said;
  }
  add_program("amd-smi", "echo 'Command requires elevation'; exit 10");
  EXPECT_EQ(reset().exit_code, 10);
}

TEST_F(AmdReset, IsOfEachGpuByRocmSmiIfThatIsAllThereIs) {
  add_program("rocm-smi", "echo \"$@: Successfully reset GPU\"");
  const GpuReset done = reset();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.words, AllOf(HasSubstr("--gpureset -d 0"), HasSubstr("--gpureset -d 1"),
                                Not(HasSubstr("-d 2"))));
  add_program("rocm-smi", "echo \"$@\"; [ $3 = 1 ] || echo Successfully reset GPU");
  EXPECT_EQ(reset().exit_code, kFailed) << "of two GPUs one has failed";
  // Debian's rocm-smi 5.2 prints this without the driver.
  add_program("rocm-smi", "echo 'ERROR:root:Driver not initialized (amdgpu not found in modules)'");
  EXPECT_EQ(reset().exit_code, kFailed);
}

// The driver's file, which both programs read, says more than they do: its value is the result.
TEST_F(AmdReset, AsksTheDriverIfTheImageHasNoProgram) {
  set_recover(1, "0");
  set_recover(2, "0");
  const GpuReset done = reset();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.words, "card1: 0\ncard2: 0\n");
  set_recover(2, "-62");
  EXPECT_EQ(reset().exit_code, kFailed);
}

// The driver resets a hive as one.
TEST_F(AmdReset, IsOfEachHiveOnce) {
  set_recover(1, "0");
  set_hive(1, "1234");
  set_hive(2, "1234");
  const GpuReset done = reset();
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_EQ(done.words, "card1: 0\n");
}

TEST_F(AmdReset, SaysWhyTheDriverCannot) {
  const GpuReset failed = reset();
  EXPECT_EQ(failed.exit_code, kFailed);
  EXPECT_THAT(failed.words, HasSubstr("amdgpu_gpu_recover"));
}

TEST_F(AmdReset, BeginsOnlyIfItKnowsThatThereIsNoUser) {
  add_program("amd-smi", ": > " + (folder_ / "was_reset").string());
  open_a_gpu("/dev/kfd");
  GpuReset refused = reset();
  EXPECT_EQ(refused.exit_code, kFailed);
  EXPECT_EQ(refused.words,
            "the GPUs are open in python (pid 99: kfd)\nin use by another process\n");
  node_.remove("proc/99").remove("proc/2");
  refused = reset();
  EXPECT_EQ(refused.exit_code, kFailed);
  EXPECT_THAT(refused.words, HasSubstr("needs root and hostPID"));
  EXPECT_FALSE(fs::exists(folder_ / "was_reset"));
}

TEST_F(AmdReset, WaitsForAUserThatGoes) {
  add_program("amd-smi", "echo Successfully reset GPU");
  open_a_gpu("/dev/kfd");
  clock_.on_sleep = [this] { node_.remove("proc/99"); };
  EXPECT_EQ(reset().exit_code, 0);
}

TEST_F(AmdReset, NeedsAGpuOfAmd) {
  add_card(1, "0x10de");
  add_card(2, "0x10de");
  add_program("amd-smi", "echo Successfully reset GPU");
  EXPECT_EQ(reset().exit_code, kFailed);
}

}  // namespace
}  // namespace gpuward::exporter
