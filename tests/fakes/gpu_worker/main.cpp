// A GPU worker that carries out its arguments, one after the other, and then answers like a healthy
// one. The tests of WorkerSource start it instead of `gpuward-exporter gpu-worker`.
//
//   ask             waits for a request
//   report          answers with one GPU
//   progress:TEXT   reports its next call of the driver
//   xid:CODE        sends an Xid of 0000:4e:00
//   print:TEXT      writes any line to the pipe; cut:TEXT without its end
//   complain:TEXT   writes a line to stderr
//   flood, flood-stderr, flood-progress   never stops writing
//   hang, close, crash, exit:CODE         stops answering; closes its pipe and lives on; ends
//   once:FILE       continues only if FILE does not exist yet, and makes it
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "exporter/gpu/worker/protocol.h"

namespace {

using namespace gpuward::exporter;

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written <= 0) ::_exit(0);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void say(const WorkerMessage& message) { write_all(STDOUT_FILENO, encode_message(message)); }

void wait_for_request() {
  for (char c = 0; c != '\n';) {
    if (::read(STDIN_FILENO, &c, 1) != 1) ::_exit(0);
  }
}

GpuReport one_gpu() {
  GpuReport report;
  VendorReading& vendor = report.vendors.emplace_back();
  vendor.state = LibraryState::kReady;
  vendor.gpus.emplace_back().gpu.uuid = "GPU-0";
  return report;
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

[[noreturn]] void flood(int descriptor, std::string_view text) {
  while (true) write_all(descriptor, text);
}

unsigned number(std::string_view text) {
  unsigned value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

[[noreturn]] void behave() {
  while (true) {
    wait_for_request();
    say({.report = one_gpu()});
  }
}

void carry_out(std::string_view what, const std::string& text) {
  using namespace std::chrono;
  if (what == "ask") wait_for_request();
  if (what == "report") say({.report = one_gpu()});
  if (what == "progress") say({.progress = text});
  if (what == "xid") {
    say({.xid = GpuXid{"0000:4e:00", number(text), system_clock::time_point(1s), {}, {}}});
  }
  if (what == "print") write_all(STDOUT_FILENO, text + "\n");
  if (what == "cut") write_all(STDOUT_FILENO, text);
  if (what == "complain") write_all(STDERR_FILENO, text + "\n");
  if (what == "flood") flood(STDOUT_FILENO, std::string(4096, 'x'));
  if (what == "flood-stderr") flood(STDERR_FILENO, std::string(4096, 'x'));
  if (what == "flood-progress") flood(STDOUT_FILENO, encode_message({.progress = "on and on"}));
  if (what == "hang") hang();
  if (what == "close") ::close(STDOUT_FILENO);
  if (what == "crash") ::raise(SIGABRT);
  if (what == "exit") ::_exit(static_cast<int>(number(text)));
  if (what == "once" && ::open(text.c_str(), O_CREAT | O_EXCL | O_WRONLY, 0600) < 0) behave();
}

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const std::string_view word : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    const auto colon = word.find(':');
    const auto text = colon == std::string_view::npos ? "" : word.substr(colon + 1);
    carry_out(word.substr(0, colon), std::string(text));
  }
  behave();
}
