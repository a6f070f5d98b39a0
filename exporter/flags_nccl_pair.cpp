#include "exporter/flags_nccl_pair.h"

#include <CLI/CLI.hpp>
#include <string>

#include "core/runtime/yaml_scalars.h"
#include "exporter/nccl_pair/endpoint.h"

namespace gpuward::exporter {
namespace {

constexpr std::size_t kMostTokenBytes = 256;

void add_time(CLI::App& command, const char* name, const char* meaning,
              std::chrono::milliseconds& time) {
  const auto read = [&time](const std::string& word) { time = *parse_duration(word); };
  command.add_option_function<std::string>(name, read, meaning)
      ->default_str(to_duration_text(time))
      ->check([](const std::string& word) {
        const auto parsed = parse_duration(word);
        const bool is_time =
            parsed && *parsed >= std::chrono::seconds(1) && *parsed <= std::chrono::hours(24);
        return is_time ? std::string() : word + " is no time from 1s to 24h";
      });
}

std::string fault_of_address(const std::string& address) {
  const auto endpoint = nccl_pair::parse_endpoint(address, 1);
  return endpoint ? std::string() : endpoint.error().message;
}

std::string fault_of_token(const std::string& token) {
  const bool is_good = !token.empty() && token.size() <= kMostTokenBytes;
  return is_good ? std::string() : "a token has 1 to " + std::to_string(kMostTokenBytes) + " bytes";
}

}  // namespace

CLI::App* add_nccl_pair(CLI::App& app, nccl_pair::Options& options) {
  CLI::App* command = app.add_subcommand(
      "nccl-pair",
      "Measure all_reduce over the GPUs of this node and of another together, and exit");
  command->fallthrough();
  command->add_option("--rank", options.rank, "0: listen at --address; 1: go there")
      ->required()
      ->check(CLI::Range(0, 1));
  command->add_option("--address", options.address, "Address of rank 0, no name")
      ->required()
      ->check(fault_of_address);
  command->add_option("--port", options.port, "Port of rank 0")
      ->required()
      ->check(CLI::Range(1, 65535));
  command->add_option("--token", options.token, "What both sides of this pair know and no other")
      ->required()
      ->check(fault_of_token);
  command
      ->add_option("--min-bus-bandwidth", options.min_bus_bandwidth, "In GB/s: less fails the pair")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  add_time(*command, "--timeout", "Of all of it: what has not ended by then hangs",
           options.timeout);
  add_time(*command, "--join-timeout",
           "For the other side to come; at most half of --timeout counts", options.join_timeout);
  command->add_option("--gpus", options.gpus, "Use the first so many; 0: all")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  command->add_option("--nccl-library", options.nccl_library, "NCCL, as dlopen takes it")
      ->capture_default_str();
  command->add_option("--cuda-library", options.cuda_library, "CUDA's driver, as dlopen takes it")
      ->capture_default_str();
  return command;
}

}  // namespace gpuward::exporter
