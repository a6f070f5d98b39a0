// A restart of the node with fakes of the kernel's files and of its systemd, which runs, refuses or
// does not answer. tests/machine has the real ones, in a virtual machine.
#include <gmock/gmock.h>

#include <sstream>
#include <vector>

#include "core/runtime/files.h"
#include "exporter/commands/node_reboot_command.h"
#include "exporter/config/exit_code.h"
#include "tests/support/environment.h"
#include "tests/support/host_tree.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kBoot = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0";

// Each answer takes longer than systemd may take. A sleep takes no time.
class SlowClock final : public Clock {
 public:
  [[nodiscard]] Wall wall() const override { return system_.wall() + late_; }
  [[nodiscard]] Steady steady() const override {
    late_ += is_slow ? seconds(60) : seconds(0);
    return system_.steady() + late_;
  }
  bool sleep_until(Steady deadline, std::stop_token stop) override {
    slept.push_back(std::chrono::round<seconds>(deadline - system_.steady() - late_));
    return !stop.stop_requested();
  }
  bool is_slow = false;
  std::vector<seconds> slept;

 private:
  SystemClock system_;
  mutable Steady::duration late_{0};
};

class NodeReboot : public testing::Test {
 protected:
  NodeReboot() {
    node_.with_process(1, "systemd");
    node_.write("proc/sys/kernel/random/boot_id", kBoot + "\n");
    node_.write("proc/sysrq-trigger", "");
    node_.write("proc/1/root/bin/bash", "");
    // The fakes act as the real ones: a unit runs from systemd-run until the restart.
    set_systemd(R"(case "$*" in
systemd-run*) touch waiter;;
"systemctl is-active --quiet -- gpuward-node-reboot.service") [ -e waiter ] || exit 3;;
"systemctl show --property=Version") echo Version=252;;
*) exit 125;;
esac)");
  }
  void set_systemd(const std::string& script) {
    fs::permissions(folder_.write("chroot", "#!/bin/sh\ncd ${0%/*}\n[ \"$1\" = \"" +
                                                (node_.paths().proc / "1/root").string() +
                                                "\" ] || exit 125\nshift\n"
                                                "printf '%s\\n' \"$*\" >> calls\n" +
                                                script + "\n"),
                    fs::perms::owner_all);
  }
  int run(const std::string& boot_id = kBoot) {
    const support::Environment path("PATH", folder_.path().string() + ":/usr/bin:/bin");
    out_.str("");
    return run_node_reboot(node_.paths(), {.boot_id = boot_id}, clock_, stop_.get_token(), out_);
  }
  std::string calls() { return read_file(folder_ / "calls").value_or(""); }
  std::string keys() { return read_file(node_.paths().proc / "sysrq-trigger").value_or("?"); }

  support::TempDir folder_;
  support::HostTree node_;
  SlowClock clock_;
  std::stop_source stop_;
  std::ostringstream out_;
};

// The kubelet has time to report how the container ended.
TEST_F(NodeReboot, LeavesTheRequestToItsUnit) {
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(out_.str(), "gpuward-node-reboot.service restarts this machine 15 s after its start\n");
  const std::string all = calls();
  EXPECT_THAT(all, AllOf(HasSubstr("systemd-run --quiet --collect "
                                   "--unit=gpuward-node-reboot.service"),
                         HasSubstr("--property=DefaultDependencies=no"),
                         HasSubstr("exec -a @gpuward-node-reboot /bin/bash"),
                         HasSubstr("--setenv=SYSTEMCTL_SKIP_AUTO_KEXEC=1"),
                         HasSubstr("gpuward-node-reboot 15 300 120 10\n"),
                         Not(HasSubstr("\nsystemctl reboot"))));
  EXPECT_LT(all.find("systemd-run"), all.find("is-active"));
  EXPECT_EQ(keys(), "");
}

TEST_F(NodeReboot, TakesTheShellOfANodeWithoutBash) {
  node_.remove("proc/1/root/bin/bash");
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(calls(),
              AllOf(HasSubstr("-- /bin/sh -c # Runs as a unit"), Not(HasSubstr("exec -a"))));
}

// A Job whose pod begins late, or a second time after the restart.
TEST_F(NodeReboot, DoesNothingInAnotherBoot) {
  EXPECT_EQ(run("11111111-4b5a-6978-8796-a5b4c3d2e1f0"), kFailed);
  EXPECT_EQ(out_.str(), "the machine has booted since the restart was ordered: nothing was done\n");
  node_.remove("proc/sys/kernel/random/boot_id");
  EXPECT_EQ(run(), kFailed);
  EXPECT_EQ(out_.str(), "the boot ID cannot be read: nothing was done\n");
  EXPECT_EQ(calls() + keys(), "");
}

// The image of a test, another init, or a pod without hostPID.
TEST_F(NodeReboot, DoesNothingWithoutSystemd) {
  node_.with_process(1, "machined");
  EXPECT_EQ(run(), kWrongUsage);
  EXPECT_THAT(out_.str(), HasSubstr("process 1 is machined, not systemd"));
  node_.remove("proc/1");
  EXPECT_EQ(run(), kWrongUsage);
  EXPECT_THAT(out_.str(), HasSubstr("process 1 is not visible"));
  EXPECT_EQ(calls() + keys(), "");
}

