#include "exporter/checks/efa/efa_loopback_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/model/result.h"
#include "core/runtime/child.h"
#include "core/runtime/clock.h"
#include "core/runtime/text.h"
#include "exporter/checks/check/expected_efa.h"
#include "exporter/checks/check/finding_list.h"
#include "exporter/checks/efa/efa_loopback_report.h"
#include "exporter/host/pci.h"
#include "exporter/host/rdma.h"

namespace gpuward::exporter {
namespace {

// A test program that talks to itself over the loopback: the server runs in the background, and the
// client starts as soon as the server listens. Used by check 6. The server never outlives the call.

struct LoopbackPair {
  std::string program;
  std::vector<std::string> server_arguments, client_arguments;
  std::map<std::string, std::string> environment;
  std::vector<std::filesystem::path> search;
  std::chrono::milliseconds timeout{0};  // for server and client together
  std::stop_token stop;
};

using std::chrono::milliseconds;

constexpr milliseconds kBetweenTries{100};
// A server that does not listen after this time never will.
constexpr milliseconds kListenLimit = std::chrono::seconds(20);
// How long a server has after the client to report why it failed.
constexpr milliseconds kLastWords{500};

class Server {
 public:
  Server(ChildCommand command, Clock& clock)
      : thread_([this, command = std::move(command), &clock](const std::stop_token& stop) mutable {
          command.stop = stop;
          auto result = run_child(command, clock);
          const std::lock_guard lock(mutex_);
          result_ = std::move(result);
        }) {}

  [[nodiscard]] bool has_ended() const {
    const std::lock_guard lock(mutex_);
    return result_.has_value();
  }
  // Stops the server. Returns its error if it had ended before the stop.
  std::string end() {
    thread_.request_stop();
    if (thread_.joinable()) thread_.join();
    const std::lock_guard lock(mutex_);
    if (!result_) return {};
    if (!*result_)
      return result_->error().kind == ErrorKind::kCancelled ? "" : result_->error().message;
    return (**result_).exit_code == 0 ? "" : how_it_ended(**result_) + " " + (**result_).complaint;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Result<ChildResult>> result_;
  std::jthread thread_;  // last: joined before the rest goes
};

ChildCommand command_of(const LoopbackPair& pair, const std::vector<std::string>& arguments,
                        milliseconds timeout) {
  ChildCommand command;
  command.program = pair.program;
  command.arguments = arguments;
  command.environment = pair.environment;
  command.search = pair.search;
  command.timeout = timeout;
  command.stop = pair.stop;
  return command;
}

// Matches "failed to connect: Connection refused" of fi_pingpong and "Couldn't connect to ..." of
// ib_write_bw.
bool found_nobody(const ChildResult& client) {
  constexpr std::array<std::string_view, 2> kWords{"Connection refused", "Couldn't connect"};
  return client.exit_code != 0 && std::ranges::any_of(kWords, [&](std::string_view words) {
           return client.complaint.contains(words) || client.output.contains(words);
         });
}

Result<ChildResult> run_client(const LoopbackPair& pair, const Server& server, Clock& clock) {
  const auto begin = clock.steady();
  while (true) {
    const auto used = std::chrono::duration_cast<milliseconds>(clock.steady() - begin);
    const auto left = std::max(pair.timeout - used, milliseconds{1});
    auto client = run_child(command_of(pair, pair.client_arguments, left), clock);
    const bool may_try_again = client && found_nobody(*client) && !server.has_ended() &&
                               clock.steady() - begin < std::min(kListenLimit, pair.timeout / 2);
    if (!may_try_again || !clock.sleep_for(kBetweenTries, pair.stop)) return client;
  }
}

// Returns the client's result, with the server's error appended to its complaint. Starts the client
// again while the server does not listen yet. Errors are those of run_child().
Result<ChildResult> run_loopback_pair(const LoopbackPair& pair, Clock& clock) {
  if (const auto found = find_program(pair.program, pair.search); !found)
    return std::unexpected(found.error());
  Server server(command_of(pair, pair.server_arguments, pair.timeout + kListenLimit), clock);
  auto client = run_client(pair, server, clock);
  const auto deadline = clock.steady() + kLastWords;
  while (client && client->exit_code != 0 && !server.has_ended() && clock.steady() < deadline) {
    if (!clock.sleep_for(milliseconds{20}, pair.stop)) break;
  }
  const std::string said = server.end();
  if (client && !said.empty())
    client->complaint += (client->complaint.empty() ? "" : "; ") + ("the server " + said);
  return client;
}

// Returns a free TCP port from the kernel's own range. kUnavailable: there is none.
Result<std::uint16_t> free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return fail(ErrorKind::kUnavailable, std::string("no socket: ") + std::strerror(errno));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
                     ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  ::close(socket);
  if (!bound)
    return fail(ErrorKind::kUnavailable, std::string("no free port: ") + std::strerror(error));
  return ntohs(address.sin_port);
}

constexpr int kNumber = 6;
constexpr std::string_view kPingPong = "fi_pingpong", kFabricInfo = "fi_info";
constexpr std::string_view kWriteBandwidth = "ib_write_bw";

CheckPrograms loopback_programs(const CheckSettings&) {
  return {{{std::string(kPingPong), std::string(kFabricInfo)}, {std::string(kWriteBandwidth)}}, {}};
}

bool has(std::string_view program, const CheckContext& context) {
  return find_program(std::string(program), context.settings.tool_dirs).has_value();
}

std::string provider_of(const CheckContext& context) {
  return context.profile ? context.profile->fabric_provider : "efa";
}

const RdmaReading* reading_of(const std::vector<RdmaReading>& readings, std::string_view domain) {
  const auto found = std::ranges::find(readings, device_of_domain(domain), &RdmaReading::device);
  return found == readings.end() ? nullptr : &*found;
}

// Returns the sum over all ports and the device itself.
std::uint64_t count(const RdmaReading* reading, const std::string& counter) {
  std::uint64_t sum = 0;
  if (reading == nullptr) return sum;
  for (const auto& [port, counters] : reading->counters) {
    if (const auto found = counters.find(counter); found != counters.end()) sum += found->second;
  }
  return sum;
}

// The loopback test of one device. It compares the counters before and after the test, because
// losses earlier in the device's life say nothing about its present state.
class Loopback {
 public:
  Loopback(const CheckContext& context, bool is_ping_pong)
      : context_(context), is_ping_pong_(is_ping_pong) {}

