#include "exporter/host/processes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/host_tree.h"

namespace gpuward::exporter {
namespace {

using support::HostTree;
using ::testing::Contains;
using ::testing::ElementsAre;

TEST(Processes, AreFoundByTheNameThatTheKernelCuts) {
  HostTree node;
  node.with_process(4711, "nv-fabricmanager").with_process(4712, "nv-hostengine");
  const Processes processes = list_processes(node.paths());
  ASSERT_NE(processes.find("nv-fabricmanager"), nullptr);
  EXPECT_EQ(*processes.find("nv-fabricmanager"), (Process{4711, "nv-fabricmanage"}));
  EXPECT_EQ(processes.find("nv-hostengine")->pid, 4712);
  EXPECT_EQ(processes.find("nv-fabric"), nullptr);
}

// Any process names itself as it likes. The name of a setuid program is that of the link to it.
TEST(Processes, OfRootAreNotThoseThatOnlyBearTheName) {
  HostTree node;
  node.with_process(50, "nv-fabricmanager").with_uids(50, 65534, 65534);
  node.with_process(51, "nv-fabricmanager").with_uids(51, 1000, 0);
  node.with_process(52, "nv-fabricmanager").with_uids(52, 0, 1000);
  node.with_process(53, "nv-fabricmanager").remove("proc/53/status");
  node.with_process(54, "nv-fabricmanager").write("proc/54/status", "Uid:\t0\t0\t0\t0\n");
  node.with_process(55, "nv-fabricmanager").write("proc/55/status", "Name:\tx\nUid:\t0\n");
  EXPECT_EQ(find_of_root(node.paths(), list_processes(node.paths()), "nv-fabricmanager"), nullptr);

  node.with_process(4711, "nv-fabricmanager");
  const Processes processes = list_processes(node.paths());
  const Process* const found = find_of_root(node.paths(), processes, "nv-fabricmanager");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(*found, (Process{4711, "nv-fabricmanage"}));
}

TEST(Processes, OfRootAreKnownOnThisMachine) {
  const Processes self{{{::getpid(), "this"}}, true};
  EXPECT_EQ(find_of_root({}, self, "this") != nullptr, ::getuid() == 0 && ::geteuid() == 0);
}

TEST(Processes, ThatAreDeadDoNotRun) {
  HostTree node;
  node.with_process(4711, "nv-fabricmanager", 'Z');
  EXPECT_EQ(list_processes(node.paths()).find("nv-fabricmanager"), nullptr);
}

// The other threads of a process still run after its first one has ended.
TEST(DeviceUsers, AreAlsoThoseWhoseFirstThreadHasEnded) {
  HostTree node;
  node.with_process(100, "python", 'Z');
  node.write("proc/100/task/100/stat", "100 (python) Z 1\n");
  node.write("proc/100/task/101/stat", "101 (worker) D 1\n");
  node.link("dev/kfd", "/dev/null").link("proc/100/task/101/fd/3", node.paths().dev / "kfd");
  const Processes processes = list_processes(node.paths());
  EXPECT_THAT(list_device_users(node.paths(), processes, "kfd").all,
              ElementsAre(DeviceUser{{100, "python", 101}, "kfd"}));
  node.write("proc/100/task/101/stat", "101 (worker) X 1\n");
  EXPECT_EQ(list_processes(node.paths()).find("python"), nullptr);
}

TEST(Processes, MayHaveAnyName) {
  HostTree node;
  node.with_process(10, "a) R (b").with_process(11, "").with_process(12, "tab\there");
  node.write("proc/13/stat", "13 (cut").write("proc/14/stat", "").write("proc/15/stat", ") (");
  node.write("proc/self/stat", "10 (no number) S 1\n");
  EXPECT_THAT(list_processes(node.paths()).all,
              ElementsAre(Process{1, "systemd"}, Process{2, "kthreadd"}, Process{10, "a) R (b"},
                          Process{11, ""}, Process{12, "tab\there"}));
}

// Without hostPID the exporter cannot say that a service does not run.
TEST(Processes, OfAContainerAreNotThoseOfTheNode) {
  HostTree node;
  EXPECT_TRUE(sees_whole_node(list_processes(node.paths())));
  node.remove("proc/2");
  EXPECT_FALSE(sees_whole_node(list_processes(node.paths())));
  node.remove("proc");
  EXPECT_FALSE(list_processes(node.paths()).is_complete);
}

// The replaced suite used fuser and lsof, which its image did not have.
TEST(DeviceUsers, AreThoseWhoHaveADeviceOpen) {
  HostTree node;
  node.with_process(100, "python").with_open_file(100, "/dev/nvidia-uvm");
  node.with_open_file(100, "/dev/nvidia0").with_open_file(100, "/dev/nvidia0");
  node.with_open_file(100, "socket:[123]").with_open_file(100, "/home/x/dev/notes");
  node.with_process(200, "bash").with_open_file(200, "/dev/null");
  const Processes processes = list_processes(node.paths());
  const DeviceUsers all = list_device_users(node.paths(), processes, "nvidia");
  EXPECT_TRUE(all.is_complete);
  EXPECT_THAT(all.all, ElementsAre(DeviceUser{{100, "python"}, "nvidia-uvm"},
                                   DeviceUser{{100, "python"}, "nvidia0"}));
  EXPECT_THAT(list_device_users(node.paths(), processes, "nvidia-uvm").all,
              ElementsAre(DeviceUser{{100, "python"}, "nvidia-uvm"}));
}

// A tenant names its files as it likes.
TEST(DeviceUsers, AreNotThoseOfAFileWithADevicesName) {
  HostTree node;
  node.write("t/dev/nvidia-uvm-mine", "").link("t/dev/nvidia-uvm", "/dev/zero");
  node.link("dev/nvidia-uvm", "/dev/null").write("t/dev/nvidia-uvm-tools", "");
  const auto in_tree = [&](const std::string& path) {
    return (node.paths().dev.parent_path() / path).string();
  };
  node.with_process(100, "python").with_open_file(100, in_tree("t/dev/nvidia-uvm-mine"));
  node.with_open_file(100, in_tree("t/dev/nvidia-uvm"));
  node.with_open_file(100, in_tree("t/dev/nvidia-uvm-tools"));
  const Processes processes = list_processes(node.paths());
  const DeviceUsers users = list_device_users(node.paths(), processes, "nvidia-uvm");
  EXPECT_THAT(users.all, ElementsAre());
  EXPECT_TRUE(users.is_complete);
  // If the device node exists in the container alone, the device counts by its kind.
  node.remove("dev/nvidia-uvm");
  EXPECT_THAT(list_device_users(node.paths(), processes, "nvidia-uvm").all,
              ElementsAre(DeviceUser{{100, "python"}, "nvidia-uvm"}));
}

TEST(DeviceUsers, AreNotAllKnownIfAFileHasEndedOrCannotBeLookedAt) {
  HostTree node;
  node.with_process(100, "python").with_open_file(100, "/nowhere/dev/nvidia0");
  const Processes processes = list_processes(node.paths());
  EXPECT_TRUE(list_device_users(node.paths(), processes, "kfd").is_complete);
  EXPECT_FALSE(list_device_users(node.paths(), processes, "nvidia").is_complete);
}

TEST(DeviceUsers, AreNotAllKnownIfOneCannotBeLookedAt) {
  HostTree node;
  node.with_process(100, "python").remove("proc/100/fd").write("proc/100/fd", "no folder");
  EXPECT_FALSE(list_device_users(node.paths(), list_processes(node.paths()), "nvidia").is_complete);
}

TEST(DeviceUsers, ThatHaveEndedMeanwhileAreNone) {
  HostTree node;
  node.with_process(100, "python");
  const Processes processes = list_processes(node.paths());
  node.remove("proc/100");
  const DeviceUsers users = list_device_users(node.paths(), processes, "nvidia");
  EXPECT_TRUE(users.is_complete);
  EXPECT_TRUE(users.all.empty());
}

TEST(DeviceUsers, AreFoundOnThisMachine) {
  const int file = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const auto users = list_device_users(HostPaths{}, list_processes(HostPaths{}), "zero");
  ::close(file);
  EXPECT_THAT(users.all, Contains(::testing::Field(&DeviceUser::process,
                                                   ::testing::Field(&Process::pid, ::getpid()))));
}

// The replaced suite read its own container's limit, which says nothing about a workload's.
TEST(MemoryLock, IsThatOfTheContainerRuntime) {
  HostTree node;
  node.with_process(50, "containerd").with_memory_lock(50, "unlimited");
  node.with_process(60, "kubelet").with_memory_lock(60, "65536");
  const auto limit = workload_memory_lock(node.paths(), list_processes(node.paths()));
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->bytes, std::nullopt);
  EXPECT_EQ(limit->process.name, "containerd");
}

TEST(MemoryLock, IsThatOfTheShimIfThereIsOne) {
  HostTree node;
  node.with_process(50, "containerd").with_memory_lock(50, "unlimited");
  node.with_process(70, "containerd-shim-runc-v2").with_memory_lock(70, "17179869184");
  const auto limit = workload_memory_lock(node.paths(), list_processes(node.paths()));
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->bytes, 17'179'869'184U);
  EXPECT_EQ(limit->process.pid, 70);
}

TEST(MemoryLock, IsNotThatOfAProcessThatOnlyBearsTheName) {
  HostTree node;
  node.with_process(50, "containerd-shim").with_memory_lock(50, "65536");
  node.with_uids(50, 65534, 65534);
  node.with_process(60, "containerd").with_memory_lock(60, "unlimited");
  const auto limit = workload_memory_lock(node.paths(), list_processes(node.paths()));
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->process.pid, 60);
}

