// gpuward-remediator: takes nodes with broken GPUs out of service, as Alertmanager's alerts
// request.
#include <malloc.h>

#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>

#include "core/runtime/clock.h"
#include "core/runtime/log.h"
#include "core/runtime/signals.h"
#include "core/runtime/text.h"
#include "remediator/config/flags.h"
#include "remediator/config/load_policy.h"
#include "remediator/config/notify_command.h"
#include "remediator/policy/policy_remarks.h"
#include "remediator/remediator.h"

namespace {

using gpuward::ErrorKind;
using gpuward::remediator::Command;
using gpuward::remediator::Flags;
using gpuward::remediator::Remediator;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kBeginsAnew = 3;  // the supervisor restarts the process
// Enough to release the lease on a busy machine: otherwise the next leader waits until it expires.
constexpr std::chrono::milliseconds kStopWithin{3'000};

int complain(const gpuward::Error& error) {
  std::cerr << "gpuward-remediator: " << gpuward::escaped_lines(error.message) << "\n";
  return error.kind == ErrorKind::kInvalid || error.kind == ErrorKind::kNotFound ? kWrongUsage
                                                                                 : kFailed;
}

// Ends the process if an orderly stop would wait for a request to a dead API server. Nothing is
// lost: every fact to remember is in the API server before gpuward acts on it.
std::jthread end_soon_in_any_case(gpuward::Clock& clock, int exit_code) {
  return std::jthread([&clock, exit_code](const std::stop_token& stop) {
    if (clock.sleep_for(kStopWithin, stop)) std::_Exit(exit_code);
  });
}

int serve(const Flags& flags) {
  gpuward::Signals signals;
  gpuward::SystemClock clock;
  gpuward::Log log(flags.log_level, flags.log_format);
  auto remediator = Remediator::start(flags, clock, log);
  if (!remediator) return complain(remediator.error());
  for (const int port : (*remediator)->webhook_ports()) {
    log.info("Webhook is served", {{"version", GPUWARD_VERSION}, {"port", std::to_string(port)}});
  }
  for (const int port : (*remediator)->telemetry_ports()) {
    log.info("Telemetry is served", {{"port", std::to_string(port)}});
  }
  const auto* const health = (*remediator)->health();
  for (const int port : health == nullptr ? std::vector<int>() : health->ports()) {
    log.info("Health is served", {{"port", std::to_string(port)}});
  }
  std::stop_source over;
  const auto tick = [&] {
    if ((*remediator)->tick()) over.request_stop();
  };
  const int signal = signals.wait([&] { (*remediator)->hang_up(); }, tick, over.get_token());
  log.info("Stopping", {{"signal", std::to_string(signal)}});
  const int exit_code = over.stop_requested() ? kBeginsAnew : 0;
  const std::jthread guard = end_soon_in_any_case(clock, exit_code);
  (*remediator)->request_stop();
  remediator->reset();
  return exit_code;
}

// The policy is checked first: people check it while they write it, before there are tokens.
int check_config(const Flags& flags) {
  const auto policy = gpuward::remediator::load_policy(flags);
  if (!policy) return complain(policy.error());
  if (const auto sinks = gpuward::remediator::try_sinks(*policy); !sinks)
    return complain(sinks.error());
  const auto sources = gpuward::remediator::open_source_clients(flags);
  if (!sources) return complain(sources.error());
  const auto web = gpuward::remediator::read_webhook_security(flags.web);
  if (!web) return complain(web.error());
  const auto opens = gpuward::http::Server::check(web->web.tls, web->web.auth);
  if (!opens) return complain(opens.error());
  const auto telemetry = gpuward::http::load_web_config(flags.web.telemetry_config_file);
  if (!telemetry) return complain(telemetry.error());
  const auto pages = gpuward::http::Server::check(telemetry->tls, telemetry->auth);
  if (!pages) return complain(pages.error());
  std::cout << "The configuration is valid. Mode: " << to_string(policy->mode) << "\n"
            << gpuward::escaped_lines(gpuward::remediator::remarks_text(*policy));
  if (web->access == gpuward::http::Access::kOpen && !flags.web.insecure) {
    std::cout << "note: the webhook has no authentication. To start the remediator, set "
              << gpuward::remediator::kCallerFlags << "\n";
  }
  return 0;
}

// glibc keeps freed memory for each of its arenas, and makes an arena for almost every thread:
// after a storm the process would keep several times the memory that it needs. The largest load of
// the webhook takes 235 MB without these settings, and 57 MB with them.
void return_freed_memory() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 256 << 10);
  mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

// Returns 0 only if all sinks have accepted it, for use in scripts.
int test_notifications(const Flags& flags) {
  gpuward::SystemClock clock;
  const auto answers = gpuward::remediator::run_notify_test(flags, clock);
  if (!answers) return complain(answers.error());
  std::cout << gpuward::escaped_lines(answers->table);
  return answers->all_taken ? 0 : kFailed;
}

int run(const Flags& flags) {
  switch (flags.command) {
    case Command::kServe:
      return serve(flags);
    case Command::kCheckConfig:
      return check_config(flags);
    case Command::kNotifyTest:
      return test_notifications(flags);
  }
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  return_freed_memory();
  const auto flags = gpuward::remediator::parse_flags(argc, argv);
  if (const int* exit_code = std::get_if<int>(&flags)) return *exit_code;
  return run(std::get<Flags>(flags));
}