  LoopbackResult test(const std::string& domain) const {
    const auto before = read_rdma(context_.host);
    LoopbackResult result;
    result.domain = domain;
    measure(result);
    const auto after = read_rdma(context_.host);
    const RdmaReading* const old = reading_of(before, domain);
    const RdmaReading* const now = reading_of(after, domain);
    if (now != nullptr) result.pci_bus_id = now->pci_bus_id;
    result.drops = grown(old, now, "rx_drops");
    result.retransmission_timeouts = grown(old, now, "retrans_timeout_events");
    return result;
  }

 private:
  static std::uint64_t grown(const RdmaReading* before, const RdmaReading* after,
                             const std::string& counter) {
    const std::uint64_t old = count(before, counter), now = count(after, counter);
    return before != nullptr && now > old ? now - old : 0;
  }

  void measure(LoopbackResult& result) const {
    const auto port = free_port();
    if (!port) {
      result.failure = port.error().message;
      return;
    }
    const auto ended = run_loopback_pair(
        is_ping_pong_ ? ping_pong(result.domain, *port) : write_bandwidth(result.domain, *port),
        context_.clock);
    if (!ended) {
      result.failure = ended.error().message;
    } else if (ended->exit_code != 0) {
      result.failure = how_it_ended(*ended) + ": " + to_valid_utf8(trim(ended->complaint), 300);
    } else {
      result.gbits =
          is_ping_pong_ ? pingpong_gbits(ended->output) : write_bandwidth_gbits(ended->output);
      if (!result.gbits) result.failure = "the program's output has no bandwidth table";
    }
  }

  [[nodiscard]] LoopbackPair pair_of(std::string_view program,
                                     std::vector<std::string> both) const {
    LoopbackPair pair;
    pair.program = program;
    pair.server_arguments = both;
    pair.client_arguments = std::move(both);
    pair.search = context_.settings.tool_dirs;
    pair.timeout = context_.settings.efa_test_timeout;
    pair.stop = context_.stop;
    return pair;
  }

  [[nodiscard]] LoopbackPair ping_pong(const std::string& domain, std::uint16_t port) const {
    // 100 iterations instead of 10, because the first messages also register memory.
    LoopbackPair pair =
        pair_of(kPingPong, {"-e", "rdm", "-p", provider_of(context_), "-d", domain, "-I", "100"});
    pair.server_arguments.insert(pair.server_arguments.end(), {"-B", std::to_string(port)});
    pair.client_arguments.insert(pair.client_arguments.end(),
                                 {"-P", std::to_string(port), "127.0.0.1"});
    // Without this, libfabric uses shared memory and does not test the device.
    pair.environment = {{"FI_EFA_ENABLE_SHM_TRANSFER", "0"}, {"FI_LOG_LEVEL", "warn"}};
    return pair;
  }

  [[nodiscard]] LoopbackPair write_bandwidth(const std::string& device, std::uint16_t port) const {
    // EFA has its own connection type and needs an explicit GID (linux-rdma/perftest issue 113).
    LoopbackPair pair = pair_of(kWriteBandwidth, {"-d", device, "-x", "0", "-c", "SRD", "-F",
                                                  "--report_gbits", "-p", std::to_string(port)});
    pair.client_arguments.emplace_back("127.0.0.1");
    return pair;
  }

