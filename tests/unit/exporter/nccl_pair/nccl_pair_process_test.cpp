// `gpuward-exporter nccl-pair` as two pods run it: two real programs on loopback, each with a fake
// libcuda and libnccl whose ranks really add up the other side's data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>

#include "core/http/server/listen_address.h"
#include "core/runtime/files.h"
#include "core/runtime/json.h"
#include "tests/fakes/nvml/fake_nvml.h"
#include "tests/places.inc"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wait.h"

namespace gpuward::exporter {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr const char* kLibrary = GPUWARD_BIN_DIR "/../lib/fakes/libnccl.so.2";
constexpr const char* kMuchMemory = "free_mib=81920";

struct Said {
  int exit_code = -1;
  std::string status, details, all;
};

class NcclPairProcess : public testing::Test {
 protected:
  // `scene` configures its fake library; later words win. The library has little memory, so that
  // the sums are quick.
  std::unique_ptr<support::Process> start(int rank, const Words& words = {},
                                          const std::string& scene = {},
                                          std::map<std::string, std::string> environment = {
                                              {"PAIR_TOKEN", "of this pair"}}) const {
    Words argv{GPUWARD_BIN_DIR "/gpuward-exporter",
               "nccl-pair",
               "--rank=" + std::to_string(rank),
               "--address=127.0.0.1",
               "--port=" + std::to_string(port_),
               "--min-bus-bandwidth=0.001",
               "--timeout=220s",
               "--join-timeout=120s",
               "--gpu.none",
               std::string("--nccl-library=") + kLibrary,
               std::string("--cuda-library=") + kLibrary};
    argv.insert(argv.end(), words.begin(), words.end());
    environment["NODE_NAME"] = rank == 0 ? "node-a" : "node-b";
    environment["GPUWARD_FAKE_NCCL"] =
        "folder=" + folder_.path().string() + " free_mib=2600 " + scene;
    auto spawned =
        support::Process::spawn({.argv = std::move(argv), .env = std::move(environment)});
    EXPECT_TRUE(spawned) << spawned.error().message;
    return spawned ? *std::move(spawned) : nullptr;
  }
  static Said end_of(const support::Process& process) {
    Said said;
    const auto exit_code = process.wait_exit();
    EXPECT_TRUE(exit_code) << "it has not ended: " << process.error_output();
    said.exit_code = exit_code.value_or(-1);
    said.all = process.output() + process.error_output();
    const auto json = parse_json(process.output());
    EXPECT_TRUE(json) << said.all;
    if (!json) return said;
    EXPECT_EQ(string_at(*json, "check"), "5-nccl-pair");
    said.status = string_at(*json, "status");
    said.details = string_at(*json, "details");
    // The remediator searches a pod's last words for this.
    EXPECT_THAT(process.output(), HasSubstr("\"status\":\"" + said.status + "\""));
    return said;
  }
  struct Both {
    Said first, second;
  };
  Both run(const Words& words, const std::string& first_scene = {},
           const std::string& second_scene = {}) const {
    const auto first = start(0, words, first_scene);
    const auto second = start(1, words, second_scene);
    return {end_of(*first), end_of(*second)};
  }
  static void expect_both(const Both& both, int exit_code, const std::string& status) {
    for (const Said& said : {both.first, both.second}) {
      EXPECT_EQ(said.exit_code, exit_code) << said.all;
      EXPECT_EQ(said.status, status) << said.all;
    }
  }
  static bool says(const support::Process& process, const std::string& text) {
    return support::poll_until([&] { return process.error_output().contains(text); });
  }
  // Sends the bytes to rank 0 and waits until it hangs up.
  void visit(const std::string& bytes) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    there.sin_port = htons(static_cast<std::uint16_t>(port_));
    EXPECT_TRUE(support::poll_until([&] {
      return ::connect(socket, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
    }));
    static_cast<void>(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
    std::array<char, 512> answer{};
    while (::recv(socket, answer.data(), answer.size(), 0) > 0) {
    }
    ::close(socket);
  }

  support::TempDir folder_;
  int port_ = support::free_port();
};

TEST_F(NcclPairProcess, PassesAndBothSidesSayTheSame) {
  const Both both = run({}, kMuchMemory, kMuchMemory);

  expect_both(both, 0, "pass");
  EXPECT_EQ(both.first.details, both.second.details);
  EXPECT_THAT(both.first.details,
              AllOf(HasSubstr("NCCL 2.23.4 over 2 GPUs on each of node-a and node-b"),
                    HasSubstr("bus bandwidth"), HasSubstr("GB/s at"), HasSubstr("minimum is")));
}

TEST_F(NcclPairProcess, WorksOverIPv6) {
  // A machine may have none. Then the program has to say so, and must not hang.
  const bool has_ipv6 = http::machine_has_ipv6();
  expect_both(run({"--address=::1"}), has_ipv6 ? 0 : 3, has_ipv6 ? "pass" : "error");
}

TEST_F(NcclPairProcess, OneGpuOfEachNodeCanBeAskedFor) {
  const Both both = run({"--gpus=1"});

  expect_both(both, 0, "pass");
  EXPECT_THAT(both.first.details, HasSubstr("over 1 GPUs on each"));
}

TEST_F(NcclPairProcess, LittleMemoryMeansSmallerMessages) {
  const Both both = run({}, "", kMuchMemory);

  expect_both(both, 0, "pass");
  EXPECT_THAT(both.second.details, AnyOf(HasSubstr("128 MiB"), HasSubstr("256 MiB")));
}

TEST_F(NcclPairProcess, FailsIfItIsTooSlow) {
  const Both both = run({"--min-bus-bandwidth=1000000"});

  expect_both(both, 1, "fail");
  EXPECT_EQ(both.first.details, both.second.details);
  EXPECT_THAT(both.first.details, HasSubstr("minimum is 1000000.0 GB/s"));
}

TEST_F(NcclPairProcess, FailsOnBothSidesIfOneAddsUpWrongly) {
  const Both both = run({}, "", "fault=wrong");

  expect_both(both, 1, "fail");
  EXPECT_THAT(both.first.details, HasSubstr("results are wrong"));
  EXPECT_EQ(both.first.details, both.second.details);
}

TEST_F(NcclPairProcess, FailsOnBothSidesIfNcclFailsOnOne) {
  const Both both = run({}, "fault=fail");

  expect_both(both, 1, "fail");
  EXPECT_THAT(
      both.first.details,
      HasSubstr("ncclAllReduce: unhandled cuda error: NET/IB : no answer from 10.0.0.8 (node-a)"));
  EXPECT_EQ(both.first.details, both.second.details);
}

TEST_F(NcclPairProcess, FailsAtItsTimeOutIfAllReduceHangs) {
  const Both both = run({"--timeout=20s"}, "", "fault=hang");

  expect_both(both, 1, "fail");
  EXPECT_THAT(both.first.details, HasSubstr("still running all_reduce"));
}

TEST_F(NcclPairProcess, CannotTellAtItsTimeOutIfTheCommunicatorIsNotJoined) {
  const Both both = run({"--timeout=12s"}, "", "fault=hang-join");

  expect_both(both, 3, "error");
  EXPECT_THAT(both.first.details, HasSubstr("still joining NCCL's communicator"));
}

TEST_F(NcclPairProcess, CannotTellIfOneSideCannotJoin) {
  const Both both = run({}, "", "fault=fail-join");

  expect_both(both, 3, "error");
  EXPECT_THAT(both.first.details,
              AllOf(HasSubstr("ncclGroupEnd: unhandled system error"), HasSubstr("(node-b)")));
}

TEST_F(NcclPairProcess, CannotTellAlone) {
  for (const int rank : {0, 1}) {
    const auto alone = start(rank, {"--join-timeout=1s"});
    const Said said = end_of(*alone);
    EXPECT_EQ(said.exit_code, 3) << said.all;
    EXPECT_EQ(said.status, "error");
    EXPECT_THAT(said.details,
                HasSubstr("no contact with rank " + std::to_string(1 - rank) + " within 1 s"));
  }
}

TEST_F(NcclPairProcess, TurnsAwayWhoHasAnotherPairsToken) {
  const auto first = start(0, {"--join-timeout=20s"});
  const auto second = start(1, {"--join-timeout=10s", "--token=of an earlier pair"});
  const Both both{end_of(*first), end_of(*second)};

  expect_both(both, 3, "error");
  EXPECT_THAT(both.first.details, HasSubstr("rank 1 of another pair connected from node-b"));
  EXPECT_THAT(both.second.details, HasSubstr("rank 0 refuses: the token belongs to another pair"));
}

TEST_F(NcclPairProcess, TheRightRankOneComesInAfterThatOfAnotherPair) {
  const auto first = start(0);
  EXPECT_TRUE(says(*first, "waiting for the peer"));
  const auto stale = start(1, {"--token=of an earlier pair", "--join-timeout=10s"});
  EXPECT_TRUE(says(*first, "another pair"));
  const auto second = start(1);

  expect_both({end_of(*first), end_of(*second)}, 0, "pass");
  EXPECT_EQ(end_of(*stale).exit_code, 3);
}

TEST_F(NcclPairProcess, CannotTellIfTheNodesDiffer) {
  Both both = run({}, "", "gpus=4");
  expect_both(both, 3, "error");
  for (const Said& said : {both.first, both.second})
    EXPECT_THAT(said.details, HasSubstr("the number of GPUs"));

  both = run({}, "version=22005", "");
  expect_both(both, 3, "error");
  for (const Said& said : {both.first, both.second})
    EXPECT_THAT(said.details, AllOf(HasSubstr("2.20.5"), HasSubstr("2.23.4")));
}

TEST_F(NcclPairProcess, RankOneMayBeThereFirst) {
  const auto second = start(1);
  EXPECT_TRUE(says(*second, "Peer is not reachable yet"));
  const auto first = start(0);

  expect_both({end_of(*first), end_of(*second)}, 0, "pass");
}

TEST_F(NcclPairProcess, StrangersOnThePortAreTurnedAway) {
  const auto first = start(0);
  visit("GET / HTTP/1.1\r\nHost: node-a\r\n\r\n");
  visit("{\"gpuward_nccl_pair\":1}\n");
  visit(std::string(10'000, 'x'));
  visit(std::string("\0\xff\n", 3));
  const auto second = start(1);

  expect_both({end_of(*first), end_of(*second)}, 0, "pass");
}

TEST_F(NcclPairProcess, ASideThatIsKilledInTheMiddleSaysNothingOfTheNodes) {
  const auto first = start(0, {}, "fault=hang");
  const auto second = start(1, {}, "fault=hang");
  EXPECT_TRUE(says(*first, "running all_reduce"));
  EXPECT_TRUE(says(*second, "running all_reduce"));
  second->signal(SIGKILL);

  const Said said = end_of(*first);
  EXPECT_EQ(said.exit_code, 3) << said.all;
  EXPECT_EQ(said.status, "error");
  EXPECT_THAT(said.details, HasSubstr("node-b, disconnected without reporting a result"));
}

TEST_F(NcclPairProcess, SigtermEndsItAtOnceWhateverItIsAt) {
  const auto waiting = start(0);
  EXPECT_TRUE(says(*waiting, "waiting for the peer"));
  waiting->signal(SIGTERM);
  EXPECT_EQ(end_of(*waiting).exit_code, 3);

  port_ = support::free_port();
  const auto first = start(0, {}, "fault=hang");
  const auto second = start(1, {}, "fault=hang");
  EXPECT_TRUE(says(*first, "running all_reduce"));
  first->signal(SIGTERM);
  const Both both{end_of(*first), end_of(*second)};
  expect_both(both, 3, "error");
  EXPECT_THAT(both.first.details, HasSubstr("stopped"));
}

TEST_F(NcclPairProcess, CannotTellWithoutLibrariesOrGpus) {
  struct Case {
    Words words;
    std::string scene, details;
  };
  for (const Case& one : std::vector<Case>{
           {{"--nccl-library=/nowhere/libnccl.so.2"},
            "",
            "the NCCL library: /nowhere/libnccl.so.2"},
           {{"--cuda-library=/nowhere/libcuda.so.1"}, "", "CUDA's driver library: /nowhere"},
           {{"--cuda-library=libm.so.6"}, "", "has no function cuInit"},
           {{"--nccl-library=libm.so.6"}, "", "has no function ncclGetVersion"},
           {{}, "fault=no-gpu", "cuInit: no CUDA-capable device is detected"},
           {{}, "gpus=0", "CUDA finds no GPU here"},
           {{}, "free_mib=2100", "too little free memory"},
           {{"--gpus=3"}, "", "3 GPUs are requested, but CUDA finds 2 here"}}) {
    const auto process = start(0, one.words, one.scene);
    const Said said = end_of(*process);
    EXPECT_EQ(said.exit_code, 3) << said.all;
    EXPECT_EQ(said.status, "error") << said.all;
    EXPECT_THAT(said.details, HasSubstr(one.details));
  }
}

TEST_F(NcclPairProcess, TakesNoGpuThatIsInUseOrInMigMode) {
  fake_nvml::FakeNvml nvml("mig");
  const Words words{"--gpu.none=false", "--gpu.amd-smi-library=/nowhere/libamd_smi.so",
                    "--gpu.nvml-library=" + fake_nvml::FakeNvml::library()};
  Said said = end_of(*start(0, words));
  EXPECT_EQ(said.exit_code, 3) << said.all;
  EXPECT_THAT(said.details, HasSubstr("is in MIG mode"));

  nvml.play("healthy_8x_h100");
  nvml.set("gpu.3.processes", "4711:1048576");
  Words impatient = words;
  impatient.emplace_back("--join-timeout=1s");
  said = end_of(*start(0, impatient));
  EXPECT_EQ(said.exit_code, 3) << said.all;
  EXPECT_THAT(said.details, HasSubstr("pid 4711 uses the GPU"));

  const auto patient = start(0, words);
  EXPECT_TRUE(says(*patient, "pid 4711 uses the GPU"));
  nvml.set("gpu.3.processes", "");
  EXPECT_TRUE(says(*patient, "waiting for the peer"));
}

// The program must understand the command of the remediator's Job.
TEST_F(NcclPairProcess, PassesAsTheRemediatorsJobCallsIt) {
  const auto text =
      read_file(std::string(GPUWARD_SOURCE_DIR) + "/manifests/remediator-job-nccl-pairs.json");
  ASSERT_TRUE(text);
  const Json job = parse_json(*text).value_or(Json());
  const Json& container = job["spec"]["template"]["spec"]["containers"][0];
  const auto side = [&](const std::string& rank) {
    Words words;
    for (const Json& word : container["command"]) words.push_back(word.get<std::string>());
    std::map<std::string, std::string> environment;
    for (const Json& variable : container["env"])
      environment[string_at(variable, "name")] = string_at(variable, "value");
    const std::map<std::string, std::string> values = {
        {"$(NODE_NAME)", "node"},    {"$(RANK)", rank},
        {"$(ADDRESS)", "127.0.0.1"}, {"$(PORT)", std::to_string(port_)},
        {"$(TOKEN)", "0a1b2c"},      {"$(MIN_BUS_BANDWIDTH)", "0.001"}};
    const auto put_in = [&values](std::string& word) {
      const auto at = word.find("$(");
      if (at != std::string::npos) word.replace(at, std::string::npos, values.at(word.substr(at)));
    };
    for (std::string& word : words) put_in(word);
    for (auto& [name, value] : environment) put_in(value);
    EXPECT_EQ(words.front(), "gpuward-exporter");
    return start(rank == "0" ? 0 : 1, Words(words.begin() + 2, words.end()), "", environment);
  };
  const auto first = side("0");
  const auto second = side("1");

  expect_both({end_of(*first), end_of(*second)}, 0, "pass");
}

TEST_F(NcclPairProcess, WrongFlagsEndWith2) {
  for (const Words& words : {Words{"--address=node-a"}, Words{"--port=0"}, Words{"--port=70000"},
                             Words{"--token="}, Words{"--timeout=soon"}, Words{"--timeout=0s"},
                             Words{"--rank=2"}, Words{"--min-bus-bandwidth=fast"}}) {
    const auto process = start(0, words);
    EXPECT_EQ(process->wait_exit(), 2) << testing::PrintToString(words);
    EXPECT_EQ(process->output(), "");
    EXPECT_NE(process->error_output(), "");
  }
  EXPECT_EQ(start(0, {}, "", {})->wait_exit(), 2) << "no token at all";
}

}  // namespace
}  // namespace gpuward::exporter