TEST(MemoryLock, IsThatOfTheFirstProcessIfNoRuntimeIsSeenAndSaysSo) {
  const HostTree node;
  const auto limit = workload_memory_lock(node.paths(), list_processes(node.paths()));
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->process, (Process{1, "systemd"}));
  EXPECT_EQ(limit->bytes, 8'388'608U);
}

TEST(MemoryLock, IsAnErrorIfItCannotBeRead) {
  HostTree node;
  const Processes processes = list_processes(node.paths());
  node.write("proc/1/limits", "Max open files   1  1  files\n");
  EXPECT_EQ(workload_memory_lock(node.paths(), processes).error().kind, ErrorKind::kInvalid);
  node.with_memory_lock(1, "much");
  EXPECT_EQ(workload_memory_lock(node.paths(), processes).error().kind, ErrorKind::kInvalid);
  node.remove("proc/1/limits");
  EXPECT_EQ(workload_memory_lock(node.paths(), processes).error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(workload_memory_lock(node.paths(), {}).error().kind, ErrorKind::kNotFound);
}

TEST(MemoryLock, IsKnownOfThisMachinesFirstProcess) {
  const Processes first{{{1, "systemd"}}, true};
  EXPECT_TRUE(workload_memory_lock(HostPaths{}, first));
}

TEST(PodUid, IsReadFromEitherCgroupDriver) {
  HostTree node;
  node.with_cgroup(1,
                   "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-"
                   "pod0a1b2c3d_0a1b_0a1b_0a1b_0a1b2c3d4e5f.slice/cri-containerd-abc.scope");
  node.with_cgroup(2, "/kubepods/burstable/pod0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/abc");
  EXPECT_EQ(pod_uid_of(node.paths(), 1), "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f");
  EXPECT_EQ(pod_uid_of(node.paths(), 2), "0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f");
}

TEST(PodUid, IsEmptyOutsideOfPods) {
  HostTree node;
  node.with_cgroup(1, "/system.slice/podman.service").with_cgroup(2, "/kubepods/pod");
  EXPECT_EQ(pod_uid_of(node.paths(), 1), "");
  EXPECT_EQ(pod_uid_of(node.paths(), 2), "");
  EXPECT_EQ(pod_uid_of(node.paths(), 3), "");
}

}  // namespace
}  // namespace gpuward::exporter