  const CheckContext& context_;
  bool is_ping_pong_;
};

// A quarantine passes if a check is skipped, but EFA devices must not pass untested.
CheckOutcome without_programs(const std::string& why, const CheckContext& context) {
  const auto of_kernel = static_cast<std::size_t>(
      std::ranges::count_if(read_rdma(context.host), &RdmaReading::is_efa));
  const std::size_t there = std::max(count_efa(context.host).value_or(0), of_kernel);
  if (there == 0) return CheckOutcome::skipped(why);
  return CheckOutcome::error("none of the " + std::to_string(there) +
                             " EFA devices here was tested: " + why +
                             "; add the programs to the image that runs this check");
}

// fi_info lists no domain. Only if the PCI bus has no EFA device either is it the hardware.
CheckOutcome without_domains(const std::string& said, const CheckContext& context) {
  const ExpectedEfa expected = expected_efa(context);
  const auto counted = count_efa(context.host);
  if (!counted) return CheckOutcome::error(said + "; " + counted.error().message);
  const std::size_t there = *counted;
  if (expected.count() == 0 && there == 0)
    return CheckOutcome::skipped("no EFA device here: " + said);
  FindingList found(context.settings);
  const std::string line =
      said + "; EFA devices on the PCI bus: " + std::to_string(there) +
      ", expected for this instance type: " + std::to_string(expected.by_profile) +
      ", seen before on this machine: " + std::to_string(expected.had);
  if (there > 0) {
    found.add(Code::kEfaAbsentUnconfirmed, "", line);
  } else if (expected.by_profile > 0) {
    found.add(Code::kEfaAbsent, "", line);
  } else {
    found.add_as(Code::kEfaAbsent, Severity::kMonitor, "", line,
                 "no profile says that this machine must have EFA");
  }
  return CheckOutcome::done("libfabric has no EFA device", found.take_findings());
}

// The domains to test, or the outcome that ends the check.
struct Domains {
  std::vector<std::string> names;
  std::optional<CheckOutcome> instead;
};

Domains domains_of_fabric(const CheckContext& context) {
  ChildCommand command;
  command.program = kFabricInfo;
  command.arguments = {"-p", provider_of(context), "-t", "FI_EP_RDM"};
  command.search = context.settings.tool_dirs;
  command.stop = context.stop;
  const auto result = run_child(command, context.clock);
  if (!result) return {{}, CheckOutcome::error(result.error().message)};
  Domains domains{fabric_domains(result->output, provider_of(context)), {}};
  if (domains.names.empty()) {
    const std::string said =
        "fi_info " + how_it_ended(*result) + ": " + to_valid_utf8(trim(result->complaint), 200);
    domains.instead = without_domains(said, context);
  }
  return domains;
}

Domains devices_of_sysfs(const CheckContext& context) {
  Domains domains;
  for (const RdmaReading& reading : read_rdma(context.host)) {
    if (reading.is_efa) domains.names.push_back(reading.device);
  }
  if (domains.names.empty())
    domains.instead = without_domains("the kernel lists no RDMA device for EFA", context);
  return domains;
}

}  // namespace

CheckOutcome EfaLoopbackCheck::run(const CheckContext& context) {
  const auto programs =
      find_programs(loopback_programs(context.settings), context.settings.tool_dirs);
  if (!programs.can_run()) return without_programs(programs.why_not(), context);
  const bool is_ping_pong = has(kPingPong, context) && has(kFabricInfo, context);
  Domains domains = is_ping_pong ? domains_of_fabric(context) : devices_of_sysfs(context);
  if (domains.instead) return std::move(*domains.instead);
  const Loopback loopback(context, is_ping_pong);
  std::vector<LoopbackResult> results;
  for (const std::string& domain : domains.names) {
    if (context.stop.stop_requested()) {
      return CheckOutcome::error("stopped at its deadline after " + std::to_string(results.size()) +
                                 " of " + std::to_string(domains.names.size()) + " devices");
    }
    results.push_back(loopback.test(domain));
  }
  return efa_loopback_outcome(results, context.settings);
}

CheckEntry efa_loopback_entry() {
  CheckEntry entry;
  entry.number = kNumber;
  entry.name = "6-efa-loopback";
  entry.short_name = "efa-loopback";
  entry.suite = Suite::kIntensive;
  entry.rhythm = CheckEntry::Rhythm::kOnDemand;
  // 32 devices of 200 s each, the most that an instance type has.
  entry.timeout = std::chrono::seconds(32 * 200);
  entry.programs = loopback_programs;
  entry.make = []() -> std::unique_ptr<Check> { return std::make_unique<EfaLoopbackCheck>(); };
  return entry;
}

}  // namespace gpuward::exporter
