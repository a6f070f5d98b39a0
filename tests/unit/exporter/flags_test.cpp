#include "exporter/flags.h"

#include <gtest/gtest.h>

#include "tests/support/environment.h"

namespace gpuward::exporter {
namespace {

std::variant<Flags, int> parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "gpuward-exporter");
  return parse_flags(static_cast<int>(arguments.size()), arguments.data());
}

Flags parsed(const std::vector<const char*>& arguments) {
  const auto flags = parse(arguments);
  EXPECT_TRUE(std::holds_alternative<Flags>(flags));
  return std::holds_alternative<Flags>(flags) ? std::get<Flags>(flags) : Flags{};
}

TEST(Flags, WorkWithoutAny) {
  const Flags flags = parsed({});

  EXPECT_EQ(flags.command, Command::kServe);
  EXPECT_EQ(flags.listen_addresses, std::vector<std::string>{":10980"});
  EXPECT_EQ(flags.state_path, "/var/lib/gpuward");
}

TEST(Flags, TakeSeveralAddresses) {
  const Flags flags =
      parsed({"--web.listen-address=127.0.0.1:0", "--web.listen-address", "[::1]:10980"});

  EXPECT_EQ(flags.listen_addresses, (std::vector<std::string>{"127.0.0.1:0", "[::1]:10980"}));
}

TEST(Flags, SayWhichChecksAQuarantineRunsAndWhatItsPassClears) {
  EXPECT_EQ(parsed({"quarantine"}).quarantine_checks, (std::vector<int>{4, 6}));
  EXPECT_FALSE(parsed({"quarantine", "--clear-latched=false"}).clears_latched);
  const Flags nccl = parsed({"quarantine", "--checks=5", "--clear-latched=true"});
  EXPECT_EQ(nccl.quarantine_checks, std::vector<int>{5});
  EXPECT_TRUE(nccl.clears_latched);
  EXPECT_EQ(parsed({"quarantine", "--checks=4,5"}).quarantine_checks, (std::vector<int>{4, 5}));
  EXPECT_EQ(std::get<int>(parse({"quarantine", "--checks=1"})), 2);
  EXPECT_EQ(parsed({"quarantine"}).progress, ProgressWish::kAuto);
  EXPECT_EQ(parsed({"quarantine", "--progress=off"}).progress, ProgressWish::kOff);
  EXPECT_EQ(parsed({"sweep", "--progress", "plain"}).progress, ProgressWish::kPlain);
  EXPECT_EQ(std::get<int>(parse({"sweep", "--progress=loud"})), 2);
}

// The remediator's Jobs are written like this.
TEST(Flags, SayHowTwoNodesAreMeasuredTogether) {
  const auto pair = [](std::vector<const char*> more) {
    more.insert(more.begin(), {"nccl-pair", "--rank=1", "--address=fd00::7", "--port=29400",
                               "--token=3f9a", "--min-bus-bandwidth=387.5"});
    return more;
  };
  const Flags flags = parsed(pair({"--timeout=90s"}));
  EXPECT_EQ(flags.command, Command::kNcclPair);
  EXPECT_EQ(flags.nccl_pair.rank, 1);
  EXPECT_EQ(flags.nccl_pair.address, "fd00::7");
  EXPECT_EQ(flags.nccl_pair.port, 29400);
  EXPECT_EQ(flags.nccl_pair.token, "3f9a");
  EXPECT_EQ(flags.nccl_pair.min_bus_bandwidth, 387.5);
  EXPECT_EQ(flags.nccl_pair.timeout, std::chrono::seconds(90));
  EXPECT_EQ(flags.nccl_pair.join_timeout, std::chrono::minutes(5));
  EXPECT_EQ(flags.nccl_pair.gpus, 0);
  EXPECT_EQ(parsed(pair({"--gpus=4"})).nccl_pair.gpus, 4);
  EXPECT_EQ(std::get<int>(parse({"nccl-pair", "--rank=0"})), 2) << "the rest is needed too";
  EXPECT_EQ(std::get<int>(parse(pair({"--address=node-a"}))), 2);
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
  EXPECT_EQ(flags.command, Command::kCheckConfig);
}

TEST(Flags, ContractATakeTheNodeFromNodeName) {
  const support::Environment name("NODE_NAME", "gpu-01");
  EXPECT_EQ(parsed({}).node_name, "gpu-01");
  EXPECT_EQ(parsed({"--node.name=gpu-02"}).node_name, "gpu-02");
}

TEST(Flags, ContractCCperRecordsAreReadAsTheSwitchOfAmdsExporterSays) {
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
  EXPECT_EQ(parsed({"findings", "list"}).findings_output, OutputFormat::kTable);
  EXPECT_EQ(parsed({"findings", "list", "--json"}).findings_output, OutputFormat::kJson);
  EXPECT_EQ(parsed({"findings", "list", "-o", "yaml"}).findings_output, OutputFormat::kYaml);
  EXPECT_EQ(parsed({"check", "--prolog", "--json"}).check.output, OutputFormat::kJson);
  EXPECT_EQ(parsed({"check", "--prolog", "--output=yaml"}).check.output, OutputFormat::kYaml);
  EXPECT_EQ(std::get<int>(parse({"findings", "list", "-o", "xml"})), 2);
  EXPECT_EQ(std::get<int>(parse({"check", "--prolog", "-o", "yaml", "--json"})), 2);
}

TEST(Flags, KnowTheSubcommand) { EXPECT_EQ(parsed({"parse-log"}).command, Command::kParseLog); }

TEST(Flags, TellTheWorkerWhichGpusToAsk) {
  const auto& choice = parsed({"gpu-worker", "--gpu.leave-out", "3@0000:4e:00", "--gpu.leave-out",
                               "4@", "--gpu.only=5@"})
                           .libraries.choice;
  ASSERT_EQ(choice.left_out.size(), 2U);
  EXPECT_FALSE(choice.asks_index(3));
  EXPECT_FALSE(choice.asks_index(4));
  EXPECT_TRUE(choice.asks_index(5));
  EXPECT_FALSE(choice.asks_index(6)) << "not the only one";
  EXPECT_FALSE(choice.asks_address(*parse_pci_address("0000:4e:00")));
  EXPECT_EQ(std::get<int>(parse({"gpu-worker", "--gpu.leave-out=three"})), 2);
  EXPECT_EQ(std::get<int>(parse({"--gpu.leave-out=3@"})), 2) << "the worker's alone";
}

TEST(Flags, EndWithZeroAfterHelpAndVersion) {
  EXPECT_EQ(std::get<int>(parse({"--help"})), 0);
  EXPECT_EQ(std::get<int>(parse({"--version"})), 0);
}

TEST(Flags, EndWithTwoWhereTheyAreWrong) {
  for (const char* argument : {"--unknown", "--log.level=loud", "--log.format=xml", "stray"}) {
    const auto flags = parse({argument});
    ASSERT_TRUE(std::holds_alternative<int>(flags)) << argument;
    EXPECT_EQ(std::get<int>(flags), 2) << argument;
  }
}

}  // namespace
}  // namespace gpuward::exporter
