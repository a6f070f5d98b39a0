#include "exporter/checks/efa/loopback_pair.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

namespace gpuward::exporter {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenTries{100};
// A server that does not listen by then never will.
constexpr milliseconds kListenLimit = std::chrono::seconds(20);
// After the client a server has this long to say why it failed.
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
  // Ends it; what it complained of if it has ended by itself.
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

// fi_pingpong: "failed to connect: Connection refused"; ib_write_bw: "Couldn't connect to ...".
bool found_nobody(const ChildResult& client) {
  constexpr std::array<std::string_view, 2> kWords{"Connection refused", "Couldn't connect"};
  return client.exit_code != 0 && std::ranges::any_of(kWords, [&](std::string_view words) {
           return client.complaint.find(words) != std::string::npos ||
                  client.output.find(words) != std::string::npos;
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

}  // namespace

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

}  // namespace gpuward::exporter
