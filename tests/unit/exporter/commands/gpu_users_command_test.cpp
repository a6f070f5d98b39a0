#include "exporter/commands/gpu_users_command.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// nvidia-smi lists neither of them among the processes of a GPU.
TEST(GpuUsers, NamesTelemetryAndThePersistenceDaemonWithTheirDevices) {
  support::HostTree node;
  node.with_process(99, "dcgm-exporter").with_open_file(99, "/dev/nvidia0");
  node.with_open_file(99, "/dev/nvidia1").with_open_file(99, "/dev/null");
  node.with_process(7, "nvidia-persistenced").with_open_file(7, "/dev/nvidia0");
  node.with_process(8, "kubelet").with_open_file(8, "/dev/null");
  std::ostringstream out;

  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kSay, out), 0);

  EXPECT_EQ(out.str(),
            "the GPUs are open in nvidia-persiste (pid 7: nvidia0), dcgm-exporter (pid 99: "
            "nvidia0, nvidia1)\n");
}

TEST(GpuUsers, NamesWhoUsesAnAmdGpu) {
  support::HostTree node;
  node.with_process(99, "python").with_open_file(99, "/dev/kfd");
  node.with_open_file(99, "/dev/dri/renderD128").with_open_file(99, "/dev/dri/card0");
  std::ostringstream out;

  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 1);

  EXPECT_EQ(out.str(), "the GPUs are open in python (pid 99: dri/renderD128, kfd)\n");
}

TEST(GpuUsers, NamesThePodAndTheContainerOfAProcess) {
  support::HostTree node;
  const std::string id(64, 'a'), uid = "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f";
  node.with_process(99, "python").with_open_file(99, "/dev/nvidia0");
  node.with_cgroup(99, "/kubepods/burstable/pod" + uid + "/" + id);
  std::ostringstream out;
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kSay, out), 0);
  EXPECT_EQ(out.str(), "the GPUs are open in python (pid 99, pod " + uid + ": nvidia0)\n");

  const std::string links = "proc/1/root/var/log/containers/";
  node.write(links + "other-0_team-a_main-" + std::string(64, 'b') + ".log", "");
  node.write(links + "train-0_team-a_main-" + id + ".log", "");
  out.str("");
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kSay, out), 0);
  EXPECT_EQ(out.str(),
            "the GPUs are open in python (pid 99, pod team-a/train-0, container main: nvidia0)\n");
  node.with_cgroup(99, "/kubepods.slice/kubepods-burstable-pod" + uid + ".slice/cri-containerd-" +
                           id + ".scope");
  out.str("");
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kSay, out), 0);
  EXPECT_THAT(out.str(), HasSubstr("pod team-a/train-0, container main"));
}

// It reads the sensors of the GPUs that are reset.
TEST(GpuUsers, RequireNoneButGpuwardsExporter) {
  support::HostTree node;
  node.with_process(99, "gpuward-exporter").with_open_file(99, "/dev/dri/renderD128");
  std::ostringstream out;

  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 0);

  EXPECT_EQ(out.str(), "no process has a GPU open\n");
  node.with_uids(99, 65534, 65534);
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 1)
      << "a process that only bears the name";
}

TEST(GpuUsers, KnowTheExportersWorkerByItsParentAndNotByItsName) {
  support::HostTree node;
  node.with_process(99, "gpuward-exporter").with_parent(99, 1);
  node.with_process(100, "gpuward-worker").with_parent(100, 99);
  node.with_open_file(100, "/dev/nvidia0");
  std::ostringstream out;
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 0) << out.str();

  node.with_parent(100, 1);
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 1)
      << "a process that only bears the name";
  node.with_parent(100, 99).with_uids(99, 65534, 65534);
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 1)
      << "and so does its parent";
  node.with_parent(99, 1);
  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kSay, out), 0);
  EXPECT_THAT(out.str(), EndsWith("the GPUs are open in gpuward-worker (pid 100: nvidia0)\n"));
}

// A container without hostPID sees only its own processes.
TEST(GpuUsers, CannotTellIfNotAllProcessesAreSeen) {
  support::HostTree node;
  node.remove("proc/2");
  std::ostringstream out;

  EXPECT_EQ(run_gpu_users(node.paths(), GpuUsersWish::kRequireNone, out), 3);
}

TEST(GpuUsers, SaysThatThereAreNone) {
  EXPECT_EQ(gpu_users_text({}, {}), "no process has a GPU open");
  EXPECT_EQ(
      gpu_users_text({}, {.all = {}, .is_complete = false}),
      "no process has a GPU open; not every process could be inspected: needs root and hostPID");
}

TEST(GpuUsers, NamesTheFirstEight) {
  const support::HostTree node;
  DeviceUsers users;
  for (int pid = 1; pid <= 20; ++pid) users.all.push_back({{pid, "python"}, "nvidia0"});

  EXPECT_THAT(gpu_users_text(node.paths(), users), EndsWith("python (pid 8: nvidia0) and 12 more"));
}

}  // namespace
}  // namespace gpuward::exporter
