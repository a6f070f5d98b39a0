// hostile_clients PORT CONNECTIONS ADDRESSES TEXT [trickles] [reads] LATER: the attack of
// hostile_clients.h, until it is killed. Prints "begun" once 250 connections were open, or all.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

namespace {

// How often connections that the server has closed are opened again. Without a pause the attack
// would take a whole processor from the server.
constexpr std::chrono::milliseconds kPause{100};
constexpr std::chrono::milliseconds kLate{90};
constexpr std::uint32_t kFirstAddress = 0x7F000101;  // 127.0.1.1

struct Attack {
  int port = 0;
  std::size_t connections = 0;
  std::uint32_t addresses = 1;
  std::string text;
  bool trickles = false;
  bool reads = false;
  std::string later;
};

struct Client {
  int descriptor = -1;
  bool is_open = false;
  bool is_answered = false;
};

struct LateClient {
  std::chrono::steady_clock::time_point due;
  std::size_t index = 0;
  int descriptor = -1;
};

sockaddr_in address_of(std::uint32_t host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(host);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

void set_option(int descriptor, int level, int name, int value) {
  setsockopt(descriptor, level, name, &value, sizeof value);
}

class Attackers {
 public:
  explicit Attackers(Attack attack) : attack_(std::move(attack)), clients_(attack_.connections) {}

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    auto due = std::chrono::steady_clock::now();
    for (;;) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= due) {
        due = now + kPause;
        open_missing();
        if (attack_.trickles) trickle();
      }
      send_late(now);
      const auto next = late_.empty() ? due : std::min(due, late_.front().due);
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
      const int count = epoll_wait(poller_, events.data(), static_cast<int>(events.size()),
                                   static_cast<int>(left.count()));
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        serve(event.data.u64, event.events);
      }
    }
  }

 private:
  void open_missing() {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (clients_[i].descriptor < 0) connect_from(i);
    }
  }

  void connect_from(std::size_t index) {
    Client& client = clients_[index];
    client.descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (client.descriptor < 0) return;
    const auto host = kFirstAddress + static_cast<std::uint32_t>(index) % attack_.addresses;
    const sockaddr_in own = address_of(host, 0);
    const sockaddr_in target = address_of(INADDR_LOOPBACK, attack_.port);
    set_option(client.descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (!attack_.reads) set_option(client.descriptor, SOL_SOCKET, SO_RCVBUF, 4096);
    // A close resets the connection, so that the ports of one address last.
    const linger reset{1, 0};
    setsockopt(client.descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    bind(client.descriptor, reinterpret_cast<const sockaddr*>(&own), sizeof own);
    connect(client.descriptor, reinterpret_cast<const sockaddr*>(&target), sizeof target);
    watch(index, EPOLL_CTL_ADD, EPOLLOUT);
  }

  void watch(std::size_t index, int operation, std::uint32_t events) {
    epoll_event event{};
    event.events = EPOLLRDHUP | events;
    event.data.u64 = index;
    epoll_ctl(poller_, operation, clients_[index].descriptor, &event);
  }

  void serve(std::size_t index, std::uint32_t events) {
    Client& client = clients_[index];
    if (client.descriptor < 0) return;
    if ((events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) != 0) return close(client);
    if ((events & EPOLLOUT) != 0 && !client.is_open) {
      client.is_open = true;
      watch(index, EPOLL_CTL_MOD, attack_.reads ? EPOLLIN : 0U);
      send(client.descriptor, attack_.text.data(), attack_.text.size(), MSG_NOSIGNAL);
      if (++opened_ == std::min<std::size_t>(250, clients_.size()))
        std::cout << "begun\n" << std::flush;
    }
    if ((events & EPOLLIN) == 0) return;
    std::array<char, 4096> piece;
    if (recv(client.descriptor, piece.data(), piece.size(), 0) == 0) return close(client);
    if (attack_.later.empty() || client.is_answered) return;
    client.is_answered = true;
    late_.push_back({std::chrono::steady_clock::now() + kLate, index, client.descriptor});
  }

  void send_late(std::chrono::steady_clock::time_point now) {
    for (; !late_.empty() && late_.front().due <= now; late_.pop_front()) {
      const LateClient& late = late_.front();
      if (clients_[late.index].descriptor != late.descriptor) continue;
      send(late.descriptor, attack_.later.data(), attack_.later.size(), MSG_NOSIGNAL);
    }
  }

  void trickle() {
    for (const Client& client : clients_) {
      if (client.is_open) send(client.descriptor, "x", 1, MSG_NOSIGNAL);
    }
  }

  static void close(Client& client) {
    ::close(client.descriptor);
    client = {};
  }

  const Attack attack_;
  std::vector<Client> clients_;
  std::deque<LateClient> late_;
  std::size_t opened_ = 0;
  int poller_ = epoll_create1(EPOLL_CLOEXEC);
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  Attackers({.port = std::stoi(argv[1]),
             .connections = std::stoul(argv[2]),
             .addresses = static_cast<std::uint32_t>(std::stoul(argv[3])),
             .text = argv[4],
             .trickles = argv[5] == std::string_view("trickles"),
             .reads = argv[6] == std::string_view("reads"),
             .later = argv[7]})
      .run();
}
