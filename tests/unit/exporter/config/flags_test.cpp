#include <gtest/gtest.h>

#include "exporter/commands/all.h"
#include "exporter/commands/check_command.h"
#include "exporter/commands/findings_command.h"
#include "exporter/commands/gpu_worker_command.h"
#include "exporter/commands/nccl_pair_command.h"
#include "exporter/commands/quarantine_command.h"
#include "exporter/commands/sweep_command.h"
#include "tests/support/environment.h"
#include "tests/support/temp_dir.h"

namespace gpuward::exporter {
namespace {

using Words = std::vector<const char*>;

std::variant<CommandLine, int> parse(Words words, std::span<const AddCommand> commands) {
  words.insert(words.begin(), "gpuward-exporter");
  return parse_command_line(static_cast<int>(words.size()), words.data(), commands);
}

// Returns the exit code if the words start no command.
std::optional<int> refused(const Words& words) {
  const auto line = parse(words, all_commands());
  const int* exit_code = std::get_if<int>(&line);
  return exit_code == nullptr ? std::nullopt : std::optional(*exit_code);
}

CommandLine given(const Words& words) {
  auto line = parse(words, all_commands());
  EXPECT_TRUE(std::holds_alternative<CommandLine>(line));
  return std::holds_alternative<CommandLine>(line) ? std::get<CommandLine>(std::move(line))
                                                   : CommandLine{};
}

Flags parsed(const Words& words) { return given(words).flags; }

// Returns the options that a command of the test reads from the words.
template <typename Wishes, typename Added>
Wishes told(Added (*add)(CLI::App&, Wishes&), const Words& words) {
  Wishes wishes;
  const std::vector<AddCommand> commands{[&](CLI::App& app, Commands&) { add(app, wishes); }};
  EXPECT_TRUE(std::holds_alternative<CommandLine>(parse(words, commands)));
  return wishes;
}

TEST(Flags, WorkWithoutAny) {
  const Flags flags = parsed({});

  EXPECT_FALSE(given({}).run) << "it serves";
  EXPECT_EQ(flags.listen_addresses, std::vector<std::string>{":10980"});
  EXPECT_EQ(flags.state_path, "/var/lib/gpuward");
}

// The manifests mount the exporter's ConfigMap there, so that a Job or a command in the pod uses
// the configuration of the agent.
TEST(Flags, FindTheConfigurationAtItsUsualPlaceIfItIsThere) {
  const support::TempDir folder;
  const auto file_of = [&](Words words) {
    words.insert(words.begin(), "gpuward-exporter");
    const auto line = parse_command_line(static_cast<int>(words.size()), words.data(), {},
                                         folder.path() / "config.yaml");
    return std::get<CommandLine>(line).flags.config_file;
  };
  EXPECT_EQ(file_of({}), "");
  const auto usual = folder.write("config.yaml", "profile: seed\n");
  EXPECT_EQ(file_of({}), usual);
  EXPECT_EQ(file_of({"--config.file=/mine.yaml"}), "/mine.yaml");
  EXPECT_EQ(kUsualConfigFile, "/etc/gpuward/config.yaml");
}

TEST(Flags, TakeSeveralAddresses) {
  const Flags flags =
      parsed({"--web.listen-address=127.0.0.1:0", "--web.listen-address", "[::1]:10980"});

  EXPECT_EQ(flags.listen_addresses, (std::vector<std::string>{"127.0.0.1:0", "[::1]:10980"}));
  EXPECT_TRUE(flags.health_addresses.empty()) << "they are for the kubelet";
  EXPECT_EQ(
      parsed({"--web.health-address=:10983", "--web.health-address=[::1]:1"}).health_addresses,
      (std::vector<std::string>{":10983", "[::1]:1"}));
}

TEST(Flags, SayWhichChecksAQuarantineRunsAndWhatItsPassClears) {
  const auto quarantine = [](const Words& words) { return told(add_quarantine, words); };
  EXPECT_EQ(quarantine({"quarantine"}).checks, (std::vector<int>{4, 6}));
  EXPECT_FALSE(quarantine({"quarantine", "--clear-latched=false"}).clears_latched);
  const auto nccl = quarantine({"quarantine", "--checks=5", "--clear-latched=true"});
  EXPECT_EQ(nccl.checks, std::vector<int>{5});
  EXPECT_TRUE(nccl.clears_latched);
  EXPECT_EQ(quarantine({"quarantine", "--checks=4,5"}).checks, (std::vector<int>{4, 5}));
  EXPECT_EQ(refused({"quarantine", "--checks=1"}), 2);
  EXPECT_EQ(quarantine({"quarantine"}).progress, ProgressWish::kAuto);
  EXPECT_EQ(quarantine({"quarantine", "--progress=off"}).progress, ProgressWish::kOff);
  EXPECT_EQ(told(add_sweep, {"sweep", "--progress", "plain"}).progress, ProgressWish::kPlain);
  EXPECT_EQ(refused({"sweep", "--progress=loud"}), 2);
}

// The remediator's Jobs are written like this.
TEST(Flags, SayHowTwoNodesAreMeasuredTogether) {
  const auto pair = [](std::vector<const char*> more) {
    more.insert(more.begin(), {"nccl-pair", "--rank=1", "--address=fd00::7", "--port=29400",
                               "--token=3f9a", "--min-bus-bandwidth=387.5"});
    return more;
  };
  const auto options = told(add_nccl_pair, pair({"--timeout=90s"}));
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.address, "fd00::7");
  EXPECT_EQ(options.port, 29400);
  EXPECT_EQ(options.token, "3f9a");
  EXPECT_EQ(options.min_bus_bandwidth, 387.5);
  EXPECT_EQ(options.timeout, std::chrono::seconds(90));
  EXPECT_EQ(options.join_timeout, std::chrono::minutes(5));
  EXPECT_EQ(options.gpus, 0);
  EXPECT_EQ(told(add_nccl_pair, pair({"--gpus=4"})).gpus, 4);
  EXPECT_EQ(refused({"nccl-pair", "--rank=0"}), 2) << "the rest is needed too";
  EXPECT_EQ(refused(pair({"--address=node-a"})), 2);
}

TEST(Flags, AreAllRead) {
  const Flags flags =
      parsed({"--web.config.file=w", "--config.file=c", "--kernel-log.path=k", "--gpu.simulate=g",
              "--state.path=s", "--log.level=debug", "--log.format=json", "--check-config"});

  EXPECT_EQ(flags.web_config_file, "w");
  EXPECT_EQ(flags.config_file, "c");
  EXPECT_EQ(flags.kernel_log_path, "k");
  EXPECT_EQ(flags.gpu_simulate_file, "g");
  EXPECT_EQ(flags.state_path, "s");
  EXPECT_EQ(flags.log_level, LogLevel::kDebug);
  EXPECT_EQ(flags.log_format, LogFormat::kJson);
  EXPECT_TRUE(flags.checks_config);
}

TEST(Flags, TakeTheNodeFromNodeName) {
  const support::Environment name("NODE_NAME", "gpu-01");
  EXPECT_EQ(parsed({}).node_name, "gpu-01");
  EXPECT_EQ(parsed({"--node.name=gpu-02"}).node_name, "gpu-02");
}

TEST(Flags, CperRecordsAreReadAsTheSwitchOfAmdsExporterSays) {
  EXPECT_TRUE(parsed({}).libraries.reads_amd_cper);
  for (const char* const yes : {"1", "true", "YES", " on "}) {
    const support::Environment set("AMD_METRICS_EXPORTER_ENABLE_CPER", yes);
    EXPECT_TRUE(parsed({}).libraries.reads_amd_cper) << yes;
    EXPECT_FALSE(parsed({"--gpu.amd-cper=off"}).libraries.reads_amd_cper) << yes;
  }
  for (const char* const no : {"0", "false", "no", "off", "perhaps"}) {
    const support::Environment set("AMD_METRICS_EXPORTER_ENABLE_CPER", no);
    EXPECT_FALSE(parsed({}).libraries.reads_amd_cper) << no;
    EXPECT_TRUE(parsed({"--gpu.amd-cper=on"}).libraries.reads_amd_cper) << no;
  }
  const support::Environment empty("AMD_METRICS_EXPORTER_ENABLE_CPER", "");
  EXPECT_TRUE(parsed({}).libraries.reads_amd_cper) << "as if it were not set";
}

TEST(Flags, SayHowFindingsAndChecksArePrinted) {
  const auto list = [](const Words& words) { return told(add_findings, words).format; };
  EXPECT_EQ(list({"findings", "list"}), OutputFormat::kTable);
  EXPECT_EQ(list({"findings", "list", "--json"}), OutputFormat::kJson);
  EXPECT_EQ(list({"findings", "list", "-o", "yaml"}), OutputFormat::kYaml);
  EXPECT_EQ(told(add_check, {"check", "--prolog", "--json"}).output, OutputFormat::kJson);
  EXPECT_EQ(told(add_check, {"check", "--prolog", "--output=yaml"}).output, OutputFormat::kYaml);
  EXPECT_EQ(refused({"findings", "list", "-o", "xml"}), 2);
  EXPECT_EQ(refused({"check", "--prolog", "-o", "yaml", "--json"}), 2);
}

TEST(Flags, SayHowLongACheckMayTake) {
  EXPECT_EQ(told(add_check, {"check", "--prolog"}).timeout, std::nullopt);
  EXPECT_EQ(told(add_check, {"check", "--prolog", "--timeout=2.5"}).timeout,
            std::chrono::milliseconds(2500));
  EXPECT_EQ(refused({"check", "--prolog", "--timeout=0"}), 2);
}

TEST(Flags, SayWhichFindingsAreDeclaredRepaired) {
  const auto clear = [](const Words& words) { return told(add_findings, words).request; };
  EXPECT_EQ(clear({"findings", "clear", "--check=xid", "--pci=0000:4E:00.0"}).pci_bus_id,
            "0000:4e:00");
  EXPECT_TRUE(clear({"findings", "clear", "--all-operator"}).all_operator);
  EXPECT_EQ(refused({"findings", "clear", "--pci=0000:4e:00"}), 2) << "what is to be cleared?";
  EXPECT_EQ(refused({"findings", "clear"}), 2);
}

TEST(Flags, KnowTheCommands) {
  for (const char* command : {"parse-log", "gpu-worker", "sweep", "quarantine"})
    EXPECT_TRUE(given({command}).run) << command;
  EXPECT_TRUE(given({"findings", "list"}).run);
}

TEST(Flags, TellTheWorkerWhichGpusToAsk) {
  const GpuChoice choice = told(add_gpu_worker, {"gpu-worker", "--gpu.leave-out", "3@0000:4e:00",
                                                 "--gpu.leave-out", "4@", "--gpu.only=5@"});
  ASSERT_EQ(choice.left_out.size(), 2U);
  EXPECT_FALSE(choice.asks_index(3));
  EXPECT_FALSE(choice.asks_index(4));
  EXPECT_TRUE(choice.asks_index(5));
  EXPECT_FALSE(choice.asks_index(6)) << "not the only one";
  EXPECT_FALSE(choice.asks_address(*parse_pci_address("0000:4e:00")));
  EXPECT_EQ(refused({"gpu-worker", "--gpu.leave-out=three"}), 2);
  EXPECT_EQ(refused({"--gpu.leave-out=3@"}), 2) << "the worker's alone";
}

TEST(Flags, EndWithZeroAfterHelpAndVersion) {
  EXPECT_EQ(refused({"--help"}), 0);
  EXPECT_EQ(refused({"--version"}), 0);
}

TEST(Flags, EndWithTwoIfTheyAreWrong) {
  for (const char* argument : {"--unknown", "--log.level=loud", "--log.format=xml", "stray"})
    EXPECT_EQ(refused({argument}), 2) << argument;
}

}  // namespace
}  // namespace gpuward::exporter
