// gpuward-amd-health: serves AMD's health service from the data that gpuward-exporter writes to its
// standard input, a line of JSON for each change. It reads no GPU, and ends with the exporter.
//
//   gpuward-amd-health --socket PATH [--debug.allow-injection]
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>

#include "exporter/amd_health/health_book.h"
#include "exporter/amd_health/server.h"

namespace {

using gpuward::exporter::amd_health::HealthBook;
using gpuward::exporter::amd_health::Injection;
using gpuward::exporter::amd_health::Server;

constexpr std::size_t kMostLineBytes = 1U << 20U;

struct Arguments {
  std::string socket;
  Injection injection = Injection::kRefused;
  bool are_valid = false;
};

Arguments parse_arguments(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--socket" && i + 1 < count) {
      arguments.socket = words[++i];
    } else if (word == "--debug.allow-injection") {
      arguments.injection = Injection::kAllowed;
    } else {
      return arguments;
    }
  }
  arguments.are_valid = !arguments.socket.empty();
  return arguments;
}

void complain(const std::string& what) { std::fprintf(stderr, "%s\n", what.c_str()); }

void take_lines(std::string& bytes, HealthBook& book) {
  for (auto end = bytes.find('\n'); end != std::string::npos; end = bytes.find('\n')) {
    if (auto taken = book.take(std::string_view(bytes).substr(0, end)); !taken) {
      complain("cannot parse a line from the exporter: " + taken.error().message);
    }
    bytes.erase(0, end + 1);
  }
}

// Reads until the exporter closes its end. False after an invalid line.
bool read_all(HealthBook& book) {
  std::array<char, 65536> chunk;
  std::string bytes;
  while (bytes.size() <= kMostLineBytes) {
    const ssize_t got = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
    take_lines(bytes, book);
  }
  return false;
}

}  // namespace

int main(int count, char** words) {
  const Arguments arguments = parse_arguments(count, words);
  if (!arguments.are_valid) {
    complain("usage: gpuward-amd-health --socket PATH [--debug.allow-injection]");
    return 2;
  }
  HealthBook book;
  const auto server = Server::start(arguments.socket, book, arguments.injection);
  if (!server) {
    complain(server.error().message);
    return 1;
  }
  if (!read_all(book)) {
    complain("the exporter sent a line longer than 1 MiB");
    return 1;
  }
  return 0;
}