TEST_F(NodeReboot, DoesNothingOnceItHasToStop) {
  stop_.request_stop();
  EXPECT_EQ(run(), kFailed);
  EXPECT_EQ(calls() + keys(), "");
}

TEST_F(NodeReboot, DoesNothingIfSystemdRefusesTheUnit) {
  set_systemd(R"(case "$*" in
systemd-run*) echo 'Failed to start transient service unit: Access denied' >&2; exit 1;;
"systemctl is-active"*) exit 3;;
"systemctl show"*) echo 'Access denied' >&2; exit 1;;
*) exit 125;;
esac)");
  EXPECT_EQ(run(), kWrongUsage);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("Access denied"), HasSubstr("no restart was requested")));
  EXPECT_THAT(calls(), AllOf(Not(HasSubstr("systemctl reboot\n")), HasSubstr("systemctl kill")));
  EXPECT_EQ(keys(), "");
}

TEST_F(NodeReboot, DoesNothingWithoutAProgramToAsk) {
  fs::remove(folder_ / "chroot");
  const support::Environment path("PATH", folder_.path().string());
  EXPECT_EQ(run_node_reboot(node_.paths(), {.boot_id = kBoot}, clock_, stop_.get_token(), out_),
            kWrongUsage);
  EXPECT_THAT(out_.str(), HasSubstr("no restart was requested"));
  EXPECT_EQ(keys(), "");
}

// The first Job's answer was lost, or it was killed.
TEST_F(NodeReboot, TakesAUnitThatRunsAlready) {
  folder_.write("waiter", "");
  set_systemd(R"(case "$*" in
systemd-run*) echo 'Unit gpuward-node-reboot.service was already loaded' >&2; exit 1;;
"systemctl is-active"*) ;;
*) exit 125;;
esac)");
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(calls(), Not(HasSubstr("systemctl kill")));
}

// With thousands of mounts, or in a daemon-reload, the unit does run.
TEST_F(NodeReboot, GoesOnIfTheUnitOfABusySystemdRuns) {
  set_systemd(R"(case "$*" in
systemd-run*) echo 'Connection timed out' >&2; exit 1;;
"systemctl is-active"*) [ -e looked ] || { touch looked; exit 1; };;
"systemctl show"*) ;;
*) exit 125;;
esac)");
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(calls(), Not(HasSubstr("systemctl kill")));
}

TEST_F(NodeReboot, PressesTheKeysIfSystemdDoesNotAnswer) {
  clock_.is_slow = true;
  set_systemd("echo 'Connection timed out' >&2; exit 1");
  EXPECT_EQ(run(), kDone);
  EXPECT_EQ(keys(), "sub");
  EXPECT_EQ(clock_.slept.size(), 3U);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("systemd does not answer"), HasSubstr("SysRq b")));
}

TEST_F(NodeReboot, SaysIfItCannotPressTheKeys) {
  clock_.is_slow = true;
  set_systemd("exit 1");
  node_.remove("proc/sysrq-trigger").write("proc/sysrq-trigger/x", "");
  EXPECT_EQ(run(), kWrongUsage);
  EXPECT_THAT(out_.str(), HasSubstr("sysrq-trigger failed"));
}

// The script itself, with times of a second.
TEST_F(NodeReboot, HasAScriptThatAsksSystemdFirst) {
  fs::create_directory(folder_ / "bin");
  fs::permissions(folder_.write("bin/systemctl", "#!/bin/sh\necho \"$*\" >> ${0%/*}/../calls\n"),
                  fs::perms::owner_all);
  EXPECT_EQ(run(), kDone);
  const std::string all = calls();
  const auto begin = all.find("# Runs as a unit"), end = all.find(" gpuward-node-reboot 15 300");
  ASSERT_NE(end, std::string::npos);
  std::string script = all.substr(begin, end - begin);
  // Not this machine's.
  const std::string trigger = "/proc/sysrq-trigger", log = "/dev/kmsg";
  for (auto at = script.find(trigger); at != std::string::npos; at = script.find(trigger))
    script.replace(at, trigger.size(), (folder_ / "keys").string() + " ");
  for (auto at = script.find(log); at != std::string::npos; at = script.find(log))
    script.replace(at, log.size(), (folder_ / "log").string());
  fs::remove(folder_ / "calls");
  const auto ended = support::Process::run(
      {.argv = {"/bin/sh", "-c", script, "gpuward-node-reboot", "0", "1", "1", "0"},
       .env = {{"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"}}});
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->exit_code, 0) << ended->error_output;
  EXPECT_EQ(calls(), "reboot\nreboot --force\n");
  EXPECT_EQ(read_file(folder_ / "keys").value_or(""), "b\n") << "the last of s, u and b";
}

// systemd would replace such a variable by its own.
TEST_F(NodeReboot, HasAScriptWithoutABraceAfterADollar) {
  EXPECT_EQ(run(), kDone);
  EXPECT_THAT(calls(), AllOf(HasSubstr("> /proc/sysrq-trigger"), Not(HasSubstr("${"))));
}

}  // namespace
}  // namespace gpuward::exporter
